import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { createClient } from "@redis/client"
import { Context, Effect, Layer } from "effect"
import * as Redis from "effect/persistence/Redis"
import { inspect } from "node:util"
import * as RedisTokenStore from "../src/RedisTokenStore.ts"
import * as RedisServer from "./support/RedisServer.ts"

const title = RedisServer.isInstalled ? "accounts in Redis" : "accounts in Redis: skipped, for want of redis-server"

describe.skipIf(!RedisServer.isInstalled)(title, () => {
  let redis: Awaited<ReturnType<typeof RedisServer.start>>
  const connect = (url: string) => createClient({ url }).on("error", () => {}).connect()
  let client: Awaited<ReturnType<typeof connect>>
  beforeAll(async () => {
    redis = await RedisServer.start()
    client = await connect(redis.url)
  })
  afterAll(async () => {
    client.destroy()
    await redis.stop()
  })

  const store = (url = redis.url) =>
    Effect.map(
      Layer.build(Layer.fresh(RedisTokenStore.layerUrl({ url }))),
      (context) => Context.get(context, TokenStore.TokenStore)
    )

  const send = (...command: ReadonlyArray<string>) =>
    Effect.promise((): Promise<unknown> => client.sendCommand([...command]))

  /** What a user reads, with the address left out. */
  const said = ({ message }: StorageFailure) => message.replaceAll(redis.url, "R")

  it.live("are texts of their own, by any client of Redis", () =>
    Effect.gen(function*() {
      yield* (yield* store()).write("ada", "canary-text")
      assert.strictEqual(yield* send("GET", "postwire:account:{ada}"), "canary-text")
      const any = Redis.Redis.of({
        eval: ({ lua, numberOfKeys, params }) => (...values) =>
          Effect.promise(() =>
            client.sendCommand(["EVAL", lua, String(numberOfKeys(...values)), ...params(...values).map(String)])
          ),
        send: () => Effect.die("not used"),
        subscribe: () => Effect.die("not used"),
        reserve: Effect.die("not used")
      })
      const layer = Layer.provide(RedisTokenStore.layer, Layer.succeed(Redis.Redis, any))
      const other = Context.get(yield* Layer.build(layer), TokenStore.TokenStore)
      assert.strictEqual(yield* other.read("ada"), "canary-text")
      yield* other.write("ada", undefined)
      assert.strictEqual(yield* send("EXISTS", "postwire:account:{ada}", "postwire:lock:{ada}"), 0)
      assert.strictEqual(other.describe("ada"), "account ada in Redis")
    }))

  it.live("survive a connection that breaks, and say what else is wrong with Redis", () =>
    Effect.gen(function*() {
      const ada = yield* store(`${redis.url}/3`)
      yield* ada.write("ada", "canary-text")
      yield* send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
      assert.strictEqual(yield* ada.read("ada"), "canary-text")

      const full = "The token store account ada in R/3 cannot be locked: it is full (OOM command not allowed when " +
        "used memory > 'maxmemory'). Make room, then try again: nothing was lost."
      yield* send("CONFIG", "SET", "maxmemory", "1")
      assert.strictEqual(said(yield* Effect.flip(ada.write("ada", "b"))), full)
      yield* send("CONFIG", "SET", "maxmemory", "0")
      yield* send("REPLICAOF", "127.0.0.1", "1")
      assert.strictEqual(
        said(yield* Effect.flip(Effect.scoped(ada.lock("ada")))),
        "The token store account ada in R/3 cannot be locked: it is not ours to use (READONLY You can't write " +
          "against a read only replica). Give this user the right to read and write it."
      )
      assert.strictEqual(yield* ada.read("ada"), "canary-text")
      yield* send("REPLICAOF", "NO", "ONE")
      yield* send("RPUSH", "postwire:account:{list}", "x")
      const list = yield* Effect.flip((yield* store()).read("list"))
      assert.deepInclude(list, { fault: "damaged", place: `account list in ${redis.url}` })
    }))

  it.live("are told to be away, or not for us, without the password and the texts", () =>
    Effect.gen(function*() {
      const url = `redis://app:canary-password@127.0.0.1:${redis.port}/2`
      const stranger = yield* store(url)
      const place = `account ada in redis://127.0.0.1:${redis.port}/2`
      const refused = yield* Effect.flip(stranger.read("ada"))
      assert.deepInclude(refused, { fault: "forbidden", action: "read", place })
      assert.match(refused.message, /WRONGPASS/)
      const away = yield* store(
        `redis://app:canary-password@127.0.0.1:${yield* Effect.promise(RedisServer.freePort)}`
      )
      const unreachable = yield* Effect.flip(away.write("ada", "canary-text"))
      assert.deepInclude(unreachable, { fault: "unavailable", action: "lock" })
      assert.match(unreachable.message, /ECONNREFUSED.*\. Check its place and that it can be reached\.$/)
      const texts = [stranger, away, refused, unreachable].map((value) =>
        inspect(value, { depth: 9, showHidden: true })
      )
      assert.notInclude(texts.join() + JSON.stringify([stranger, refused, unreachable]), "canary")
      for (const wrong of ["http://canary-password@x", "redis://canary-password@x/y", "canary-password"]) {
        const error = yield* Effect.flip(Layer.build(RedisTokenStore.layerUrl({ url: wrong })))
        assert.strictEqual(
          error.message,
          "tokenStore must be an address such as redis://host:6379/0, or rediss:// for TLS."
        )
      }
    }))
})
