import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StorageFailure } from "@postwire/core/errors/Errors"
import * as OwnTokenStore from "@postwire/core/promise/TokenStore"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { ConfigProvider, Context, Effect, Fiber, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import * as NodeClient from "../src/NodeClient.ts"
import * as RedisTokenStore from "../src/RedisTokenStore.ts"
import * as RedisServer from "./support/RedisServer.ts"
import { contention, contract, type Kind, sharing } from "./support/TokenStores.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-accounts-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let places = 0

const failure = { kind: "token store", place: "rows", fault: "unavailable", action: "write" } as const

const program = new URL("support/incrementer.ts", import.meta.url)

const inFiles: Kind = {
  place: () => join(folder, String(++places), "accounts"),
  layer: (place) => FileTokenStore.layer({ folder: place }),
  program
}

describe("in memory", () => {
  const stores = new Map<string, TokenStore.Store>()
  contract({
    place: () => {
      const place = String(++places)
      stores.set(place, TokenStore.makeMemory())
      return place
    },
    layer: (place) => Layer.sync(TokenStore.TokenStore, () => stores.get(place) ?? TokenStore.makeMemory())
  })
})

describe("in files", () => {
  contract(inFiles)
  sharing(inFiles)
  contention(inFiles)
})

const inRedis = RedisServer.isInstalled
  ? "in Redis"
  : "in Redis: skipped, it needs redis-server (apt-get install redis-server)"

describe.skipIf(!RedisServer.isInstalled)(inRedis, () => {
  let redis: Awaited<ReturnType<typeof RedisServer.start>>
  let databases = 0
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis.stop())

  const kind: Kind = {
    // It has 16 of them.
    place: () => `${redis.url}/${databases++}`,
    layer: (url) => RedisTokenStore.layerUrl({ url }),
    program,
    lease: 500
  }
  contract(kind)
  sharing(kind)
  contention(kind)
})

describe("the place of accounts", () => {
  const storeOf = (place?: string) =>
    Effect.map(
      Layer.build(Layer.fresh(NodeClient.layerTokenStore({ tokenStore: place }))),
      (context) => Context.get(context, TokenStore.TokenStore)
    )

  it.effect("is a folder or an address, and what may hold a password is not shown", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* storeOf(`${folder}/x/`)).describe("ada"), join(folder, "x", "ada.json"))
      assert.strictEqual((yield* storeOf("./x")).describe("ada"), join(process.cwd(), "x", "ada.json"))
      assert.strictEqual(
        (yield* storeOf("rediss://app:canary-password@cache:6380/1")).describe("ada"),
        "account ada in rediss://cache:6380/1"
      )
      const env = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { XDG_CONFIG_HOME: folder } }))
      const own = yield* Effect.provide(storeOf(), env)
      assert.strictEqual(own.describe("ada"), join(folder, "postwire", "accounts", "ada.json"))
      const host = "may be a folder or a host: an address begins with redis://, a path has a slash (./accounts)"
      const wrong: ReadonlyArray<readonly [place: string, rule: string]> = [
        ["", "must be the path of a folder, an address, or an object with the methods read, write and lock"],
        ["canary-password@cache", host],
        ["cache:6379/0", host],
        ["accounts", host],
        ["~/canary-password", "begins with ~, which only a shell replaces: write the whole path"],
        ["postgres://app:canary-password@db/x", "must be an address such as redis://host:6379/0, or rediss:// for TLS"]
      ]
      for (const [place, rule] of wrong) {
        assert.strictEqual((yield* Effect.flip(storeOf(place))).message, `tokenStore ${rule}.`)
      }
    }))
})

describe("of the program's own", () => {
  it.effect("fails without the secrets that its error quotes: of the text before, of the new one, escaped, cut off", () =>
    Effect.gen(function*() {
      const rowOf = (secret: string) =>
        JSON.stringify({ version: 1, oauth2: { accessToken: `${secret}"tail"`, scopes: [] } })
      const [before, after, unseen] = ["canary-1", "canary-2", "canary-3"].map(rowOf)
      const quotes: ReadonlyArray<readonly [said: string, told: string]> = [
        [`replaces ${before}`, "replaces"],
        [`cannot write ${after}`, "cannot write"],
        [`row: ${JSON.stringify(after)}`, "row:"],
        [`Failing row contains (ada, ${unseen?.slice(0, 52)}`, "Failing row contains (ada,"],
        [`parameters: ${JSON.stringify({ text: unseen })}`, "parameters:"],
        [
          "the token is canary-2\"tail\", the other canary-1\\\"tail\\\"",
          "the token is <redacted>, the other <redacted>"
        ]
      ]
      for (const [said, told] of quotes) {
        for (const error of [new Error(said), new StorageFailure({ ...failure, detail: said }), said]) {
          const store = OwnTokenStore.toEffect({
            read: async () => before,
            write: () => Promise.reject(error),
            lock: async () => () => {}
          })
          yield* store.read("ada")
          const failed = yield* Effect.flip(store.write("ada", after))
          assert.include(failed.message, told)
          assert.notMatch(`${failed.message} ${failed.detail} ${failed.stack}`, /canary|tail/)
        }
      }
    }))

  it.effect("is told that nobody waits for a lock any more, and has back one that comes all the same", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<AbortSignal>()
      const locked = Promise.withResolvers<() => void>()
      const released = Promise.withResolvers<void>()
      const store = OwnTokenStore.toEffect({
        read: async () => undefined,
        write: async () => {},
        lock: (_, signal) => {
          asked.resolve(signal)
          return locked.promise
        }
      })
      const waiting = yield* Effect.forkChild(Effect.scoped(store.lock("ada")))
      const signal = yield* Effect.promise(() => asked.promise)
      yield* Fiber.interrupt(waiting)
      assert.isTrue(signal.aborted)
      locked.resolve(released.resolve)
      yield* Effect.promise(() => released.promise)
    }))
})
