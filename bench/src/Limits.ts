/**
 * How well processes share an announced budget, and what keeping it costs:
 *
 *     pnpm bench:limits [--processes 8] [--limit 900] [--window 10] [--windows 2] [--store redis|sqlite]
 *
 * Redis is started from the `redis-server` on the path.
 */
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as RedisRateLimitStore from "@postwire/node/RedisRateLimitStore"
import * as SqliteRateLimitStore from "@postwire/node/SqliteRateLimitStore"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath, URL } from "node:url"
import { parseArgs } from "node:util"
import * as RedisServer from "../../packages/node/test/support/RedisServer.ts"
import * as Windows from "../../packages/node/test/support/Windows.ts"

const caller = fileURLToPath(new URL("../../packages/node/test/support/caller.ts", import.meta.url))

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "8" },
    limit: { type: "string", default: "900" },
    window: { type: "string", default: "10" },
    windows: { type: "string", default: "2" },
    store: { type: "string", default: "redis" }
  }
})
const { limit, processes, window, windows } = {
  limit: Number(values.limit),
  processes: Number(values.processes),
  window: Number(values.window),
  windows: Number(values.windows)
}

const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
const redis = RedisServer.isInstalled ? await RedisServer.start() : undefined

/** Processes that together need whole windows, each with so many requests in flight. */
const share = async (store: string, concurrency: number): Promise<void> => {
  const service = await Windows.start({ limit, window, latency: 20 })
  const each = Math.ceil(limit * windows / processes)
  const children = Array.from({ length: processes }, () => {
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        caller,
        service.baseUrl,
        store,
        "getPost",
        String(each),
        String(concurrency)
      ],
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
  const failed = outcomes.flat().filter((outcome) => outcome !== "ok")
  console.log(
    `${processes} processes, ${concurrency} in flight each, ${each * processes} calls, ${limit} per ${window} s: used ${
      service.used().join(" + ")
    }, 429s ${service.refusals()}, failed ${failed.length}, ${((performance.now() - begin) / 1000).toFixed(1)} s`
  )
  service.stop()
}

/** Microseconds per request, reserved and settled, so many at a time. */
const cost = (store: RateLimitStore.Store, concurrency: number) =>
  Effect.promise(async () => {
    const count = 4_000
    let next = 0
    const figures = { limit: 1e9, remaining: 1e9, window: 1, endsIn: 900_000 }
    const one = Effect.suspend(() => {
      const lease = `${concurrency} ${++next}`
      return Effect.andThen(store.reserve("cost", lease, 0), store.settle("cost", lease, { answered: true, figures }))
    })
    const loop = (calls: number) =>
      Effect.runPromise(
        Effect.forEach(Array.from({ length: calls }), () => one, { concurrency, discard: true })
      )
    await loop(500)
    const begin = performance.now()
    await loop(count)
    return (performance.now() - begin) / count * 1000
  })

const costs = (name: string) =>
  Effect.flatMap(RateLimitStore.RateLimitStore, (store) =>
    Effect.gen(function*() {
      const [single, fifty] = [yield* cost(store, 1), yield* cost(store, 50)]
      console.log(`${name}: ${single.toFixed(1)} µs per request one by one, ${fifty.toFixed(1)} µs with 50 in flight`)
    }))

try {
  console.log("Cost of a store")
  await Effect.runPromise(Effect.provide(costs("memory"), RateLimitStore.layerMemory))
  await Effect.runPromise(
    Effect.provide(costs("SQLite"), SqliteRateLimitStore.layer({ path: join(folder, "cost.db") }))
  )
  if (redis !== undefined) {
    await Effect.runPromise(Effect.provide(costs("Redis"), RedisRateLimitStore.layerUrl({ url: redis.url })))
  }
  console.log("\nA shared budget")
  if (values.store === "sqlite") await share(join(folder, "shared.db"), 25)
  else if (redis !== undefined) await share(redis.url, 25)
  else console.log("There is no redis-server on the path.")
} finally {
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
}
