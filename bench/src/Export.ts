/**
 * Measures the sinks of exports: the same pages into each, against `JSON.stringify` to a file, in turns in one run:
 *
 *     pnpm bench:export [--pages <n>] [--rounds <n>] [--json <file>]
 */
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Export from "@postwire/export/Export"
import * as Csv from "@postwire/export/sinks/Csv"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Sqlite from "@postwire/export/sinks/Sqlite"
import * as Source from "@postwire/export/sources/Source"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Bodies from "./Bodies.ts"
import { median } from "./Model.ts"

type Item = Readonly<Record<string, unknown>> & { readonly id: string }

const template = JSON.parse(Bodies.text("neutral", "100 posts")) as {
  readonly data: ReadonlyArray<Item>
  readonly includes: { readonly users: ReadonlyArray<Item> }
}

/** A page like all others, but with ids of its own; authors come again and again. */
const page = (number: number, pages: number): Source.Page => ({
  items: template.data.map((post, i) => ({
    ...post,
    id: String(1_790_000_000_000_000_000n - BigInt(number * 100 + i))
  })),
  includes: { users: template.includes.users.map((user) => ({ ...user, id: `${user.id}${number % 50}` })) },
  errors: [],
  next: number + 1 < pages ? String(number + 1) : undefined,
  rateLimit: undefined
})

const sourceOf = (pages: number): Source.Source => ({
  ...Source.make(searchRecentPosts, {
    query: "effect",
    post_fields: [...Bodies.postFields],
    user_fields: [...Bodies.userFields],
    expansions: ["author_id"]
  }),
  pages: () =>
    // One at a time, as from a service.
    Stream.range(0, pages - 1).pipe(Stream.rechunk(1), Stream.map((number) => page(number, pages)))
})

/** The least that one can do: no columns, no checkpoint. `sync` forces every page to the disk, as the sinks do. */
const bare = (sync: boolean) => (path: string, pages: number): void => {
  const file = openSync(path, "w")
  for (let number = 0; number < pages; number++) {
    const { includes, items } = page(number, pages)
    writeSync(file, [...items, ...includes["users"] ?? []].map((item) => `${JSON.stringify(item)}\n`).join(""))
    if (sync) fdatasyncSync(file)
  }
  fdatasyncSync(file)
  closeSync(file)
}

const into = (sink: (path: string) => Export.Options["sink"]) => (path: string, pages: number) =>
  Effect.runPromise(
    Export.run(sourceOf(pages), { sink: sink(path) }).pipe(
      // Nothing is sent: the pages are made here.
      Effect.provide(NodeClient.layer({ baseUrl: "http://127.0.0.1:9", bearerToken: "none" }))
    )
  )

const contenders: Readonly<Record<string, (path: string, pages: number) => unknown>> = {
  "JSON.stringify to a file": bare(false),
  "the same, forced to the disk per page": bare(true),
  jsonl: into((path) => JsonLines.make(`${path}.jsonl`)),
  "jsonl, gzip": into((path) => JsonLines.make(`${path}.jsonl.gz`, { compression: "gzip" })),
  "jsonl, zstd": into((path) => JsonLines.make(`${path}.jsonl.zst`, { compression: "zstd" })),
  csv: into((path) => Csv.make(`${path}.csv`)),
  parquet: into((path) => Parquet.make(`${path}.parquet`)),
  sqlite: into((path) => Sqlite.make(`${path}.sqlite`))
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      pages: { type: "string", default: "200" },
      rounds: { type: "string", default: "5" },
      json: { type: "string" }
    }
  })
  const pages = Number(values.pages)
  const names = Object.keys(contenders)
  const millis = new Map(names.map((name) => [name, new Array<number>()]))
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const name of names) {
      const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
      const start = performance.now()
      await contenders[name]?.(join(folder, "out"), pages)
      // The first round warms up.
      if (round > 0) millis.get(name)?.push(performance.now() - start)
      rmSync(folder, { recursive: true })
    }
  }
  const baseline = millis.get(names[0] ?? "") ?? []
  const rows = names.map((name) => {
    const own = millis.get(name) ?? []
    return {
      name,
      postsPerSecond: Math.round(pages * 100 / (median(own) / 1000)),
      relative: median(own.map((value, i) => (baseline[i] ?? Number.NaN) / value))
    }
  })
  console.log(`${pages * 100} posts with their authors, median of ${values.rounds} rounds`)
  for (const { name, postsPerSecond, relative } of rows) {
    console.log(`  ${name.padEnd(40)}${String(postsPerSecond).padStart(9)} posts/s  ${relative.toFixed(2).padStart(5)}`)
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, undefined, 2))
}

await main()
