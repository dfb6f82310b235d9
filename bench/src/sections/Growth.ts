/** How costs grow: each with a size, the exponent of its power law, and the one that is expected. */
import { join } from "node:path"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import { exponentOf } from "../Model.ts"
import * as Rounds from "../Rounds.ts"
import * as Hydrate from "./Hydrate.ts"
import * as Sandbox from "./Sandbox.ts"
import type * as Stores from "./Stores.ts"

/** Calls for pages of so many posts; lines for so many loops. */
interface Batch extends Rounds.Task {
  readonly size: number
}

export const contenders: Rounds.Contenders<Batch> = {
  calls: async ({ folder, url }) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ baseUrl: url, bearerToken: Bodies.bearerToken })
    return async ({ count, size }) => {
      const parameters = { ...Bodies.parameters.page, max_results: size }
      for (let i = 0; i < count; i++) await client.searchAllPosts(parameters)
    }
  },
  consumers: async ({ folder, url }) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ baseUrl: url, bearerToken: Bodies.bearerToken })
    const consume = async (count: number) => {
      let read = 0
      for await (const _ of client.streamPosts({}, { recover: "none", tags: ["cats with images"] })) {
        if (++read === count) return
      }
    }
    return async ({ count, size }) => {
      await Promise.all(Array.from({ length: size }, () => consume(count)))
    }
  }
}

type Ask = (size: number) => Promise<Rounds.Reading>

/** Measures at each size, some rounds in turns, and adds the fit of each metric. */
const grow = async (
  bench: Rounds.Bench,
  { expected, metrics = ["CPU"], name, rounds = 5, sizes }: {
    readonly name: string
    readonly sizes: ReadonlyArray<number>
    readonly expected: number
    readonly metrics?: ReadonlyArray<string>
    readonly rounds?: number
  },
  ask: Ask
): Promise<void> => {
  const series = sizes.map((size) => ({ size, readings: new Array<Rounds.Reading>() }))
  for (let round = 0; round < (bench.rounds ?? rounds); round++) {
    for (const { readings, size } of series) {
      bench.say(`growth: ${name}, ${size.toLocaleString("en")}`, parts.indexOf(name) / parts.length)
      readings.push(await ask(size))
    }
  }
  const rows = series.flatMap(({ readings, size }) => {
    const at = { section: "growth", scenario: `${name}: ${size.toLocaleString("en")}`, at: size }
    return Rounds.rowsOf(at, new Map([["postwire", readings]]))
  })
  bench.add(...rows)
  for (const metric of metrics) {
    const points = rows.filter((row) => row.metric === metric && row.value.median > 0)
      .map(({ at = 0, value }) => [at, value.median] as const)
    bench.grow({ name, metric, exponent: exponentOf(points), expected, points })
  }
}

const parts = [
  "calls by posts of a body",
  "pages by posts",
  "streams by rules of a line",
  "streams by consumers",
  "exports by posts",
  "hydration by ids",
  "sandbox: making a state by posts",
  "sandbox: a page by posts",
  "sandbox: a rare conjunction by posts",
  "stores: SQLite by processes"
]

/** A cost of one item, as that of all: what grows with the number of items. */
const total = ({ CPU = 0, memory, time = 0 }: Rounds.Reading, count: number): Rounds.Reading => ({
  CPU: CPU * count,
  time: time * count,
  ...(memory === undefined ? {} : { memory })
})

const clients = async (bench: Rounds.Bench): Promise<void> => {
  using server = await Child.start<object, unknown>("Server.ts", "pages")
  const settings = { url: String(server.hello) }
  {
    using calls = await Rounds.start<Batch>(bench, "Growth", "calls", settings)
    await calls.ask({ count: 300, size: 100 })
    const sizes = [10, 32, 100, 316, 500]
    await grow(bench, { name: parts[0]!, sizes, expected: 1 }, (size) => calls.ask({ count: 30, size }))
  }
  const last = bench.rounds !== undefined ? [] : bench.full ? [100_000, 1_000_000] : [100_000]
  {
    using pages = await Rounds.start(bench, "Pages", "postwire", settings)
    await pages.ask({ count: 20_000 })
    const sizes = [1_000, 10_000, ...last]
    await grow(
      bench,
      { name: parts[1]!, sizes, expected: 1, rounds: 1 },
      async (count) => total(await pages.ask({ count }), count)
    )
  }
  {
    using exports = await Rounds.start(bench, "Exports", "JSON Lines", settings)
    await exports.ask({ count: 5_000 })
    const sizes = [1_000, 10_000, ...last]
    await grow(
      bench,
      { name: parts[4]!, sizes, expected: 1, rounds: 1 },
      async (count) => total(await exports.ask({ count, measure: "memory" }), count)
    )
  }
  using lookups = await Child.start<object, unknown>("Server.ts", "lookups")
  using hydrate = await Rounds.start<Rounds.Task & { readonly ids: string }>(bench, "Hydrate", "JSON Lines", {
    url: String(lookups.hello)
  })
  await hydrate.ask(await Hydrate.idsIn(bench.place, 5_000))
  await grow(
    bench,
    { name: parts[5]!, sizes: [1_000, 10_000, ...last], expected: 1, rounds: 1 },
    async (count) => total(await hydrate.ask({ ...await Hydrate.idsIn(bench.place, count), measure: "memory" }), count)
  )
}

