/** Spending of several machines, in Redis. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as Redacted from "effect/Redacted"
import * as RedisConnection from "./internal/redisConnection.ts"
import * as RedisStorage from "./internal/redisStorage.ts"

/** Settings of the store with its own connection. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
}

/** Checks an address without showing it: it may contain a password. */
export const checkUrl = (given: string | Redacted.Redacted): Effect.Effect<string, InvalidSettings> =>
  RedisConnection.checkUrl(given, "spendStore")

const make = (redis: RedisConnection.Evaluator): SpendStore.Store =>
  SpendStore.fromStorage(RedisStorage.make(redis, (failed) => new SpendStore.SpendStoreUnavailable(failed)))

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<SpendStore.SpendStore, never, Redis.Redis> = /*#__PURE__*/ Layer.effect(
  SpendStore.SpendStore,
  /*#__PURE__*/ Effect.map(Redis.Redis, (redis) => make(RedisConnection.ofService(redis)))
)

/**
 * The store with its own connection, opened at the first request and closed with the scope. Fails when the address is invalid
 * or the package `@redis/client` is not installed, but not when the server does not respond.
 */
export const layerUrl = (options: Options): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  Layer.effect(
    SpendStore.SpendStore,
    Effect.map(RedisConnection.connectionOf(options.url, "spendStore"), make)
  )
