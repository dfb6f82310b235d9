import { assert, describe, it } from "@effect/vitest"
import { getAllPostsCount } from "@postwire/core/operations/Counts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as NodeClient from "@postwire/node/NodeClient"
import { parse } from "csv-parse/sync"
import { Deferred, Effect, Stream } from "effect"
import { parquetReadObjects } from "hyparquet"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { gunzipSync, zstdDecompressSync } from "node:zlib"
import * as Export from "../src/Export.ts"
import * as Manifest from "../src/folders/Manifest.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Source from "../src/sources/Source.ts"
import { client, filesOf, folder, sandbox, source } from "./support/Scene.ts"
import { parameters, type SinkName, sinkNames, sinks } from "./support/Sinks.ts"

type Row = Readonly<Record<string, unknown>>

/** A table as its rows by their key: what readers of every kind of file agree on. */
type Read = (path: string) => ReadonlyArray<Row> | Promise<ReadonlyArray<Row>>

const linesOf = (text: string): ReadonlyArray<Row> =>
  text === "" ? [] : text.trimEnd().split("\n").map((line) => JSON.parse(line))

/** Node reads the first frame only; the program reads them all, and where it is missing they are told by their magic. */
const unzstd = (path: string): string => {
  try {
    return execFileSync("zstd", ["-dcq", path], { encoding: "utf8", maxBuffer: 2 ** 28 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
  const bytes = readFileSync(path)
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  const parts: Array<Buffer> = []
  for (let at = 0; at < bytes.length;) {
    const next = bytes.indexOf(magic, at + 4)
    const end = next === -1 ? bytes.length : next
    parts.push(zstdDecompressSync(bytes.subarray(at, end)))
    at = end
  }
  return Buffer.concat(parts).toString()
}

/** SQLite's own shell where there is one, else another connection. */
const query = (path: string, sql: string): ReadonlyArray<Row> => {
  try {
    const text = execFileSync("sqlite3", ["-json", path, sql], { encoding: "utf8", maxBuffer: 2 ** 28 })
    return text === "" ? [] : JSON.parse(text)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    using database = new DatabaseSync(path, { readOnly: true })
    return database.prepare(sql).all()
  }
}

const json = (value: unknown): unknown => typeof value === "string" ? JSON.parse(value) : value
const number = (value: unknown): unknown =>
  value === "" || value === null || value === undefined ? undefined : Number(value)

/** Columns back to the object that they came from. */
const whole = (row: Row): Row => {
  const metrics = Object.entries(row).filter(([name]) => name.startsWith("public_metrics_"))
  const some = (name: string, value: unknown) =>
    value === undefined || value === "" || value === null ? {} : { [name]: value }
  const attachments = {
    ...some("media_keys", row["attachments_media_keys"] && json(row["attachments_media_keys"])),
    ...some("poll_ids", row["attachments_poll_ids"] && json(row["attachments_poll_ids"]))
  }
  return {
    id: row["id"],
    text: row["text"],
    edit_history_post_ids: json(row["edit_history_post_ids"]),
    ...some("author_id", row["author_id"]),
    ...some("created_at", row["created_at"]),
    ...some("referenced_posts", row["referenced_posts"] && json(row["referenced_posts"])),
    ...(Object.keys(attachments).length > 0 ? { attachments } : {}),
    public_metrics: Object.fromEntries(
      metrics.flatMap(([name, value]) => {
        const count = number(value)
        return count === undefined ? [] : [[name.slice("public_metrics_".length), count]]
      })
    ),
    ...(row["other"] ? json(row["other"]) as object : {})
  }
}

const readers: { readonly [S in SinkName]: Read } = {
  jsonl: (path) => linesOf(readFileSync(path, "utf8")),
  "jsonl.gz": (path) => linesOf(gunzipSync(readFileSync(path)).toString()),
  "jsonl.zst": (path) => linesOf(unzstd(path)),
  csv: (path) => (parse(readFileSync(path), { columns: true, record_delimiter: "\r\n" }) as Array<Row>).map(whole),
  parquet: async (path) => {
    const bytes = readFileSync(path)
    const rows = await parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
      compressors: { ZSTD: (input) => zstdDecompressSync(input) }
    })
    return rows.map(whole)
  },
  sqlite: (path) => query(path, "SELECT posts.* FROM results JOIN posts USING (id) ORDER BY position").map(whole)
}

describe("what other programs read of an export", () => {
  it.live.each(sinkNames)("as %s is what the service sent", (sink) =>
    Effect.gen(function*() {
      const path = join(yield* folder, `out.${sink}`)
      const { files, progress, status } = yield* Export.run(source, { sink: sinks[sink](path) })
      assert.strictEqual(status, "done")
      const pages = yield* Stream.runCollect(searchRecentPosts.pages(parameters))
      const expected = pages.flatMap(({ data = [] }) => data)
      const rows = yield* Effect.promise(async () => readers[sink](path))
      assert.isAbove(expected.length, 200)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(rows, expected)
      assert.strictEqual(progress.items, expected.length)

      // Included objects come once, whatever page brings them.
      const users = new Map(pages.flatMap(({ includes }) => includes.users ?? []).map((user) => [user.id, user]))
      assert.isAbove(pages.flatMap(({ includes }) => includes.users ?? []).length, users.size)
      assert.strictEqual(progress.included["users"], users.size)
      if (sink !== "sqlite") {
        const file = files.find(({ holds }) => holds === "users")!
        const read = yield* Effect.promise(async () => readers[sink](join(path, "..", file.name)))
        assert.deepStrictEqual(read.map(({ id }) => id), [...users.keys()])
      } else {
        assert.strictEqual(query(path, "SELECT count(*) AS n FROM users")[0]?.["n"], users.size)
        const joined = query(
          path,
          "SELECT username FROM results JOIN posts USING (id) JOIN users ON users.id = author_id ORDER BY position"
        )
        assert.deepStrictEqual(
          joined.map(({ username }) => username),
          expected.map(({ author_id }) => users.get(author_id)!.username)
        )
        const media = expected.flatMap(({ attachments }) => attachments?.media_keys ?? [])
        assert.isAbove(media.length, 0)
        const shown = query(
          path,
          "SELECT media_key FROM results JOIN post_media ON post_id = id JOIN media USING (media_key) ORDER BY results.position, post_media.position"
        )
        assert.deepStrictEqual(shown.map(({ media_key }) => media_key), media)
        assert.deepStrictEqual(query(path, "PRAGMA foreign_key_check"), [])
      }

      // The manifest tells the truth, and nothing is left of the way there.
      const manifest = yield* Manifest.read(`${path}.postwire/manifest.json`)
      assert.deepStrictEqual(manifest?.files, files)
      for (const { bytes, name, sha256 } of files) {
        const content = readFileSync(join(path, "..", name))
        assert.deepStrictEqual([bytes, sha256], [content.length, createHash("sha256").update(content).digest("hex")])
      }
      const left = Object.keys(filesOf(join(path, "..")))
      assert.sameMembers(left, [`out.${sink}.postwire/about.txt`, ...files.map(({ name }) => name)])
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live.each(sinkNames)("as %s of nothing is an empty table", (sink) =>
    Effect.gen(function*() {
      const path = join(yield* folder, `out.${sink}`)
      const nothing = Source.make(searchRecentPosts, { ...parameters, query: "nobodyeverwrotethis" })
      const { progress } = yield* Export.run(nothing, { sink: sinks[sink](path) })
      assert.strictEqual(progress.items, 0)
      assert.deepStrictEqual(yield* Effect.promise(async () => readers[sink](path)), [])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(20))))

  it.live("of counts is a table too", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "counts.sqlite")
      const counts = Source.make(getAllPostsCount, { query: "effect", granularity: "day" })
      const { progress } = yield* Export.run(counts, { sink: sinks.sqlite(path) })
      const [{ n, total } = {}] = query(path, "SELECT count(*) AS n, sum(post_count) AS total FROM items")
      assert.strictEqual(n, progress.items)
      assert.isAbove(Number(total), 0)
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))

  it.live("keeps fields that this version does not know, and line separators within texts", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const items = [{
        id: "1",
        text: "a\u2028b\u0085c\rd\ne",
        edit_history_post_ids: ["1"],
        odd: { deep: [1] },
        public_metrics: { odd_count: 7 }
      }]
      const odd: Source.Source = {
        ...source,
        pages: () =>
          Stream.make({
            items,
            includes: { users: [{ id: "2", name: "b", username: "b" }] },
            errors: [],
            next: undefined,
            rateLimit: undefined
          })
      }
      for (const sink of sinkNames) {
        const path = join(root, `${sink.replace(".", "-")}.${sink}`)
        yield* Export.run(odd, { sink: sinks[sink](path) })
        const [row] = yield* Effect.promise(async () => readers[sink](path))
        const { public_metrics, ...rest } = items[0]!
        assert.deepInclude(row, rest, sink)
        assert.deepInclude(row, { public_metrics }, sink)
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(0))))

  it.live("holds no credential", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const secret = "canary-0123456789-canary"
      const seen: Array<string> = []
      const page = { items: [], includes: {}, errors: [], next: "a", rateLimit: undefined }
      const slow: Source.Source = { ...source, pages: () => Stream.concat(Stream.make(page), Stream.never) }
      const written = yield* Deferred.make<void>()
      yield* Export.run(slow, {
        sink: JsonLines.make(join(root, "a.jsonl")),
        onPage: () => Deferred.succeed(written, undefined),
        stop: Deferred.await(written),
        grace: 0
      }).pipe(Effect.provide(clientOf(secret)))
      for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
        if (name.endsWith("json")) seen.push(readFileSync(join(root, name), "utf8"))
      }
      assert.isAtLeast(seen.join().match(/"credential"/g)?.length ?? 0, 2)
      assert.notInclude(seen.join(), secret)
    }))
})

const clientOf = (bearerToken: string) => NodeClient.layer({ baseUrl: "http://127.0.0.1:9", bearerToken })
