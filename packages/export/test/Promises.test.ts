import { assert, it } from "@effect/vitest"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import { createClient } from "@postwire/node/EffectClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { exportRows, exportTo } from "../src/Promises.ts"
import * as Rows from "../src/rows/Rows.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Each from "../src/sources/Each.ts"
import * as Source from "../src/sources/Source.ts"
import { folder, sandbox } from "./support/Scene.ts"

it.effect("a Promise client exports, is stopped by a signal, and goes on; also files of rows", () =>
  Effect.gen(function*() {
    const { baseUrl, seeded } = yield* Sandbox.Sandbox
    const root = yield* folder
    yield* Effect.promise(async () => {
      await using client = createClient({ baseUrl, bearerToken: seeded.appBearerToken })
      const posts = Source.make(searchRecentPosts, { query: "effect", max_results: 10 })
      const out = (name: string) => JsonLines.make(join(root, name))
      const whole = await exportTo(client, posts, { sink: out("whole.jsonl") })
      assert.strictEqual(whole.status, "done")
      const stop = new AbortController()
      const part = await exportTo(client, posts, {
        sink: out("part.jsonl"),
        signal: stop.signal,
        onPage: () => stop.abort()
      })
      assert.strictEqual(part.status, "interrupted")
      const rest = await exportTo(client, posts, { sink: out("part.jsonl"), mode: "resume" })
      assert.strictEqual(rest.status, "done")
      assert.strictEqual(
        readFileSync(join(root, "part.jsonl"), "utf8"),
        readFileSync(join(root, "whole.jsonl"), "utf8")
      )
      const users = join(root, "users.txt")
      writeFileSync(users, "ada\nnobody_1\n")
      const timelines = (rows: Rows.Rows) => Each.make(getUsersPosts, rows)
      const each = await exportRows(client, users, { kind: Rows.users }, timelines, { sink: out("each.jsonl") })
      assert.deepStrictEqual(each.progress.outcomes, { done: 1, deleted: 1 })
      const failed = await exportTo(client, posts, { sink: out("whole.jsonl") }).catch((error: Error) => error.name)
      assert.strictEqual(failed, "FileExists")
    })
  }).pipe(Effect.provide(sandbox(200))))
