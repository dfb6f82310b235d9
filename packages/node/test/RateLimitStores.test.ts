import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import { createClient as createRedisClient } from "@redis/client"
import { Arbitrary, Effect, Fiber, Layer, Option, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { build } from "esbuild"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { bundled, withRedisClient } from "../../core/test/support/ProgramFile.ts"
import { type Change, createClient, InvalidSettings } from "../src/index.ts"
import * as NodeClient from "../src/NodeClient.ts"
import * as RedisRateLimitStore from "../src/RedisRateLimitStore.ts"
import * as SqliteRateLimitStore from "../src/SqliteRateLimitStore.ts"
import * as RedisServer from "./support/RedisServer.ts"
import * as Windows from "./support/Windows.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const newFile = () => join(folder, `${++files}.db`)

let redis: Awaited<ReturnType<typeof RedisServer.start>> | undefined
beforeAll(async () => {
  if (RedisServer.isInstalled) redis = await RedisServer.start()
})
afterAll(() => redis?.stop())

const redisUrl = (): string => {
  if (redis === undefined) throw new Error("redis-server is not installed")
  return redis.url
}

interface Kind {
  /** What `rateLimitStore` names it. */
  readonly address: () => string
  readonly layer: (address: string) => Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings>
  /** Lets the leases in a store age by 30 seconds. */
  readonly age: (address: string, key: string) => Effect.Effect<void>
  /** Sets the clock of the store back by a day. */
  readonly setBack: (address: string, key: string) => Effect.Effect<void>
}

const day = 86_400_000

/** Changes a ledger in a file. */
const change = (path: string, key: string, f: (ledger: Ledger.Ledger) => void) =>
  Effect.sync(() => {
    const database = new DatabaseSync(path)
    const row = database.prepare("SELECT text FROM postwire_texts_1 WHERE key = ?").get(`ledger:4:{${key}}`)
    const ledger = Ledger.fromText(String(row?.["text"]), Date.now())
    f(ledger)
    database.prepare("UPDATE postwire_texts_1 SET text = ? WHERE key = ?").run(
      Ledger.toText(ledger),
      `ledger:4:{${key}}`
    )
    database.close()
  })

const sqlite: Kind = {
  address: newFile,
  layer: (path) => SqliteRateLimitStore.layer({ path }),
  age: (path, key) =>
    change(path, key, (ledger) => {
      for (const [lease, lapses] of ledger.leases) ledger.leases.set(lease, lapses - 30_000)
    }),
  setBack: (path, key) =>
    change(path, key, (ledger) => {
      ledger.at += day
      ledger.end += day
    })
}

const inRedis: Kind = {
  address: redisUrl,
  layer: (url) => RedisRateLimitStore.layerUrl({ url }),
  age: (url, key) =>
    Effect.promise(async () => {
      const client = await createRedisClient({ url }).connect()
      const leases = `postwire:ledger:3:{${key}}:leases`
      for (const lease of await client.zRange(leases, 0, -1)) await client.zIncrBy(leases, -30_000, lease)
      client.destroy()
    }),
  setBack: (url, key) =>
    Effect.promise(async () => {
      const client = await createRedisClient({ url }).connect()
      const ledger = `postwire:ledger:3:{${key}}`
      for (const field of ["at", "ends", "since", "silentUntil"]) await client.hIncrByFloat(ledger, field, day)
      client.destroy()
    })
}

/** The program of those processes. */
const caller = join(mkdtempSync(join(tmpdir(), "postwire-caller-")), "caller.mjs")
beforeAll(async () => void await bundled(new URL("support/caller.ts", import.meta.url), caller))

const spawned = new Set<ChildProcess>()
afterAll(() => {
  for (const child of spawned) child.kill("SIGKILL")
  rmSync(dirname(caller), { recursive: true })
})

/** What becomes of the calls of a process, and when its requests left. */
interface Ended {
  readonly outcomes: ReadonlyArray<string>
  readonly departures: ReadonlyArray<number>
}

/** Starts processes that make calls, all at once; what each printed, when it is done. */
const runAll = async (
  count: number,
  baseUrl: string,
  store: string,
  operation: string,
  calls: number,
  concurrency: number
) => {
  const runs = Array.from({ length: count }, () => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", caller, baseUrl, store, operation, String(calls), String(concurrency)],
      { stdio: ["pipe", "pipe", "pipe"], env: withRedisClient }
    )
    spawned.add(child)
    let printed = ""
    child.stderr.on("data", (chunk) => {
      printed += String(chunk)
    })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    return { child, lines, errors: () => printed }
  })
  await Promise.all(runs.map(({ lines }) => lines.next()))
  return runs.map(({ child, errors, lines }) => {
    child.stdin.write("go\n")
    const ended = lines.next().then(async ({ value }): Promise<Ended> => {
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
      return value === undefined ? { outcomes: [], departures: [] } : JSON.parse(value)
    })
    return { child, errors, ended }
  })
}

