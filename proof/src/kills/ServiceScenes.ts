/** Commands that run until they are interrupted, or write what others do. */
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import * as EventDelivery from "../../../packages/cli/src/events/EventDelivery.ts"
import { linesOf } from "../../../packages/export/test/support/Archives.ts"
import type { Scene } from "./Scene.ts"

const linesIn = (file: string) => existsSync(file) ? linesOf(readFileSync(file, "utf8")) : []

/** Calls a service as the user of a token; returns its data. */
const callOf = (baseUrl: string, token: string) => async <A>(path: string, body?: object): Promise<A> => {
  const response = await fetch(`${baseUrl}${path}`, {
    ...body === undefined ? {} : { method: "POST", body: JSON.stringify(body) },
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
  })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()).data
}

/** Gives the app the rule of the stream; one that is there is refused with errors. */
const ruleOf = ({ baseUrl, seeded }: Sandbox.RunningSandbox) =>
  callOf(baseUrl, Redacted.value(seeded.appBearerToken))("/2/posts/search/stream/rules", {
    add: [{ value: "streamed" }]
  })

/** A stream into a file, while a user posts. */
const streamOf = (sandbox: Sandbox.RunningSandbox, format: string): Scene => ({
  invariant: "no post twice; each is there, or its time is among the gaps",
  begin: async (root) => {
    await ruleOf(sandbox)
    const user = sandbox.user()
    const made: Array<{ readonly id: string; readonly at: number }> = []
    const post = () => made.push({ id: user.post(`streamed ${made.length}`).id, at: sandbox.clock.now() })
    const posting = setInterval(post, 10)
    mkdirSync(join(root, "out"))
    const out = `out/posts.${format}`
    return {
      args: ["stream", "--recover", "none", "--limit", "40", "--out", out],
      state: () => {
        const ids = linesIn(join(root, out)).map(({ id }) => String(id))
        const gaps = linesIn(join(root, `${out}.postwire/gaps.jsonl`))
        const written = new Set(ids)
        const isTold = (time: number) =>
          gaps.some(({ from, to }) => time >= Date.parse(String(from)) && time <= Date.parse(String(to)))
        const [first, last] = [
          made.findIndex(({ id }) => written.has(id)),
          made.findLastIndex(({ id }) => written.has(id))
        ]
        const lost = made.slice(first, last).filter(({ at, id }) => !written.has(id) && !isTold(at))
        return { twice: ids.length - written.size, lost: lost.length, isEmpty: ids.length === 0 }
      },
      end: () => clearInterval(posting)
    }
  }
})

export const servicesOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => ({
  "stream --out": streamOf(sandbox, "jsonl"),
  "sandbox --file": {
    invariant: "every post that was answered, after the process was killed",
    without: ["power"],
    begin: () => {
      const answered: Array<string> = []
      let seen: ReadonlyArray<string> = []
      return {
        args: ["sandbox", "--file", "state.db", "--port", "0", "--posts", "20", "--json"],
        use: async (line) => {
          const { baseUrl, environment } = JSON.parse(line)
          const call = callOf(baseUrl, environment.POSTWIRE_BEARER_TOKEN)
          for (let i = 0; i < 3; i++) {
            const text = `answered ${Math.random()}`
            await call("/2/posts", { text })
            answered.push(text)
          }
          const { id } = await call<{ readonly id: string }>("/2/users/me")
          const posts = await call<ReadonlyArray<{ readonly text: string }>>(`/2/users/${id}/posts?max_results=100`)
          seen = posts.map(({ text }) => text)
        },
        state: () => answered.filter((text) => !seen.includes(text))
      }
    }
  },
  "listen --record": {
    invariant: "every event that the program got, and no line that replay refuses",
    without: ["power"],
    begin: async (root) => {
      const got: Array<string> = []
      const program = createServer(async (request, response) => {
        // The challenge has no body.
        if (request.method === "POST") got.push(await text(request))
        response.end()
      }).listen(0, "127.0.0.1")
      await once(program, "listening")
      const triggering = setInterval(() => sandbox.trigger({ event_type: "post.mention.create" }), 30)
      const address = `http://127.0.0.1:${(program.address() as AddressInfo).port}/hook`
      const file = join(root, "events.jsonl")
      return {
        args: ["listen", "--subscribe", "post.mention.create", "--forward-to", address, "--record", "events.jsonl"],
        use: () => delay(300),
        state: async () => {
          const recorded = await Effect.runPromise(EventDelivery.parse(file, readFileSync(file, "utf8")))
          const bodies = new Set(recorded.map(({ body }) => body))
          return { isEmpty: got.length === 0, missing: got.filter((body) => !bodies.has(body)) }
        },
        end: () => {
          clearInterval(triggering)
          program.close().closeAllConnections()
        }
      }
    }
  }
})
