/**
 * Spending of several machines, in Redis.
 *
 * @stability experimental
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import type * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as RedisConnection from "./internal/redisConnection.ts"
import * as RedisStorage from "./internal/redisStorage.ts"

/** Settings of the store with its own connection. */
export interface Options extends RedisConnection.Options {}

const make = (evaluate: RedisConnection.Evaluate) => SpendStore.fromStorage(RedisStorage.make(evaluate))

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<SpendStore.SpendStore, never, Redis.Redis> = /*#__PURE__*/ RedisConnection.layer(
  SpendStore.SpendStore,
  make
)

/**
 * The store with its own connection, opened at the first request and closed with the scope. Fails when the address is invalid
 * or the package `@redis/client` is not installed, but not when the server does not respond.
 */
export const layerUrl = (options: Options): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  RedisConnection.layerUrl(SpendStore.SpendStore, options, "spendStore", make)