const streams = async (bench: Rounds.Bench): Promise<void> => {
  await grow(bench, { name: parts[2]!, sizes: [1, 3, 10, 32, 100], expected: 1, rounds: 1 }, async (rules) => {
    using server = await Child.start<object, unknown>("Server.ts", "lines", "neutral", "block", String(rules))
    using reader = await Rounds.start(bench, "Streams", "postwire", { url: String(server.hello), wire: "neutral" })
    await reader.ask({ count: 10_000 })
    return await reader.ask({ count: 10_000 })
  })
  using server = await Child.start<object, unknown>("Server.ts", "lines")
  using consumers = await Rounds.start<Batch>(bench, "Growth", "consumers", { url: String(server.hello) })
  await consumers.ask({ count: 10_000, size: 2 })
  await grow(
    bench,
    { name: parts[3]!, sizes: [1, 2, 4, 8, 16], expected: 1, rounds: 3 },
    (size) => consumers.ask({ count: 5_000, size })
  )
}

const sandboxes = async (bench: Rounds.Bench): Promise<void> => {
  const sizes = [1_000, 10_000, ...bench.rounds !== undefined ? [] : bench.full ? [100_000, 1_000_000] : [100_000]]
  const found = new Map<number, Readonly<Record<"made" | "page" | "rare", Rounds.Reading>>>()
  for (const size of sizes) {
    bench.say(`growth: sandbox, ${size.toLocaleString("en")}`, 0.6)
    await using sandbox = await Sandbox.start(bench, "sandbox", size, join(bench.place, `${size}.sqlite`))
    const paths = await Sandbox.pathsOf(sandbox, false)
    const page = async (name: string) => {
      const requestOf = () => ({ path: paths[`page of 100: ${name}`]! })
      await sandbox.ask({ count: 50, requestOf })
      return await sandbox.ask({ count: 50, requestOf })
    }
    found.set(size, { made: sandbox.ready.made, page: await page("common word"), rare: await page("rare conjunction") })
  }
  for (const [i, part, expected] of [[6, "made", 1], [7, "page", 0.1], [8, "rare", 0.5]] as const) {
    await grow(bench, { name: parts[i]!, sizes, expected, rounds: 1 }, async (size) => found.get(size)![part])
  }
}

/** The cost of a request for all processes together. */
const stores = async (bench: Rounds.Bench): Promise<void> => {
  const count = 500
  await grow(
    bench,
    { name: parts[9]!, sizes: [1, 2, 4, 8], expected: 1, rounds: 2, metrics: ["CPU", "time"] },
    async (processes) => {
      using all = new DisposableStack()
      const each = await Promise.all(
        Array.from(
          { length: processes },
          async () => all.use(await Rounds.start<Stores.Batch>(bench, "Stores", "SQLite", {}))
        )
      )
      const readings = await Promise.all(each.map(({ ask }) => ask({ count, inFlight: 5 })))
      const sum = (metric: string) => readings.reduce((sum, reading) => sum + (reading[metric] ?? 0), 0)
      return { CPU: sum("CPU"), time: sum("time") / processes }
    }
  )
}

const run = async (bench: Rounds.Bench): Promise<void> => {
  await clients(bench)
  await streams(bench)
  await sandboxes(bench)
  await stores(bench)
}

export const section: Rounds.Section = { name: "growth", seconds: 60, fullSeconds: 260, isExtra: true, run }
