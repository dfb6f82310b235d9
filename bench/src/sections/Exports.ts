/** Exports from a server on this machine, beside a generator over bare Undici whose pages `JSON.stringify` writes as lines. */
import { mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import { pagesOf } from "../Generator.ts"
import * as Rounds from "../Rounds.ts"

/** The query whose result is so many posts. */
const queryOf = (posts: number): string => `last ${posts / 100}`

/** As archives do: no columns, no checkpoint; `isForced` forces every page to the disk, as the sinks do. */
const generator = (isForced: boolean) => async ({ place, url }: Rounds.Settings) => {
  const path = join(place, `generator ${process.pid}`)
  return async ({ count }: Rounds.Task) => {
    await using file = await open(path, "w")
    let posts = 0
    for await (const { data, includes } of pagesOf(url, queryOf(count))) {
      await file.write([...data, ...includes.users].map((item) => `${JSON.stringify(item)}\n`).join(""))
      if (isForced) await file.datasync()
      posts += data.length
    }
    await file.datasync()
    if (posts !== count) throw new Error(`${posts} of ${count} posts`)
  }
}

type Sink = "Csv" | "JsonLines" | "Parquet" | "Sqlite"

const postwire = (name: Sink, extension: string, options = {}) => async ({ folder, place, url }: Rounds.Settings) => {
  const [effect, node, { searchRecentPosts }, Export, Source, { make }] = await Checkout.modules(folder)(
    "effect/Effect",
    "@postwire/node/NodeClient",
    "@postwire/core/operations/Search",
    "@postwire/export/Export",
    "@postwire/export/sources/Source",
    `@postwire/export/sinks/${name}`
  )
  const layer = node.layer({ baseUrl: url, bearerToken: Bodies.bearerToken })
  let number = 0
  return async ({ count }: Rounds.Task) => {
    const path = join(place, `${process.pid}-${++number}`)
    await mkdir(path)
    const { query: _, ...fields } = Bodies.parameters.page
    const source = Source.make(searchRecentPosts, { ...fields, query: queryOf(count) })
    const { progress } = await effect.runPromise(
      effect.provide(Export.run(source, { sink: make(join(path, `out.${extension}`), options) }), layer)
    )
    if (progress.items !== count) throw new Error(`${progress.items} of ${count} posts`)
    await rm(path, { recursive: true, force: true })
  }
}

export const contenders: Rounds.Contenders<Rounds.Task> = {
  generator: generator(false),
  "generator, forced": generator(true),
  "JSON Lines": postwire("JsonLines", "jsonl"),
  "JSON Lines, gzip": postwire("JsonLines", "jsonl.gz", { compression: "gzip" }),
  "JSON Lines, zstd": postwire("JsonLines", "jsonl.zst", { compression: "zstd" }),
  CSV: postwire("Csv", "csv"),
  Parquet: postwire("Parquet", "parquet"),
  SQLite: postwire("Sqlite", "sqlite")
}

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  const { full } = bench
  using server = await Child.start<object, unknown>("Server.ts", "pages")
  const start = (name: string) => Rounds.start(bench, "Exports", name, { url: String(server.hello) })
  const count = bench.rounds === undefined ? full ? 20_000 : 5_000 : 1_000
  const ours = ["JSON Lines", ...full ? ["JSON Lines, gzip", "JSON Lines, zstd", "CSV"] : [], "Parquet", "SQLite"]
  const names = Rounds.select(bench, ["generator"], ours, full ? ["generator, forced"] : [])
  await Rounds.withAll(names, start, (contenders) =>
    Rounds.compare(bench, {
      section: "exports",
      contenders,
      scenarios: [{ name: `a post of ${count.toLocaleString("en")}`, task: { count } }],
      seconds: full ? seconds / 3 : seconds,
      from: 0,
      share: full ? 1 / 3 : 1
    }))
  if (full) {
    const kept = Rounds.select(bench, ["generator"], ["JSON Lines", "Parquet", "SQLite"])
    for (const count of bench.rounds === undefined ? [100_000, 1_000_000] : [10_000]) {
      const at = { section: "exports", scenario: `a post of ${count.toLocaleString("en")}` }
      await Rounds.long(bench, at, kept, start, { count: 2_000 }, { count }, 1)
    }
  }
}

export const section: Rounds.Section = { name: "exports", seconds: 13, fullSeconds: 300, run }
