/**
 * A program that makes calls with a client that waits, once it is told to, and prints how each ended and when each request
 * left. It does not close the client.
 */
import { createClient } from "@postwire/node"
import { subscribe } from "node:diagnostics_channel"
import { once } from "node:events"

const [baseUrl, rateLimitStore, operation, calls, concurrency] = process.argv.slice(2) as [
  string,
  string,
  "getPost" | "searchAllPosts",
  string,
  string
]

const client = createClient({ baseUrl, bearerToken: "canary-shared", waitOnRateLimit: true, rateLimitStore })

const departures: Array<number> = []
subscribe("undici:client:sendHeaders", () => void departures.push(performance.timeOrigin + performance.now()))

const outcomes: Array<string> = []
let left = Number(calls)

const call = async () => {
  while (left-- > 0) {
    try {
      if (operation === "getPost") await client.getPost({ id: "1" })
      else await client.searchAllPosts({ query: "a" })
      outcomes.push("ok")
    } catch (error) {
      outcomes.push(String(error))
    }
  }
}

console.log("ready")
await once(process.stdin, "data")
process.stdin.destroy()
await Promise.all(Array.from({ length: Number(concurrency) }, call))
console.log(JSON.stringify({ outcomes, departures }))
