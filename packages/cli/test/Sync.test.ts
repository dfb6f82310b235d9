import { assert, describe, it } from "@effect/vitest"
import * as Database from "@postwire/cluster/Database"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Context, Effect, Layer, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { part, writeZip } from "../../archive/test/support/Zip.ts"
import { missing, postgres } from "../../cluster/test/support/Postgres.ts"
import * as Commands from "./Commands.ts"

/** A folder with a file of a sync, whose flag it returns. */
const fileOf = (content: unknown) =>
  Effect.map(Commands.folder, (folder) => {
    const file = join(folder, "postwire.sync.json")
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
    return `--file=${file}`
  })

const own = { target: "own.sqlite", sources: [{ kind: "posts" }, { kind: "bookmarks" }] }

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

describe("postwire sync", () => {
  it.live("writes a first file, plans, syncs, and shows what the copy has", () =>
    Effect.gen(function*() {
      const file = `--file=${join(yield* Commands.folder, "postwire.sync.json")}`
      const made = yield* Commands.parse("sync", "init", file)
      assert.include(made.output, "posts, mentions, bookmarks, likes; at most $10.00 a month", made.errors)
      const schema = JSON.parse(readFileSync(file.slice(7).replace(".json", ".schema.json"), "utf8"))
      assert.include(schema.properties.sources.items.properties.kind.enum, "followers")
      assert.strictEqual((yield* Commands.parse("sync", "schema")).output, JSON.stringify(schema, undefined, 2))
      const planned = yield* Commands.run("sync", file, "--plan")
      assert.match(planned.output, /^posts me: \d+ items, up to \$0\.\d+\n/, planned.errors)
      const first = yield* Commands.run("sync", file)
      assert.match(
        first.output,
        /^done: \d+ new rows, 0 changed rows; \d+ items in \d+ requests, \$0\.\d+$/,
        first.errors
      )
      const again = yield* Commands.run("sync", file, "--json")
      assert.deepInclude(JSON.parse(again.output), { status: "done", added: 0, changed: 0, problems: [] })
      const { output } = yield* Commands.parse("sync", "status", file)
      assert.match(output, /^\d+ posts, .*\nbookmarks me: read .*\nlikes me: /)
      const refused = yield* Commands.parse("sync", "init", file)
      assert.include(refused.errors, "exists already")
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("keeps a mirror as Parquet files", () =>
    Effect.gen(function*() {
      const file = yield* fileOf({ ...own, parquet: "own.parquet" })
      assert.match((yield* Commands.run("sync", file)).output, /\n[1-9]\d* Parquet files written$/)
      assert.deepInclude(JSON.parse((yield* Commands.run("sync", file, "--json")).output), { added: 0 })
      const { files } = JSON.parse(
        readFileSync(file.slice(7).replace("postwire.sync.json", "own.parquet/manifest.json"), "utf8")
      )
      assert.isTrue(
        files.some(({ path }: { path: string }) => /^posts\/day=\d{4}-\d\d-\d\d\/part-0\.parquet$/.test(path))
      )
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("stops before its budget is passed, and continues", () =>
    Effect.gen(function*() {
      const file = yield* fileOf({ ...own, sources: [{ kind: "search", query: "effect" }], budget: { run: 0.2 } })
      const first = yield* Commands.run("sync", file)
      assert.match(first.output, /^budget: \d+ new rows.*\nThe budget is used up\. The next run continues\.$/)
      let runs = 1
      while ((yield* Commands.run("sync", file)).output.startsWith("budget")) runs++
      assert.isAbove(runs, 1)
      const { dollars, runs: listed } = JSON.parse((yield* Commands.parse("sync", "status", file, "--json")).output)
      assert.isAtMost(Math.max(...listed.map(({ micros }: { micros: number }) => micros)), 200_000)
      assert.isAbove(dollars, 0.2)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 200 }))))

  it.live("fetches photos of the service, and no file from other hosts", () =>
    Effect.gen(function*() {
      const file = yield* fileOf({
        ...own,
        media: { folder: "pictures" },
        sources: [...own.sources, { kind: "search", query: "has:media" }]
      })
      const photo = file.slice(7).replace("postwire.sync.json", "a.png")
      writeFileSync(photo, onePixel)
      const posted = yield* Commands.run("post", "look", "--media", photo)
      assert.strictEqual(posted.code, 0, posted.errors)
      const { code, output } = yield* Commands.run("sync", file)
      assert.strictEqual(code, 0)
      assert.match(
        output,
        /\n1 media file, \d+ B\n\d+ files? not fetched: media\.sandbox\.invalid is not among the hosts of media$/
      )
      const folder = photo.replace("a.png", "pictures")
      const [name = ""] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".png")
      )
      assert.isTrue(readFileSync(join(folder, name)).equals(onePixel))
      assert.include((yield* Commands.run("sync", file)).output, "\n0 media files")
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("imports an archive of the service, after which a sync reads only the rest", () =>
    Effect.gen(function*() {
      const { ada } = yield* Sandbox.Sandbox
      const file = yield* fileOf({ ...own, sources: [{ kind: "posts" }] })
      const zip = file.slice(7).replace("postwire.sync.json", "twitter.zip")
      const tweet = {
        id_str: "9000000000000000000",
        full_text: "archived",
        created_at: "Sat Feb 18 12:33:11 +0000 2023"
      }
      writeZip(zip, {
        "data/account.js": part("account", [{ account: { accountId: ada.id, username: ada.username } }]),
        "data/tweets.js": part("tweets", [{ tweet }]),
        "data/like.js": "no list"
      })
      const { code, errors, output } = yield* Commands.parse("sync", "import", zip, file)
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(output, `@${ada.username}: 1 item, 1 new row\nlike.js: it does not begin with window.YTD`)
      assert.match((yield* Commands.run("sync", file)).output, /^done: 0 new rows, 0 changed rows; 0 items/)
      const refused = yield* Commands.parse("sync", "import", file.slice(7), file)
      assert.match(refused.errors, /postwire\.sync\.json cannot be imported: .*\n {2}Name the ZIP file/)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live.each(
    [
      ["{", "it is not JSON"],
      [{ ...own, sources: [{ kind: "bookmark" }] }, "\"bookmarks\""],
      [{ ...own, source: [] }, "source"],
      [{ ...own, sources: [{ kind: "search" }] }, "sources[0]: a search needs a query"],
      [
        { ...own, sources: [{ kind: "bookmarks", of: "@ada" }] },
        "sources[0]: bookmarks are those of the account: of is me"
      ],
      [{ ...own, sources: [{ kind: "members", of: "@ada" }] }, "sources[0]: members need the ids of lists in of"],
      [{ ...own, sources: [...own.sources, { kind: "posts" }] }, "another source has the name posts me"],
      [{ ...own, target: "postgres://ada:secret@[db/own" }, "target: it is not the address of a database"],
      [{ ...own, every: "often" }, "a duration, as 1 hour or 7 days"]
    ] as const
  )("refuses %j before anything is requested", ([content, reason]) =>
    Effect.gen(function*() {
      const { journal } = yield* Sandbox.Sandbox
      const { code, errors } = yield* Commands.run("sync", yield* fileOf(content))
      assert.include(errors, reason)
      assert.notInclude(errors, "secret")
      assert.notStrictEqual(code, 0)
      assert.lengthOf(journal.entries(), 0)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  const skipped = missing === undefined ? "" : `: skipped, it ${missing}`
  it.live.skipIf(missing !== undefined)(
    `keeps copies in schemas of a PostgreSQL database, and its password${skipped}`,
    () =>
      Effect.gen(function*() {
        const { url } = yield* Effect.acquireRelease(
          Effect.promise(postgres),
          (server) => Effect.promise(() => server[Symbol.asyncDispose]())
        )
        const withPassword = url.replace("postwire@", "postwire:secret@")
        const inSchema = (schema: string) =>
          fileOf({ ...own, target: `${withPassword}?password=secret&options=-c%20search_path%3D${schema}` })
        const [one, two] = [yield* inSchema("one"), yield* inSchema("two")]
        const first = yield* Commands.run("sync", one)
        assert.match(first.output, /^done: [^0]\d* new rows/, first.errors)
        assert.include((yield* Commands.run("sync", one)).output, "done: 0 new rows")
        assert.match((yield* Commands.parse("sync", "status", one)).output, /^\d+ posts, .*\nbookmarks me: read /)
        assert.match((yield* Commands.run("sync", two)).output, /^done: [^0]\d* new rows/)
        const client = Database.layerPostgres({ url: Redacted.make(url) })
        const sql = yield* Effect.map(Layer.build(client), Context.get(SqlClient.SqlClient))
        yield* sql.unsafe("UPDATE one.meta SET value = '99' WHERE key = 'version'")
        const newer = yield* Commands.run("sync", one)
        assert.match(newer.errors, /127\.0\.0\.1:\d+\/postgres cannot be used: a newer release made it \(layout 99\)/)
        const elsewhere = yield* fileOf({ ...own, target: "postgres://ada:secret@127.0.0.1:1/own?password=secret" })
        const refused = yield* Commands.run("sync", elsewhere)
        assert.include(refused.errors, "does not answer")
        for (const { errors, output } of [first, newer, refused]) assert.notInclude(errors + output, "secret")
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 100 })))
  )
})