const int = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const report = Arbitrary.map(
  Arbitrary.all({
    answered: Arbitrary.schema(Schema.Boolean),
    isPaused: int(0, 9),
    figures: int(0, 9),
    remaining: int(0, 4),
    window: int(0, 3),
    endsIn: int(300_000, 900_000)
  }),
  ({ answered, endsIn, figures, isPaused, remaining, window }): Ledger.Report => ({
    answered,
    next: isPaused < 2 ? 200_000 : undefined,
    pause: isPaused === 9 ? 100_000 : undefined,
    figures: figures < 3
      ? undefined
      : { limit: figures === 9 ? undefined : 15, remaining, window: 1_000 + window * 100, endsIn }
  })
)

const step = Arbitrary.all({
  reserves: Arbitrary.schema(Schema.Boolean),
  lease: int(0, 2),
  isPaced: int(0, 9),
  line: int(0, 3),
  callers: int(1, 3),
  waited: int(0, 3),
  report
})

let keys = 0

const suite = (kind: Kind): void => {
  it.effect.prop(
    "decides as the ledger does",
    { steps: Arbitrary.array(step, { maxLength: 25 }) },
    ({ steps }) =>
      Effect.gen(function*() {
        const model = RateLimitStore.makeMemory()
        const store = yield* RateLimitStore.RateLimitStore
        const key = `property ${++keys}`
        for (const { callers, isPaced, lease, line, report, reserves, waited } of steps) {
          // Stores may have a clock of their own, so that time has to pass for both.
          yield* TestClock.adjust(2)
          yield* Effect.promise(() => sleep(2))
          if (reserves) {
            const pace = isPaced > 6 ? 100_000 : 0
            // One of four comes without a place.
            const place = line === 0 ? undefined : { line: String(line), callers, waited: waited * 10_000 }
            const expected = yield* model.reserve(key, String(lease), pace, place)
            const decision = yield* store.reserve(key, String(lease), pace, place)
            assert.strictEqual(decision.granted, expected.granted)
            if (expected.granted) assert.deepStrictEqual(decision, expected)
            if (!decision.granted && !expected.granted) {
              assert.strictEqual(decision.reason, expected.reason)
              assert.closeTo(decision.millis, expected.millis, 30_000)
            }
          } else {
            const emptied = line === 0 ? undefined : String(line)
            yield* model.settle(key, String(lease), { ...report, emptied })
            yield* store.settle(key, String(lease), { ...report, emptied })
          }
          const expected = yield* model.read(key)
          const reading = yield* store.read(key)
          assert.strictEqual(reading.inFlight, expected.inFlight)
          assert.strictEqual(reading.window?.limit, expected.window?.limit)
          assert.strictEqual(reading.window?.remaining, expected.window?.remaining)
          assert.strictEqual(reading.window?.window, expected.window?.window)
          assert.closeTo(reading.window?.endsIn ?? 0, expected.window?.endsIn ?? 0, 30_000)
        }
      }).pipe(Effect.provide(kind.layer(kind.address()))),
    { timeout: 60_000, arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 100 : 25 } }
  )

  it.effect("does not keep a window that later requests do not confirm", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const key = `window ${++keys}`
      const answer = (remaining: number, window: number): Ledger.Report => ({
        answered: true,
        figures: { limit: 15, remaining, window, endsIn: 600_000 }
      })
      const passing = Effect.andThen(TestClock.adjust(2), Effect.promise(() => sleep(2)))
      yield* store.reserve(key, "a", 0)
      yield* store.settle(key, "a", answer(9, 2_000))
      yield* passing
      assert.deepInclude(yield* store.reserve(key, "b", 0), { granted: true })
      yield* store.settle(key, "late", answer(3, 1_000))
      assert.strictEqual((yield* store.read(key)).window?.remaining, 9)
      yield* store.settle(key, "b", answer(8, 1_000))
      assert.deepInclude((yield* store.read(key)).window, { remaining: 8, window: 1_000 })
    }).pipe(Effect.provide(kind.layer(kind.address()))))

  it("lets four processes use every request of two windows, and none more", async () => {
    using service = await Windows.start({ limit: 60, window: 10 })
    const address = kind.address()
    const runs = await runAll(4, service.baseUrl, address, "getPost", 30, 10)
    const outcomes = (await Promise.all(runs.map(({ ended }) => ended))).flatMap(({ outcomes }) => outcomes)
    assert.deepStrictEqual(outcomes, Array.from({ length: 120 }, () => "ok"))
    assert.deepStrictEqual(service.used(), [60, 60])
    assert.strictEqual(service.refusals(), 0)
    assert.strictEqual(runs.map(({ errors }) => errors()).join(""), "")
  }, 60_000)

  it("keeps two processes a second apart from each other", async () => {
    using service = await Windows.start({ limit: 300, window: 900 })
    const address = kind.address()
    const runs = await runAll(2, service.baseUrl, address, "searchAllPosts", 2, 2)
    const ended = await Promise.all(runs.map(({ ended }) => ended))
    assert.deepStrictEqual(ended.flatMap(({ outcomes }) => outcomes), ["ok", "ok", "ok", "ok"])
    const departures = ended.flatMap(({ departures }) => departures).sort((a, b) => a - b)
    assert.lengthOf(departures, service.arrivals.length)
    // When a request left is exact. When it came is not: the service is in this process, which may be late to look.
    service.arrivals.slice(1).forEach((arrival, before) => {
      assert.isAtLeast(arrival - departures[before]!, 1_000)
    })
  }, 30_000)

  it("goes on when a process is killed: three others finish without a refusal", async () => {
    let kill = () => {}
    using service = await Windows.start({ limit: 120, window: 900, onRequest: (_, count) => count === 20 && kill() })
    const address = kind.address()
    const [victim, ...others] = await runAll(4, service.baseUrl, address, "getPost", 30, 5)
    kill = () => victim!.child.kill("SIGKILL")
    const outcomes = (await Promise.all(others.map(({ ended }) => ended))).flatMap(({ outcomes }) => outcomes)
    assert.deepStrictEqual(outcomes, Array.from({ length: 90 }, () => "ok"))
    assert.strictEqual(victim!.child.signalCode, "SIGKILL")
    assert.strictEqual(service.refusals(), 0)
  }, 30_000)

  it.effect("serves who came clearly earlier in another process", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const key = `turns ${++keys}`
      const figures = { limit: 15, remaining: 3, window: 1_000, endsIn: 900_000 }
      const ask = (line: string, waited: number, callers = 1) =>
        Effect.map(
          store.reserve(key, `${line}${++keys}`, 0, { line, waited, callers }),
          (decision) => decision.granted || decision.reason
        )
      yield* store.reserve(key, "a", 0)
      // Others wait for the answer of the first.
      assert.strictEqual(yield* ask("old", 60_000, 2), "in flight")
      assert.strictEqual(yield* ask("young", 1_000), "in flight")
      yield* store.settle(key, "a", { answered: true, figures })
      assert.isTrue(yield* ask("young", 1_000))
      assert.strictEqual(yield* ask("young", 1_000), "turn")
      assert.strictEqual(yield* ask("young", 57_000), "turn")
      assert.isTrue(yield* ask("younger than two seconds", 59_000))
      yield* store.settle(key, "a", { answered: true, figures: { ...figures, remaining: 2, window: 2_000 } })
      yield* store.settle(key, "b", { answered: false, emptied: "old" })
      assert.strictEqual(yield* ask("young", 1_000), "in flight")

      const paced = `paced ${++keys}`
      yield* store.reserve(paced, "a", 0)
      const old = { line: "old", waited: 60_000, callers: 2 }
      const young = { line: "young", waited: 1_000, callers: 1 }
      yield* store.reserve(paced, "b", 500, old)
      yield* store.settle(paced, "a", { answered: true })
      assert.deepInclude(yield* store.reserve(paced, "c", 500, young), { granted: false, reason: "turn" })
      assert.isTrue((yield* store.reserve(paced, "b", 500, old)).granted)
      assert.deepInclude(yield* store.reserve(paced, "c", 500, young), { granted: false, reason: "pace" })
    }).pipe(Effect.provide(kind.layer(kind.address()))))

  const figures = (remaining: number): Ledger.Report => ({
    answered: true,
    figures: { limit: 15, remaining, window: 1_000, endsIn: 900_000 }
  })

  it.effect("does not believe what was written by a clock that was a day ahead", () => {
    const address = kind.address()
    const key = `ahead ${++keys}`
    return Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      yield* store.reserve(key, "a", 0)
      yield* store.settle(key, "a", figures(0))
      assert.deepInclude(yield* store.reserve(key, "b", 0), { granted: false, reason: "window" })
      yield* kind.setBack(address, key)
      assert.deepStrictEqual(yield* store.read(key), { window: undefined, inFlight: 0 })
      assert.deepInclude(yield* store.reserve(key, "b", 0), { granted: true })
    }).pipe(Effect.provide(kind.layer(address)))
  })

  it.effect("lets the leases of the dead lapse", () => {
    const address = kind.address()
    const key = `dead ${++keys}`
    return Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      yield* store.reserve(key, "a", 0)
      yield* store.settle(key, "a", figures(1))
      assert.deepInclude(yield* store.reserve(key, "dead", 0), { granted: true })
      assert.deepInclude(yield* store.reserve(key, "b", 0), { granted: false, reason: "in flight" })
      yield* kind.age(address, key)
      assert.deepInclude(yield* store.reserve(key, "b", 0), { granted: true })
    }).pipe(Effect.provide(kind.layer(address)))
  })
}

