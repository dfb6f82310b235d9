/** Rate limits of several machines, in Redis. Every step is one Lua script, by the clock of Redis. */
import { InvalidSettings } from "@postwire/core/Errors"
import type * as Ledger from "@postwire/core/Ledger"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import { connection, type Evaluator, find, type RedisFailed, stepTimeoutMillis } from "./internal/RedisConnection.ts"
import { numberOfKeys, type Script, scripts } from "./internal/RedisScripts.ts"

/** Settings of the store with a connection of its own. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
}

/** Checks an address without showing it: it may hold a password. */
export const checkUrl = (given: string | Redacted.Redacted): Effect.Effect<string, InvalidSettings> => {
  const url = Redacted.isRedacted(given) ? Redacted.value(given) : given
  return URL.canParse(url) && isServer(new URL(url)) ? Effect.succeed(url) : Effect.fail(
    new InvalidSettings({
      setting: "rateLimitStore",
      rule: "must be an address such as redis://host:6379/0, or rediss:// for TLS"
    })
  )
}

const isServer = ({ hostname, pathname, protocol }: URL): boolean =>
  /^rediss?:$/.test(protocol) && /\w|:/.test(hostname) && /^\/?\d*$/.test(pathname)

/** By the number that `reserve` answers with; 0 is none. */
const reasons: ReadonlyArray<Ledger.Reason> = ["window", "refusal", "pace", "in flight", "turn"]

const make = (redis: Evaluator): RateLimitStore.Store => {
  const reserve = redis.eval(scripts.reserve)
  const settle = redis.eval(scripts.settle)
  const read = redis.eval(scripts.read)
  const answered = <A>(step: Effect.Effect<A, RedisFailed>) =>
    Effect.andThen(redis.connected, Effect.timeout(step, stepTimeoutMillis)).pipe(
      Effect.tapError((error) => error._tag === "TimeoutError" ? redis.giveUp : Effect.void),
      Effect.mapError((error) =>
        new RateLimitStore.RateLimitStoreUnavailable({
          reason: error._tag === "TimeoutError" ? "Redis takes too long" : reasonOf(error.cause)
        })
      )
    )
  return {
    reserve: (key, lease, pace, place) =>
      Effect.map(
        answered(reserve(key, lease, pace, place)),
        ([reason, value]): Ledger.Decision =>
          reason === 0
            ? { granted: true, refusals: value }
            : { granted: false, reason: reasons[reason - 1] ?? "in flight", millis: value }
      ),
    settle: (key, lease, report) => answered(settle(key, lease, report)),
    read: (key) =>
      Effect.map(answered(read(key)), ([inFlight, endsIn, reset, remaining, limit]) => ({
        inFlight,
        window: endsIn === undefined || reset === undefined || remaining === undefined
          ? undefined
          : { endsIn, window: reset, remaining, limit: limit === undefined || limit < 0 ? undefined : limit }
      }))
  }
}

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<RateLimitStore.RateLimitStore, never, Redis.Redis> = /*#__PURE__*/ Layer.effect(
  RateLimitStore.RateLimitStore,
  /*#__PURE__*/ Effect.map(Redis.Redis, (redis) =>
    make({
      eval: <Params extends ReadonlyArray<unknown>, Result>({ lua, params }: Script<Params, Result>) =>
        redis.eval(Redis.script(params, { lua, numberOfKeys }).withReturnType<Result>()),
      connected: Effect.void,
      giveUp: Effect.void
    }))
)

/**
 * The store with a connection of its own, made at the first request and closed with the scope. Fails when the address is
 * none, or the package `@redis/client` is not installed; a server that does not answer fails nothing.
 */
export const layerUrl = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  Layer.effect(
    RateLimitStore.RateLimitStore,
    Effect.flatMap(checkUrl(options.url), (url) => {
      const path = find()
      return path === undefined
        ? Effect.fail(
          new InvalidSettings({
            setting: "rateLimitStore",
            rule: "in Redis needs the package @redis/client, which is not installed: npm install @redis/client"
          })
        )
        : Effect.map(connection(url, path), make)
    })
  )

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message.slice(0, 200) : "Redis failed"
