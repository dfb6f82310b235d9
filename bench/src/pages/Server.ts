/** Pages of 100 posts without end, each with a token of its own: `node Server.ts <milliseconds of latency>`. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Bodies from "../Bodies.ts"
import * as Child from "../Child.ts"

const latency = Number(process.argv[2])
const [before, after] = Bodies.text("neutral", "100 posts").split(/(?<="next_token":")[^"]*/) as [string, string]
const start = Buffer.from(before)
const end = Buffer.from(after)

const server = Http.createServer((request, response) => {
  const token = /[?&]next_token=(\d+)/.exec(request.url ?? "")?.[1] ?? "0"
  const next = Buffer.from(String(Number(token) + 1).padStart(24, "0"))
  const answer = () => {
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": start.length + next.length + end.length
    })
    response.write(start)
    response.write(next)
    response.end(end)
  }
  if (latency > 0) setTimeout(answer, latency)
  else answer()
})

server.keepAliveTimeout = 120_000
server.listen(0, "127.0.0.1", () => Child.answer((server.address() as AddressInfo).port, async () => {}))