describe("SQLite", () => {
  suite(sqlite)

  it.effect("goes by one clock for processes whose own clocks differ", () =>
    Effect.gen(function*() {
      const path = newFile()
      const figures = { limit: 15, remaining: 0, window: 1_000, endsIn: 900_000 }
      const used = Effect.provide(RateLimitStore.RateLimitStore, SqliteRateLimitStore.layer({ path }))
      yield* TestClock.setTime(30_000)
      const ahead = yield* used
      yield* ahead.reserve("a", "1", 0)
      yield* ahead.settle("a", "1", { answered: true, figures })
      yield* TestClock.setTime(0)
      const behind = yield* used
      assert.deepInclude(yield* behind.reserve("a", "2", 0), { granted: false, reason: "window" })
    }))

  it.effect("whose file is locked blocks neither the thread nor who gives up, and is gone after two seconds", () =>
    Effect.gen(function*() {
      for (const isOpen of [true, false]) {
        const path = newFile()
        const other = new DatabaseSync(path)
        yield* Effect.gen(function*() {
          const store = yield* RateLimitStore.RateLimitStore
          if (isOpen) yield* store.reserve("a", "1", 0)
          other.exec("BEGIN EXCLUSIVE")
          const stopped = yield* Effect.forkChild(store.reserve("a", "2", 0))
          // The event loop turns.
          yield* Effect.promise(() => sleep(1))
          assert.isUndefined(stopped.pollUnsafe())
          yield* Fiber.interrupt(stopped)
          const waiting = yield* Effect.forkChild(
            Effect.all([
              Effect.flip(store.reserve("a", "3", 0)),
              Effect.flip(store.settle("a", "1", { answered: true }))
            ], {
              concurrency: 2
            })
          )
          yield* Effect.promise(() => sleep(1))
          yield* TestClock.adjust(1_900)
          assert.isUndefined(waiting.pollUnsafe())
          yield* TestClock.adjust(100)
          const errors = yield* Fiber.join(waiting)
          for (const error of errors) assert.include(error.message, "the file stays locked")
          const patient = yield* Effect.forkChild(store.reserve("b", "4", 0))
          yield* Effect.promise(() => sleep(1))
          other.exec("ROLLBACK")
          yield* TestClock.adjust(100)
          assert.deepInclude(yield* Fiber.join(patient), { granted: true })
        }).pipe(Effect.provide(SqliteRateLimitStore.layer({ path })), Effect.ensuring(Effect.sync(() => other.close())))
      }
    }))
})

