import { assert, describe, it } from "@effect/vitest"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Csv from "../src/sinks/Csv.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Source from "../src/sources/Source.ts"
import { client, folder, linesIn, sandbox } from "./support/Scene.ts"

const long = `${"A long post. ".repeat(40)}https://example.com/end`

const posts = (post_fields: ReadonlyArray<"entities" | "note_post">) =>
  Effect.map(Sandbox.Sandbox, ({ ada, user }) => {
    const post = ada.post(long)
    user({ username: "reader" }).post({ text: "I read it", quotes: post })
    return (name: string) => Source.make(getUsersPosts, { id: name, post_fields, expansions: ["referenced_posts.id"] })
  })

describe("an export with full texts", () => {
  it.live("has the whole text of long posts and of those they refer to, and no note_post", () =>
    Effect.gen(function*() {
      const { ada, store } = yield* Sandbox.Sandbox
      const root = yield* folder
      const path = join(root, "ada.jsonl")
      const sourceOf = yield* posts(["entities", "note_post"])
      const { files } = yield* Export.run(sourceOf(ada.id), { sink: JsonLines.make(path), fullText: true })
      const [item] = linesIn(path)
      assert.strictEqual(item?.["text"], long)
      assert.notProperty(item, "note_post")
      assert.nestedPropertyVal(item, "entities.urls[0].expanded_url", "https://example.com/end")
      assert.isAbove(files.length, 0)
      const reader = store.users.byUsername("reader")
      const quoted = join(root, "reader.jsonl")
      yield* Export.run(sourceOf(reader!.id), { sink: JsonLines.make(quoted), fullText: true })
      assert.deepInclude(linesIn(`${quoted}.postwire/posts.jsonl`).map(({ text }) => text), long)
      // The other export is another one.
      const other = yield* Effect.flip(Export.run(sourceOf(ada.id), { sink: JsonLines.make(path), mode: "resume" }))
      assert.strictEqual(other._tag, "CheckpointMismatch")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  it.live("has no columns for the parts, and needs the field", () =>
    Effect.gen(function*() {
      const { ada } = yield* Sandbox.Sandbox
      const path = join(yield* folder, "ada.csv")
      const sourceOf = yield* posts(["note_post"])
      yield* Export.run(sourceOf(ada.id), { sink: Csv.make(path), fullText: true })
      const [head, row] = readFileSync(path, "utf8").split("\r\n")
      assert.strictEqual(head, "id,text,edit_history_post_ids,referenced_posts,other")
      assert.include(row, long)
      const short = Source.make(getUsersPosts, { id: ada.id })
      const error = yield* Effect.flip(Export.run(short, { sink: Csv.make(path), mode: "force", fullText: true }))
      assert.strictEqual(error.message, "getUsersPosts: post_fields must have note_post, to write full texts.")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))
})
