/** A copy: writing posts page by page, searching in it, and its mirror, beside what `sqlite3` imports. */
import * as Copy from "@postwire/archive/copy/Copy"
import * as Search from "@postwire/archive/look/Search"
import * as Mirror from "@postwire/archive/mirror/Mirror"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Rounds from "../Rounds.ts"

/** Words as frequent as words are: half of a text is the first eighth of them. */
const words = Array.from({ length: 4_000 }, (_, i) => `w${(i * 7_919 % 4_001).toString(36)}`)

/** The posts of a page, newest first as lists have them, one every 30 seconds. */
const page = (from: number, size: number): ReadonlyArray<object> => {
  let seed = from + 1
  const below = (n: number) => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return Math.floor(seed / 4_294_967_296 * n)
  }
  return Array.from({ length: size }, (_, index) => {
    const i = from + index
    const at = Date.UTC(2026, 10, 20) - i * 30_000
    const id = String((BigInt(at) - 1_288_834_974_657n) << 22n)
    const some = Array.from({ length: 20 }, () => words[Math.floor(words.length * (below(1_000) / 1_000) ** 3)])
    return {
      id,
      text: [...some, ...i % 2 === 0 ? ["common"] : [], ...i % 50_000 === 7 ? ["rare"] : []].join(" "),
      edit_history_post_ids: [id],
      author_id: String(1_000 + below(20_000)),
      created_at: new Date(at).toISOString(),
      conversation_id: id,
      lang: "en",
      possibly_sensitive: false,
      reply_settings: "everyone",
      public_metrics: {
        repost_count: below(100),
        reply_count: below(20),
        like_count: below(1_000),
        quote_count: below(5)
      },
      ...i % 3 > 0 &&
        { entities: { urls: [{ start: 0, end: 23, url: `https://t.co/${i}`, display_url: "example.com" }] } }
    }
  })
}

/** The cost of work, for one of `count`. */
const measured = <A, E, R>(count: number, work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const [begun, before] = [performance.now(), process.cpuUsage()]
    return Effect.map(work, (): Rounds.Reading => {
      const { system, user } = process.cpuUsage(before)
      return { CPU: (user + system) / count, time: (performance.now() - begun) * 1_000 / count }
    })
  })

const kB = (count: number, ...paths: ReadonlyArray<string>) =>
  paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1_000 / count

/** Writes posts, without the cost of making them. */
const writing = Effect.fnUntraced(function*(count: number, size: number, onTenth: () => void) {
  const copy = yield* Copy.Current
  let [CPU, time] = [0, 0]
  for (let from = 0; from < count; from += size) {
    const posts = page(from, size)
    const reading = yield* measured(count, Copy.write(copy, { objects: { posts } }))
    CPU += reading["CPU"] ?? 0
    time += reading["time"] ?? 0
    if (from + size === count / 10) onTenth()
  }
  return { CPU, time }
})

const searches: Readonly<Record<string, Search.Options>> = {
  "a common word": { words: "common" },
  "a rare word": { words: "rare" },
  "two words": { words: `common ${words[5]}` },
  "a rare and a common word": { words: "rare common" },
  "a word of an author": { words: "common", from: "1007" }
}

const queries: Readonly<Record<string, string>> = {
  "newest of an author": "SELECT * FROM posts WHERE author_id = '1007' ORDER BY id DESC LIMIT 20",
  "most liked of a day": `SELECT * FROM posts WHERE substr(created_at, 1, 10) = '2026-11-10'
    ORDER BY public_metrics_like_count DESC LIMIT 20`
}

/** What `sqlite3` takes to import the posts of a copy. */
const imported = (bench: Rounds.Bench, count: number, csv: string, name: string, schema: string): Rounds.Reading => {
  const path = join(bench.place, `${name}.sqlite`)
  const set = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
  const { stderr } = spawnSync("bash", ["-c", `TIMEFORMAT="%R %U %S"; time sqlite3 "$0" >&2`, path], {
    input: `${set}\n${schema};\n.import --csv "${csv}" posts\n`,
    encoding: "utf8"
  })
  const [real = 0, user = 0, system = 0] = stderr.trim().split("\n").at(-1)?.split(" ").map(Number) ?? []
  return { CPU: (user + system) * 1e6 / count, time: real * 1e6 / count, size: kB(count, path) }
}

const run = async (bench: Rounds.Bench): Promise<void> => {
  const count = bench.rounds === undefined ? bench.full ? 2_000_000 : 100_000 : 10_000
  const section = "copies"
  const add = (scenario: string, contender: string, ...readings: ReadonlyArray<Rounds.Reading>) =>
    bench.add(...Rounds.rowsOf({ section, scenario }, new Map([[contender, readings]])))
  const scenario = `a post of ${count.toLocaleString("en")}`
  for (const size of [100, 1_000]) {
    bench.say(`copies: writing pages of ${size}`, size / 2_000)
    const path = join(bench.place, `${size}.sqlite`)
    let tenth = 0
    const reading = await Effect.runPromise(
      writing(count, size, () => tenth = process.memoryUsage.rss()).pipe(Effect.provide(Copy.layerSqlite(path)))
    )
    add(scenario, `pages of ${size}`, { ...reading, size: kB(count, path) })
    add("resident memory", `after a tenth, pages of ${size}`, { memory: tenth / 1e6 })
    add("resident memory", `at the end, pages of ${size}`, { memory: process.memoryUsage.rss() / 1e6 })
  }
  const path = join(bench.place, "100.sqlite")
  bench.say("copies: searches", 0.6)
  const reads = Effect.gen(function*() {
    const { sql } = yield* Copy.Current
    const all = [
      ...Object.entries(searches).map(([name, options]) => [`search: ${name}`, Search.find(options)] as const),
      ...Object.entries(queries).map(([name, query]) => [`query: ${name}`, sql.unsafe(query)] as const)
    ]
    for (const [name, read] of all) {
      yield* read
      const readings = []
      for (let k = 0; k < 30; k++) readings.push(yield* measured(1, read))
      add(name, "postwire", ...readings)
    }
  })
  await Effect.runPromise(Effect.provide(reads, Copy.layerSqliteReader(path)))
  bench.say("copies: a mirror", 0.7)
  const folder = join(bench.place, "parquet")
  const mirror = await Effect.runPromise(
    measured(count, Mirror.refresh(folder)).pipe(Effect.provide(Copy.layerSqlite(path)))
  )
  const { files }: Mirror.Manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))
  add(scenario, "Parquet", { ...mirror, size: files.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000 / count })
  if (spawnSync("sqlite3", ["--version"]).status !== 0) return console.error("Without sqlite3: it is not on the path.")
  bench.say("copies: sqlite3 .import", 0.8)
  const csv = join(bench.place, "posts.csv")
  spawnSync("bash", ["-c", `sqlite3 -csv "$0" "SELECT * FROM posts" > "$1"`, path, csv])
  using copy = new DatabaseSync(path, { readOnly: true })
  const statements = copy.prepare(
    "SELECT sql FROM sqlite_schema WHERE (tbl_name = 'posts' OR name = 'posts_text') AND sql <> '' ORDER BY rowid"
  ).all().map(({ sql }) => String(sql))
  add(scenario, "sqlite3 .import, the same table", imported(bench, count, csv, "equal", statements.join(";\n")))
  add(scenario, "sqlite3 .import, no index", imported(bench, count, csv, "bare", statements.slice(0, 1).join()))
}

export const section: Rounds.Section = { name: "copies", seconds: 60, fullSeconds: 900, isExtra: true, run }