describe.skipIf(!RedisServer.isInstalled)(
  "Redis (needs redis-server, of Debian's package of that name)",
  () => {
    suite(inRedis)
  }
)

describe("a store that is gone", () => {
  /** Makes calls, and returns the warnings of the process. */
  const callsWith = async (rateLimitStore: string, between: () => Promise<void> = async () => {}) => {
    const service = await Windows.start({ limit: 900, window: 900 })
    const warnings: Array<string> = []
    const note = ({ message, name }: Error) => void (name === "PostwireWarning" && warnings.push(message))
    process.on("warning", note)
    try {
      await using client = createClient({
        baseUrl: service.baseUrl,
        bearerToken: "canary-token",
        waitOnRateLimit: true,
        rateLimitStore
      })
      await client.getPost({ id: "1" })
      await between()
      await Promise.all(Array.from({ length: 20 }, () => client.getPost({ id: "1" })))
      await client.getPost({ id: "1" })
      await sleep(0)
      assert.lengthOf(service.arrivals, 22)
    } finally {
      process.off("warning", note)
      service.stop()
    }
    for (const warning of warnings) assert.notInclude(warning, "canary")
    return warnings
  }

  it("fails no call and warns once when there is no Redis", async () => {
    const port = await RedisServer.freePort()
    const warnings = await callsWith(`redis://user:canary-password@127.0.0.1:${port}`)
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0]!, /^The rate limit store does not respond: .*ECONNREFUSED/)
  })

  it("fails no call when Redis accepts and says nothing", async () => {
    const sockets = new Set<{ destroy: () => void }>()
    const silent = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1")
    await once(silent, "listening")
    try {
      const address = silent.address()
      assert.isTrue(typeof address === "object" && address !== null)
      const { port } = address as { port: number }
      assert.lengthOf(await callsWith(`redis://127.0.0.1:${port}`), 1)
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  it.effect("holds nobody who gives up while Redis says nothing", () =>
    Effect.gen(function*() {
      const silent = createServer(() => {}).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(silent, "listening"))
      const { port } = silent.address() as AddressInfo
      const connected = once(silent, "connection")
      // The clock stands: who waited for the store would wait for ever.
      yield* Effect.gen(function*() {
        const { guard } = yield* RateLimit.RateLimit
        const bucket = { operation: "getPost", credential: "bearer", key: "a" } as const
        const waiting = yield* Effect.forkChild(guard(bucket, Effect.never))
        const [socket] = yield* Effect.promise(() => connected)
        yield* Fiber.interrupt(waiting)
        socket.destroy()
        yield* Effect.promise(() => sleep(20))
      }).pipe(
        Effect.provide(
          Layer.provide(RateLimit.layerWait(), RedisRateLimitStore.layerUrl({ url: `redis://127.0.0.1:${port}` }))
        ),
        Effect.ensuring(Effect.sync(() => silent.close()))
      )
    }))

  it.skipIf(!RedisServer.isInstalled)("fails no call when Redis dies between two", async () => {
    const server = await RedisServer.start()
    try {
      assert.lengthOf(await callsWith(server.url, server.stop), 1)
    } finally {
      await server.stop()
    }
  })

  it("fails no call when the file breaks between two", async () => {
    const path = newFile()
    const spoil = async () => {
      const other = new DatabaseSync(path)
      other.exec("DROP TABLE postwire_texts_1")
      other.close()
    }
    assert.lengthOf(await callsWith(path, spoil), 1)
  })
})

