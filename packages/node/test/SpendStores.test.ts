import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SpendStore } from "../../core/src/spend/SpendStore.ts"
import { ageFile, Aging, agingMillis, suite } from "../../core/test/support/SpendStores.ts"
import { createClient, SpendLimitReached } from "../src/index.ts"
import * as RedisSpendStore from "../src/RedisSpendStore.ts"
import * as SqliteSpendStore from "../src/SqliteSpendStore.ts"
import * as RedisServer from "./support/RedisServer.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const path = join(folder, "spend.db")
suite(
  "in SQLite",
  Layer.merge(
    SqliteSpendStore.layer({ path }),
    Layer.succeed(
      Aging,
      Effect.sync(() => ageFile(path, agingMillis))
    )
  )
)

suite(
  "in Redis",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.promise(() => RedisServer.start()), (redis) => Effect.promise(() => redis.stop())),
      ({ age, url }) =>
        Layer.merge(RedisSpendStore.layerUrl({ url }), Layer.succeed(Aging, Effect.promise(() => age(agingMillis))))
    )
  ),
  { skip: !RedisServer.isInstalled }
)

describe("a file", () => {
  const day = "2026-11-22"
  const reservation = { day, operation: "getPosts", account: "ada", micros: 200_000 }

  it("has in doubt what a process reserved that is gone, so that calls fail immediately", async () => {
    const path = join(folder, "gone.db")
    const program = fileURLToPath(new URL("support/reserver.ts", import.meta.url))
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", program, path, "bill", day],
      { encoding: "utf8" }
    )
    assert.strictEqual(status, 0, stderr)
    await SpendStore.use((store) =>
      Effect.gen(function*() {
        const limits = { perDay: 500_000 }
        const amounts = { spent: 0, inDoubt: 400_000, reserved: 0 }
        assert.deepInclude(yield* store.reserve("bill", "own", reservation, limits), { refused: "day", day: amounts })
        // What a living process has reserved is in flight.
        yield* store.reserve("bill", "own", { ...reservation, micros: 100_000 }, limits)
        const refused = yield* store.reserve("bill", "other", reservation, limits)
        assert.deepInclude(refused, { refused: "day", day: { ...amounts, reserved: 100_000 } })
      })
    ).pipe(Effect.provide(SqliteSpendStore.layer({ path })), Effect.runPromise)
  })

  it("keeps in doubt what was reserved before the machine's clock was set back, and long ago", async () => {
    const path = join(folder, "set-back.db")
    await SpendStore.use((store) =>
      Effect.gen(function*() {
        yield* store.reserve("bill", "ahead", reservation, {})
        ageFile(path, -2 * agingMillis)
        yield* store.reserve("bill", "old", reservation, {})
        ageFile(path, agingMillis)
        const { day: amounts } = yield* store.reserve("bill", "later", reservation, {})
        assert.deepStrictEqual(amounts, { spent: 0, inDoubt: 400_000, reserved: 0 })
      })
    ).pipe(Effect.provide(SqliteSpendStore.layer({ path })), Effect.runPromise)
  })

  it.skipIf(process.platform === "win32")("is private to its user", async () => {
    const path = join(folder, "private.db")
    const umask = process.umask(0o022)
    try {
      await SpendStore.use((store) =>
        Effect.andThen(
          store.reserve("bill", "a", reservation, {}),
          Effect.sync(() => {
            const names = readdirSync(folder).filter((name) => name.startsWith("private.db"))
            assert.deepStrictEqual(names.sort(), ["private.db", "private.db-shm", "private.db-wal"])
            for (const name of names) assert.strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600, name)
          })
        )
      ).pipe(Effect.provide(SqliteSpendStore.layer({ path })), Effect.runPromise)
    } finally {
      process.umask(umask)
    }
  })
})

/** Posts by their ids; for the id 9, half of an answer; for 8, none. */
const start = async () => {
  const server = createServer((request, response) => {
    const ids = new URL(request.url ?? "", "http://service.test").searchParams.get("ids")?.split(",") ?? []
    if (ids.includes("8")) return void request.socket.destroy()
    const body = JSON.stringify({ data: ids.map((id) => ({ id, text: "a" })) })
    response.writeHead(200, { "content-length": body.length })
    if (!ids.includes("9")) return void response.end(body)
    response.write(body.slice(0, 5), () => request.socket.destroy())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

describe("clients of Promises with one file", () => {
  it("share the resources of a day, and the limit", async () => {
    using service = await start()
    const settings = {
      baseUrl: service.baseUrl,
      bearerToken: "a",
      retries: 0,
      spendLimit: { perDay: 0.02 },
      spendStore: join(folder, "shared.db")
    }
    await using one = createClient(settings)
    await using other = createClient(settings)
    assert.deepStrictEqual((await one.getPosts({ ids: ["1", "2"] })).cost, { dollars: 0.01, charged: 2, repeats: 0 })
    assert.deepStrictEqual((await other.getPosts({ ids: ["2", "3"] })).cost, { dollars: 0.005, charged: 1, repeats: 1 })
    const error = await one.getPosts({ ids: ["4", "5"] }).then(() => undefined, (error: unknown) => error)
    assert.instanceOf(error, SpendLimitReached)
    assert.deepInclude(error, { period: "day", spent: 0.015, limit: 0.02, needed: 0.01 })
  })

  it("count in doubt what was cut off or never answered", async () => {
    using service = await start()
    const told: Array<readonly [dollars: number, inDoubt: boolean]> = []
    await using client = createClient({
      baseUrl: service.baseUrl,
      bearerToken: "a",
      retries: 0,
      onSpend: ({ dollars, inDoubt }) => void told.push([dollars, inDoubt])
    })
    for (const id of ["9", "8"]) await client.getPosts({ ids: ["1", id] }).catch(() => {})
    await client.getPosts({ ids: ["1"] })
    assert.deepStrictEqual(told, [[0.01, true], [0.01, true], [0.005, false]])
    // Of a client that does not count, nothing is loaded or told.
    await using plain = createClient({ baseUrl: service.baseUrl, bearerToken: "a" })
    assert.isUndefined((await plain.getPosts({ ids: ["1"] })).cost)
  })
})
