import { assert, describe, it } from "@effect/vitest"
import { createClient, fromEnvironment } from "@postwire/node"
import { Effect } from "effect"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as Commands from "./Commands.ts"
import * as Processes from "./support/Processes.ts"

/** A sandbox in a process of its own, on a file, with what it announces. */
const start = (file: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = Processes.start([..."sandbox --port 0 --json --posts 20 --file".split(" "), file])
      const [line] = await once(createInterface(child.stdout!), "line")
      const { adminToken, baseUrl, environment } = JSON.parse(line)
      const call = async (path: string, init: RequestInit = {}) => {
        const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
        return (await fetch(`${baseUrl}/_sandbox${path}`, { headers, ...init })).json()
      }
      return { child, call, client: createClient(fromEnvironment(environment)) }
    }),
    ({ child, client }) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        await client.close()
      })
  )

describe("postwire sandbox --file", () => {
  it.live("loses no write that it acknowledged, however it is killed", () =>
    Effect.gen(function*() {
      const file = join(yield* Commands.folder, "state.sqlite")
      const acknowledged: Array<{ readonly id: string; readonly text: string }> = []
      const liked = new Set<string>()
      for (let round = 0; round < 2; round++) {
        yield* Effect.scoped(Effect.gen(function*() {
          const { child, client } = yield* start(file)
          const goal = acknowledged.length + 60
          const write = async (writer: number) => {
            for (let i = 0;; i++) {
              const text = `needle ${round} ${writer} ${i}`
              const { data } = await client.createPost({ text })
              acknowledged.push({ id: data!.id, text })
              if (acknowledged.length === goal) child.kill("SIGKILL")
              if (i % 2 === 0) {
                await client.like({ post_id: data!.id })
                liked.add(data!.id)
              }
            }
          }
          // In the middle of the work of four.
          yield* Effect.promise(() =>
            Promise.all([once(child, "exit"), ...[0, 1, 2, 3].map((n) => write(n).catch(() => {}))])
          )
          assert.isAtLeast(acknowledged.length, goal)
          assert.strictEqual(child.signalCode, "SIGKILL")
        }))
      }
      const { call, client } = yield* start(file)
      yield* Effect.promise(async () => {
        assert.strictEqual((await call("/health")).status, "ok")
        await call("/clock", { method: "POST", body: JSON.stringify({ advance: "1 minute" }) })
        const found = new Map<string, number>()
        for await (
          const post of client.searchRecentPosts.items({
            query: "needle",
            max_results: 100,
            post_fields: ["public_metrics"]
          })
        ) found.set(post.text, post.public_metrics.like_count)
        for (const { id, text } of acknowledged) {
          assert.isTrue(found.has(text), text)
          if (liked.has(id)) assert.strictEqual(found.get(text), 1, text)
        }
        assert.isAbove(liked.size, 20)
      })
    }))
})