describe("onRateLimit", () => {
  it("hears of every budget and wait, decides nothing, and nothing is printed", async () => {
    const printed = vi.spyOn(console, "log").mockImplementation(() => {})
    const service = await Windows.start({ limit: 2, window: 5 })
    const changes: Array<Change> = []
    try {
      await using client = createClient({
        baseUrl: service.baseUrl,
        bearerToken: "canary-token",
        waitOnRateLimit: true,
        onRateLimit: (change) => {
          changes.push(change)
          throw new Error("a hook of no use")
        }
      })
      for (let i = 0; i < 3; i++) await client.getPost({ id: "1" })
    } finally {
      service.stop()
      printed.mockRestore()
    }
    assert.deepStrictEqual(
      changes.map((change) => [change.operation, change._tag === "Announced" ? change.remaining : change.reason]),
      [["getPost", 1], ["getPost", 0], ["getPost", "window"], ["getPost", 1]]
    )
    assert.notInclude(JSON.stringify(changes), "canary")
    assert.strictEqual(service.refusals(), 0)
    assert.lengthOf(printed.mock.calls, 0)
  })
})

describe("a store that cannot be used", () => {
  const settings = { baseUrl: "http://127.0.0.1:1", bearerToken: "a", waitOnRateLimit: true }

  const refusalOf = (rateLimitStore: string): InvalidSettings => {
    try {
      createClient({ ...settings, rateLimitStore })
    } catch (error) {
      assert.instanceOf(error, InvalidSettings)
      assert.strictEqual(error.setting, "rateLimitStore")
      return error
    }
    assert.fail("it was accepted")
  }

  it("is an error when the client is made: a file that cannot be opened, or is none of SQLite's", () => {
    assert.include(refusalOf(join(folder, "no", "such", "folder.db")).message, "unable to open database file")
    const other = newFile()
    writeFileSync(other, "something else\n".repeat(1000))
    assert.include(refusalOf(other).message, "file is not a database")
  })

  it("is none when another process has locked the file", async () => {
    const path = newFile()
    const other = new DatabaseSync(path)
    other.exec("PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE")
    await createClient({ ...settings, rateLimitStore: path }).close()
    other.close()
  })

  it("is an error that says what to install when there is no client of Redis, whatever the working directory has", async () => {
    // A program in one file, far from any package.
    const program = join(folder, "program.mjs")
    await build({
      stdin: {
        contents: `
          import { createClient, InvalidSettings } from "@postwire/node"
          const settings = { baseUrl: "http://127.0.0.1:1", bearerToken: "a", rateLimitStore: "redis://127.0.0.1:1" }
          await createClient(settings).close()
          try {
            createClient({ ...settings, waitOnRateLimit: true })
          } catch (error) {
            console.log(error instanceof InvalidSettings, error.message)
          }
        `,
        resolveDir: fileURLToPath(new URL("..", import.meta.url))
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["undici"]
    })
    // pnpm starts what it starts with a path on which there is one.
    const { NODE_PATH: _, ...env } = process.env
    const foreign = join(folder, "elsewhere", "node_modules", "@redis", "client")
    mkdirSync(foreign, { recursive: true })
    writeFileSync(join(foreign, "index.js"), "console.log('foreign')")
    const cwd = join(folder, "elsewhere")
    const { stderr, stdout } = spawnSync(process.execPath, [program], { cwd, env, encoding: "utf8" })
    assert.strictEqual(
      stdout,
      "true rateLimitStore in Redis needs the package @redis/client, which is not installed: npm install @redis/client.\n",
      stderr
    )
  })
})

describe("settings", () => {
  it("take a host for no file", () => {
    for (
      const [path, isOne] of [
        ["./limits", true],
        ["limits.db", true],
        ["C:\\job\\limits.sqlite", true],
        ["/var/lib/job/a@b:1.sqlite3", true],
        ["localhost", false],
        ["10.0.0.5", false],
        ["redis.internal:6379", false],
        ["redis.internal:6379/0", false],
        ["user:canary@redis.internal/0", false]
      ] as const
    ) {
      const check = Effect.runSync(Effect.exit(NodeClient.check({ baseUrl: "http://127.0.0.1", rateLimitStore: path })))
      assert.strictEqual(check._tag === "Success", isOne, path)
      assert.notInclude(String(check), "canary")
    }
  })

  it("of the environment have an address of Redis, with or without its scheme", () => {
    for (
      const [variable, expected] of [
        ["redis://service.test", "redis://service.test"],
        ["rediss://a:b@service.test:1/2", "rediss://a:b@service.test:1/2"],
        ["localhost:6379", "redis://localhost:6379"],
        ["limits.db", "redis://limits.db"],
        ["", undefined],
        ["./limits.db", InvalidSettings],
        ["/var/lib/limits.db", InvalidSettings],
        ["var/limits.db", InvalidSettings],
        ["http://service.test", InvalidSettings]
      ] as const
    ) {
      const settings = { baseUrl: "http://127.0.0.1", ...NodeClient.fromEnvironment({ POSTWIRE_REDIS_URL: variable }) }
      const check = Effect.runSync(Effect.result(NodeClient.check(settings)))
      if (expected === InvalidSettings) {
        assert.instanceOf(Result.getFailure(check).pipe(Option.getOrThrow), InvalidSettings)
      } else assert.deepStrictEqual([check._tag, settings.rateLimitStore], ["Success", expected])
    }
  })

  it("refuse what is no store, no hook and no wait", () => {
    const cases = [
      [{ rateLimitStore: "" }, "rateLimitStore"],
      [{ rateLimitStore: "http://canary@localhost" }, "rateLimitStore"],
      [{ rateLimitStore: "redis://canary:canary@[" }, "rateLimitStore"],
      [{ maxWait: NaN }, "maxWait"],
      [{ maxWait: -1 }, "maxWait"]
    ] as const
    for (const [settings, setting] of cases) {
      try {
        createClient({ baseUrl: "http://127.0.0.1", ...settings })
        assert.fail("it was accepted")
      } catch (error) {
        assert.instanceOf(error, InvalidSettings)
        assert.strictEqual(error.setting, setting)
        assert.notInclude(error.message, "canary")
      }
    }
  })
})
