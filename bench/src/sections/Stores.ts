/** Stores of rate limits: the cost of a request that is reserved and settled, and how well processes share a budget. */
import type { RateLimitStore } from "@postwire/core/rate-limit/RateLimitStore"
import type * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as RedisServer from "../../../packages/node/test/support/RedisServer.ts"
import * as Windows from "../../../packages/node/test/support/Windows.ts"
import * as Checkout from "../Checkout.ts"
import * as Rounds from "../Rounds.ts"

/** Requests, of which so many are under way at a time. */
export interface Batch extends Rounds.Task {
  readonly inFlight: number
}

const storing = (
  layerOf: (
    load: ReturnType<typeof Checkout.modules>,
    settings: Rounds.Settings
  ) => Promise<Layer.Layer<RateLimitStore, unknown>>
) =>
async (settings: Rounds.Settings) => {
  const load = Checkout.modules(settings.folder)
  const [context, effect, layers, scopes, stores] = await load(
    "effect/Context",
    "effect/Effect",
    "effect/Layer",
    "effect/Scope",
    "@postwire/core/rate-limit/RateLimitStore"
  )
  const built = await effect.runPromise(layers.buildWithScope(await layerOf(load, settings), scopes.makeUnsafe()))
  const store = context.get(built, stores.RateLimitStore)
  const figures = { limit: 1e9, remaining: 1e9, window: 1, endsIn: 900_000 }
  let next = 0
  const one = effect.suspend(() => {
    const lease = `${process.pid} ${++next}`
    return effect.andThen(
      store.reserve("cost", lease, 0),
      store.settle("cost", lease, { answered: true, figures })
    )
  })
  return ({ count, inFlight }: Batch) =>
    effect.runPromise(effect.forEach(new Array<void>(count), () => one, { concurrency: inFlight, discard: true }))
}

export const contenders: Rounds.Contenders<Batch> = {
  memory: storing(async (load) => (await load("@postwire/core/rate-limit/RateLimitStore"))[0].layerMemory),
  SQLite: storing(async (load, { place }) => {
    const [{ layer }] = await load("@postwire/node/SqliteRateLimitStore")
    return layer({ path: join(place, "cost.db") })
  }),
  Redis: storing(async (load, { url }) => (await load("@postwire/node/RedisRateLimitStore"))[0].layerUrl({ url }))
}

const caller = fileURLToPath(new URL("../../../packages/node/test/support/caller.ts", import.meta.url))

/** Processes that together need two whole windows, each with 25 requests in flight: what they used, and refusals. */
const share = async (bench: Rounds.Bench, store: string, name: string): Promise<void> => {
  const [processes, limit, window, windows] = [8, 900, bench.rounds === undefined ? 10 : 2, 2]
  const service = await Windows.start({ limit, window, latency: 20 })
  const each = Math.ceil(limit * windows / processes)
  const children = Array.from({ length: processes }, () => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", caller, service.baseUrl, store, "getPost", String(each), "25"],
      { stdio: ["pipe", "pipe", "inherit"] }
    )
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
  })
  await Promise.all(children.map(({ lines }) => lines.next()))
  const begin = performance.now()
  for (const { child } of children) child.stdin.write("go\n")
  const outcomes = await Promise.all(
    children.map(async ({ lines }): Promise<ReadonlyArray<string>> =>
      JSON.parse((await lines.next()).value ?? `{"outcomes":[]}`).outcomes
    )
  )
  const time = (performance.now() - begin) * 1000
  const used = service.used().slice(0, windows).reduce((sum, count) => sum + count, 0)
  const failed = outcomes.flat().filter((outcome) => outcome !== "ok").length
  service.stop()
  const at = { section: "stores", scenario: `${processes} processes, ${windows} windows of ${limit}` }
  bench.add(...Rounds.rowsOf(at, new Map([[name, [{ used, refusals: service.refusals(), failed, time }]]])))
}

/** Does something with a Redis, if this machine has one. */
export const withRedis = async (f: (url: string | undefined) => Promise<void>): Promise<void> => {
  const redis = RedisServer.isInstalled ? await RedisServer.start() : undefined
  if (redis === undefined) console.error("Without Redis: there is no redis-server on the path.")
  try {
    await f(redis?.url)
  } finally {
    await redis?.stop()
  }
}

const run = (bench: Rounds.Bench, seconds: number): Promise<void> =>
  withRedis(async (url) => {
    const names = Rounds.select(bench, ["memory"], ["SQLite", ...url === undefined ? [] : ["Redis"]])
    const start = (name: string) => Rounds.start<Batch>(bench, "Stores", name, { url: url ?? "" })
    await Rounds.withAll(names, start, (contenders) =>
      Rounds.compare(bench, {
        section: "stores",
        contenders,
        scenarios: [1, 50].map((inFlight) => ({
          name: `a request, ${inFlight === 1 ? "one by one" : `${inFlight} in flight`}`,
          task: { count: 200, inFlight }
        })),
        seconds: bench.full ? seconds / 2 : seconds,
        from: 0,
        share: bench.full ? 0.5 : 1
      }))
    if (!bench.full) return
    await share(bench, join(bench.place, "shared.db"), "SQLite")
    if (url !== undefined) await share(bench, url, "Redis")
  })

export const section: Rounds.Section = { name: "stores", seconds: 7, fullSeconds: 70, run }
