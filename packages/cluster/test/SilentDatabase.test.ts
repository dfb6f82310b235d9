import { assert, describe, it } from "@effect/vitest"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { once } from "node:events"
import * as Net from "node:net"
import { layerPostgres } from "../src/Database.ts"
import * as PostgresRateLimitStore from "../src/PostgresRateLimitStore.ts"
import * as PostgresSpendStore from "../src/PostgresSpendStore.ts"
import * as PostgresStreamLog from "../src/PostgresStreamLog.ts"
import * as Postgres from "./support/Postgres.ts"

/** A way to a database, which can swallow all that is sent over it and leave its connections open. */
const wayTo = Effect.fnUntraced(function*(url: string) {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Net.Socket>()
  let isSilent = false
  const server = Net.createServer((near) => {
    const far = Net.connect(Number(port), hostname)
    const forward = (from: Net.Socket, to: Net.Socket) => {
      sockets.add(from)
      from.on("data", (bytes) => isSilent || to.write(bytes)).on("error", () => {}).on("close", () => to.destroy())
    }
    forward(near, far)
    forward(far, near)
  }).listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(server, "listening"))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  )
  const address = server.address()
  const own = new URL(url)
  own.port = String(typeof address === "object" ? address?.port : "")
  return {
    url: own.href,
    silence: (isSilentNow: boolean) => {
      isSilent = isSilentNow
    },
    /** Ends what was silent. */
    cut: () => {
      isSilent = false
      for (const socket of sockets) socket.destroy()
    }
  }
})

const allDone = ["done", "done", "done", "done"]

const charge = { account: "a", day: "2026-01-01", micros: 1, operation: "getPost" }

/** How a step ended, in words. */
const outcome = <A>(step: Effect.Effect<A, { readonly message: string }>) =>
  Effect.match(step, { onSuccess: () => "done", onFailure: ({ message }) => message })

/** The stores over a way to a database, and steps that each make one. */
const storesOver = Effect.fnUntraced(function*(url: string) {
  const stores = yield* Layer.build(
    Layer.mergeAll(PostgresSpendStore.layer, PostgresRateLimitStore.layer, PostgresStreamLog.layer).pipe(
      Layer.provide(layerPostgres({ url: Redacted.make(url) }))
    )
  )
  const spend = Context.get(stores, SpendStore.SpendStore)
  const limits = Context.get(stores, RateLimitStore.RateLimitStore)
  const log = Context.get(stores, StreamLog.StreamLog)
  const steps = (lease: string) =>
    Effect.all([
      outcome(spend.reserve("bill", lease, charge, {})),
      outcome(spend.read("bill", "2026-01-01", "2026-01-01")),
      outcome(log.acquire({ stream: "a" }, "one", 60_000)),
      outcome(log.read("a", 0, 1))
    ], { concurrency: "unbounded" })
  return { limits, log, steps }
})

const silently = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(Postgres.postgres),
    (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
  )
  const way = yield* wayTo(server.url)
  const scope = yield* Scope.make()
  const { limits, log, steps } = yield* Scope.provide(storesOver(way.url), scope)
  assert.deepStrictEqual(yield* steps("one"), allDone)
  yield* limits.reserve("key", "one", 0)
  const listening = yield* Effect.forkChild(log.wait("a", 9))
  way.silence(true)
  // Rate limits wait for the database, but no longer than the caller does.
  const waiting = yield* Effect.forkChild(limits.reserve("key", "two", 0))
  for (const said of yield* steps("two")) assert.include(said, "the database takes too long")
  yield* Fiber.interrupt(waiting)
  yield* Fiber.interrupt(listening)
  return { limits, steps, way, end: Scope.close(scope, Exit.void) }
})

const isLong = process.env["POSTWIRE_LONG"] === "1"

describe.skipIf(Postgres.missing !== undefined)("a database whose network swallows everything", () => {
  it.live("holds up nobody who waits for a step", () =>
    Effect.gen(function*() {
      const { end, way } = yield* silently
      way.cut()
      yield* end
    }).pipe(Effect.scoped), 20_000)

  it.live.skipIf(!isLong)(
    "does its part again over other connections, and holds up no end",
    () =>
      Effect.gen(function*() {
        const { end, limits, steps, way } = yield* silently
        way.silence(false)
        yield* limits.reserve("key", "three", 0)
        yield* Effect.repeat(steps("three"), { until: (said) => String(said) === String(allDone) })
        way.silence(true)
        yield* end
      }).pipe(Effect.scoped),
    60_000
  )
})
