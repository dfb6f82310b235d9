/**
 * The accounts of several machines, in Redis: a text each, and a lock that expires soon after its holder has died. A client that
 * has lost the lock does not overwrite newer texts.
 *
 * A refresh token is used once, so Redis must not lose acknowledged writes: `appendonly yes` with `appendfsync always`,
 * `maxmemory-policy noeviction` or one of the `volatile` policies, and `min-replicas-to-write 1` if a replica may take over.
 * The texts are not encrypted.
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Texts from "@postwire/core/storage/Texts"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import type * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import * as RedisConnection from "./internal/redisConnection.ts"
import * as RedisStorage from "./internal/redisStorage.ts"

/** Settings of the store with its own connection. */
export interface Options extends RedisConnection.Options {
  /**
   * Milliseconds for which the lock outlives a holder that died, and for which a holder may be delayed (stopped, swapped out, cut
   * off) without losing the tokens it has refreshed. Default: 10,000.
   */
  readonly lease?: number | undefined
}

const make = (evaluate: RedisConnection.Evaluate, place: string, lease?: number): TokenStore.Store =>
  Texts.fromStorage(RedisStorage.make(evaluate), { place, lease })

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<TokenStore.TokenStore, never, Redis.Redis> = /*#__PURE__*/ RedisConnection.layer(
  TokenStore.TokenStore,
  (evaluate) => make(evaluate, "Redis")
)

/**
 * The store with its own connection, opened at the first use and closed with the scope. Fails when the address is invalid or the
 * package `@redis/client` is not installed. A server that does not respond fails the operations that use it.
 */
export const layerUrl = (options: Options): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  RedisConnection.layerUrl(
    TokenStore.TokenStore,
    options,
    "tokenStore",
    (evaluate) => make(evaluate, placeOf(options), options.lease)
  )

/** An address without the user and the password. */
const placeOf = ({ url }: Options): string => {
  const { host, pathname, protocol } = new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url)
  return `${protocol}//${host}${pathname}`
}
