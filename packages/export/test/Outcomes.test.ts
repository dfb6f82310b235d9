import { assert, describe, it } from "@effect/vitest"
import { getPosts } from "@postwire/core/operations/Posts"
import * as NodeClient from "@postwire/node/NodeClient"
import { parse } from "csv-parse/sync"
import { Effect, Stream } from "effect"
import { parquetReadObjects } from "hyparquet"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { zstdDecompressSync } from "node:zlib"
import * as Export from "../src/Export.ts"
import type { Page, Source } from "../src/sources/Source.ts"
import { folder } from "./support/Scene.ts"
import { type SinkName, sinks } from "./support/Sinks.ts"

/** Nothing is sent. */
const client = NodeClient.layer({ baseUrl: "http://127.0.0.1:1", bearerToken: "a-token" })

const outcomes = [
  { row: 1, value: "20", outcome: "found" },
  { row: 2, value: "=no id", outcome: "invalid" },
  { row: 3, value: "20", outcome: "found" },
  { row: 4, value: "21", outcome: "deleted", detail: "Could not find it." }
]

const pageOf = (some: typeof outcomes, next?: string): Page => ({
  items: some.flatMap(({ outcome, value }) => outcome === "found" ? [{ id: value, text: "text" }] : []),
  includes: {},
  errors: [],
  outcomes: some,
  next,
  rateLimit: undefined
})

/** Two pages, of which each request asks for its own ids. */
const source: Source = {
  definition: getPosts.definition,
  parameters: { post_fields: ["created_at"] },
  perRequest: { ids: ["1"] },
  hasOutcomes: true,
  pages: (cursor) =>
    cursor === undefined
      ? Stream.make(pageOf(outcomes.slice(0, 2), "2"), pageOf(outcomes.slice(2)))
      : Stream.make(pageOf(outcomes.slice(2)))
}

const reads: { readonly [S in SinkName]?: (out: string) => unknown } = {
  jsonl: (out) =>
    readFileSync(join(`${out}.postwire`, "outcomes.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line)),
  csv: (out) => parse(readFileSync(join(`${out}.postwire`, "outcomes.csv"), "utf8"), { columns: true }),
  sqlite: (out) => {
    using database = new DatabaseSync(out, { readOnly: true })
    return database.prepare("SELECT * FROM outcomes ORDER BY \"row\"").all().map((row) => ({ ...row }))
  },
  parquet: (out) => {
    const bytes = readFileSync(join(`${out}.postwire`, "outcomes.parquet"))
    return parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
      compressors: { ZSTD: (input) => zstdDecompressSync(input) }
    })
  }
}

describe("what became of rows", () => {
  it.effect.each(Object.entries(reads))(
    "is a table of its own in %s, repeated rows included",
    ([name, read]) =>
      Effect.gen(function*() {
        const out = join(yield* folder, `posts.${name}`)
        const summary = yield* Export.run(source, { sink: sinks[name as SinkName](out) })
        assert.strictEqual(summary.status, "done")
        assert.deepStrictEqual(summary.progress.outcomes, { found: 2, invalid: 1, deleted: 1 })
        const rows = (yield* Effect.promise(async () => await read(out))) as ReadonlyArray<Record<string, unknown>>
        assert.deepStrictEqual(
          rows.map(({ detail, outcome, row, value }) => ({
            row: Number(row),
            value,
            outcome,
            ...(detail ? { detail } : {})
          })),
          outcomes
        )
        const file = summary.files.find(({ holds }) => holds === "outcomes")
        assert.strictEqual(file?.rows, name === "sqlite" ? undefined : 4)
      }).pipe(Effect.provide(client))
  )

  it.effect("goes on from a checkpoint, whatever ids a request has had", () =>
    Effect.gen(function*() {
      const out = join(yield* folder, "posts.csv")
      const stopping: Source = { ...source, pages: (cursor) => Stream.take(source.pages(cursor), 1) }
      const sink = sinks.csv(out)
      const first = yield* Export.run(stopping, { sink })
      assert.strictEqual(first.status, "interrupted")
      assert.deepStrictEqual(first.progress.outcomes, { found: 1, invalid: 1 })
      const summary = yield* Export.run({ ...source, perRequest: { ids: ["2"] } }, { sink, mode: "resume" })
      assert.deepStrictEqual(summary.progress.outcomes, { found: 2, invalid: 1, deleted: 1 })
    }).pipe(Effect.provide(client)))
})
