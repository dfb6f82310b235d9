import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node/EffectClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { join } from "node:path"
import { changesIn, syncTo } from "../src/Promises.ts"
import { folder, sandbox } from "./support/Scene.ts"

const changed = async (path: string, after: number) => {
  const changes = []
  for await (const change of changesIn(path, after)) changes.push(change)
  return changes
}

describe("syncTo", () => {
  it.live("brings a copy up to date, and changesIn lists the difference", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "own.sqlite")
      const { ada, baseUrl, clock, seeded, store } = yield* Sandbox.Sandbox
      yield* Effect.promise(async () => {
        await using client = createClient({ baseUrl, bearerToken: Redacted.value(seeded.userBearerToken) })
        let pages = 0
        const first = await syncTo(client, path, { sources: [{ kind: "posts" }], onPage: () => pages++ })
        assert.deepStrictEqual([first.status, pages > 0], ["done", true])
        const all = await changed(path, 0)
        assert.strictEqual(new Set(all.map(({ change }) => change)).size, 1)
        const id = store.posts.insert({ authorId: ada.id, text: "one more", createdAt: clock.now() })
        await syncTo(client, path, { sources: [{ kind: "posts" }] })
        const news = await changed(path, Math.max(...all.map(({ commit }) => commit)))
        assert.deepStrictEqual(news.map(({ change, row, table }) => [table, change, row["id"], row["text"]]), [
          ["posts", "added", id, "one more"]
        ])
        const stopped = AbortSignal.abort()
        const ended = await syncTo(client, path, { sources: [{ kind: "bookmarks" }], signal: stopped })
        assert.strictEqual(ended.status, "interrupted")
      })
    }).pipe(Effect.provide(sandbox()), Effect.scoped))
})
