/** Rate limits of several machines, in Redis. Every step is one Lua script, by the clock of Redis. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import type * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as RedisConnection from "./internal/redisConnection.ts"
import { scripts } from "./internal/redisScripts.ts"

/** Settings of the store with its own connection. */
export interface Options extends RedisConnection.Options {}

/** The reasons by the number that `reserve` returns, from 1. */
const reasons: ReadonlyArray<Ledger.Reason> = ["window", "refusal", "pace", "in flight", "turn"]

const make = (evaluate: RedisConnection.Evaluate): RateLimitStore.Store => {
  const reserve = evaluate(scripts.reserve)
  const settle = evaluate(scripts.settle)
  const read = evaluate(scripts.read)
  return {
    reserve: (key, lease, pace, place) =>
      Effect.map(
        reserve(key, lease, pace, place),
        ([reason, value, briefs = 0]): Ledger.Decision =>
          reason === 0
            ? { granted: true, refusals: value, briefs }
            : { granted: false, reason: reasons[reason - 1] ?? "in flight", millis: value }
      ),
    settle: (key, lease, report) => settle(key, lease, report),
    read: (key) =>
      Effect.map(read(key), ([inFlight, endsIn, reset, remaining, limit]) => ({
        inFlight,
        window: endsIn === undefined || reset === undefined || remaining === undefined
          ? undefined
          : { endsIn, window: reset, remaining, limit: limit === undefined || limit < 0 ? undefined : limit }
      }))
  }
}

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<RateLimitStore.RateLimitStore, never, Redis.Redis> = /*#__PURE__*/ RedisConnection
  .layer(RateLimitStore.RateLimitStore, make)

/**
 * The store with its own connection, opened at the first request and closed with the scope. Fails when the address is invalid
 * or the package `@redis/client` is not installed, but not when the server does not respond.
 */
export const layerUrl = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  RedisConnection.layerUrl(RateLimitStore.RateLimitStore, options, "rateLimitStore", make)
