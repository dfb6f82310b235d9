/**
 * The accounts of several machines, in Redis: a text each, and a lock that expires soon after its holder has died. A client that
 * has lost the lock does not overwrite newer texts.
 *
 * A refresh token is used once, so Redis must not lose acknowledged writes: `appendonly yes` with `appendfsync always`,
 * `maxmemory-policy noeviction` or one of the `volatile` policies, and `min-replicas-to-write 1` if a replica may take over.
 * The texts are not encrypted.
 */
import { type InvalidSettings, TokenStoreFailure, type TokenStoreFault } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as RedisConnection from "./internal/redisConnection.ts"
import type { Script } from "./internal/redisScripts.ts"

/** Settings of the store with its own connection. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
  /**
   * Milliseconds for which the lock outlives a holder that died, and for which a holder may be delayed (stopped, swapped out, cut
   * off) without losing the tokens it has refreshed. Default: 10,000.
   */
  readonly lease?: number | undefined
}

/** Checks an address without showing it: it may contain a password. */
export const checkUrl = (given: string | Redacted.Redacted): Effect.Effect<string, InvalidSettings> =>
  RedisConnection.checkUrl(given, "tokenStore")

/** Shorter than the longest wait for a lock, so that others continue when a holder has died. */
const defaultLeaseMillis = 10_000

/** The longest wait for the lock of an account. */
const lockTimeoutMillis = 30_000

const betweenAttemptsMillis = 20

/** An idle connection is often broken: the next one works. */
const again = Schedule.upTo(Schedule.spaced(100), { times: 2 })

/** Retries a write for longer: an unwritten refresh token is lost, since the previous one cannot be used again. */
const insistently = Schedule.upTo(Schedule.spaced(250), { duration: 10_000 })

type Action = TokenStoreFailure["action"]

const keyOf = (name: string) => `postwire:account:${name}`

/** In the cluster slot of its text, whose key is hashed as a whole. */
const lockOf = (name: string) => `{${keyOf(name)}}:lock`

const script = <Params extends ReadonlyArray<unknown>, Result>(
  numberOfKeys: number,
  params: Script<Params, Result>["params"],
  lua: string
): Script<Params, Result> => ({ numberOfKeys, params, lua })

/** Restricts a change to the holder of the lock. */
const ifHeld = (change: string) => `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end ${change} return 1`

const scripts = {
  read: script<[name: string], string | null>(1, (name) => [keyOf(name)], `return redis.call("GET", KEYS[1])`),
  names: script<[], ReadonlyArray<string>>(
    0,
    () => [],
    `local cursor, found = "0", {}
repeat
  local page = redis.call("SCAN", cursor, "MATCH", "${keyOf("*")}", "COUNT", 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do found[#found + 1] = key end
until cursor == "0"
return found`
  ),
  // Idempotent for its holder, as needed after a lost response.
  lock: script<[name: string, holder: string, lease: number], 0 | 1>(
    1,
    (name, holder, lease) => [lockOf(name), holder, lease],
    `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end
${ifHeld(`redis.call("PEXPIRE", KEYS[1], ARGV[2])`)}`
  ),
  prolong: script<[name: string, holder: string, lease: number], 0 | 1>(
    1,
    (name, holder, lease) => [lockOf(name), holder, lease],
    ifHeld(`redis.call("PEXPIRE", KEYS[1], ARGV[2])`)
  ),
  release: script<[name: string, holder: string], 0 | 1>(
    1,
    (name, holder) => [lockOf(name), holder],
    ifHeld(`redis.call("DEL", KEYS[1])`)
  ),
  write: script<[name: string, holder: string, text: string], 0 | 1>(
    2,
    (name, holder, text) => [lockOf(name), keyOf(name), holder, text],
    ifHeld(`redis.call("SET", KEYS[2], ARGV[2])`)
  ),
  remove: script<[name: string, holder: string], 0 | 1>(
    2,
    (name, holder) => [lockOf(name), keyOf(name), holder],
    ifHeld(`redis.call("DEL", KEYS[2])`)
  )
}

const make = (
  redis: RedisConnection.Evaluator,
  place: string,
  lease = defaultLeaseMillis
): TokenStore.Store => {
  /** The holder ids of this store's locks, by account name. */
  const held = new Map<string, string>()
  const describe = (name: string) => `${keyOf(name)} in ${place}`

  const asking = <Params extends ReadonlyArray<unknown>, Result>(script: Script<Params, Result>) => {
    const ask = redis.eval(script)
    return (...params: Params) => RedisConnection.step(redis, ask(...params))
  }
  const ask = {
    read: asking(scripts.read),
    names: asking(scripts.names),
    lock: asking(scripts.lock),
    prolong: asking(scripts.prolong),
    release: asking(scripts.release),
    write: asking(scripts.write),
    remove: asking(scripts.remove)
  }

  const patiently = <A>(
    store: string,
    action: Action,
    step: Effect.Effect<A, RedisConnection.StepFailed>,
    schedule: Schedule.Schedule<unknown> = again
  ) => Effect.mapError(Effect.retry(step, { schedule, while: isPassing }), failureOf(store, action))

  const lock = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, TokenStoreFailure, Scope.Scope> {
    const holder = crypto.randomUUID()
    // Also if it is unknown whether the lock was acquired.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.sync(() => held.get(name) === holder && held.delete(name)),
        Effect.ignore(ask.release(name, holder))
      )
    )
    yield* Effect.timeoutOrElse(
      Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
        // While another fiber of this store that has lost the lock still runs, its writes must not count as those of this one.
        const attempt = Effect.suspend(() =>
          held.has(name) ? Effect.succeed(0) : patiently(describe(name), "lock", ask.lock(name, holder, lease))
        )
        while ((yield* restore(attempt)) === 0) yield* restore(Effect.sleep(betweenAttemptsMillis))
        held.set(name, holder)
      })),
      {
        duration: lockTimeoutMillis,
        orElse: () =>
          Effect.fail(
            failure(describe(name), "lock", "locked", `for ${lockTimeoutMillis / 1000} s`)
          )
      }
    )
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(Effect.sleep(lease / 5), Effect.ignore(ask.prolong(name, holder, lease))))
    )
  })

  const writeLocked = Effect.fnUntraced(function*(name: string, text: string | undefined) {
    const holder = held.get(name) ?? ""
    const step = text === undefined ? ask.remove(name, holder) : ask.write(name, holder, text)
    if ((yield* patiently(describe(name), "write", step, insistently)) === 0) {
      return yield* failure(
        describe(name),
        "write",
        "locked",
        `our lock lapsed after ${lease / 1000} s without news of us, and another may have it`
      )
    }
  })

  return {
    describe,
    read: (name) => Effect.map(patiently(describe(name), "read", ask.read(name)), (text) => text ?? undefined),
    write: (name, text) =>
      Effect.suspend(() =>
        held.has(name)
          ? writeLocked(name, text)
          : Effect.scoped(Effect.andThen(lock(name), writeLocked(name, text)))
      ),
    lock,
    names: Effect.map(
      patiently(place, "read", ask.names()),
      (keys) => [...new Set(keys)].map((key) => key.slice(keyOf("").length)).sort()
    )
  }
}

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<TokenStore.TokenStore, never, Redis.Redis> = /*#__PURE__*/ Layer.effect(
  TokenStore.TokenStore,
  /*#__PURE__*/ Effect.map(Redis.Redis, (redis) => make(RedisConnection.ofService(redis), "Redis"))
)

/**
 * The store with its own connection, opened at the first use and closed with the scope. Fails when the address is invalid or the
 * package `@redis/client` is not installed. A server that does not respond fails the operations that use it.
 */
export const layerUrl = (options: Options): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.effect(
    TokenStore.TokenStore,
    Effect.map(RedisConnection.connectionOf(options.url, "tokenStore"), (redis) =>
      make(redis, placeOf(options), options.lease))
  )

/** An address without the user and the password. */
const placeOf = ({ url }: Options): string => {
  const { host, pathname, protocol } = new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url)
  return `${protocol}//${host}${pathname}`
}

const failure = (store: string, action: Action, fault: TokenStoreFault, detail?: string) =>
  new TokenStoreFailure({ store, action, fault, detail })

const failureOf = (store: string, action: Action) => ({ reason }: RedisConnection.StepFailed): TokenStoreFailure =>
  failure(store, action, faultOf(reason), reason)

/** The fault by the codes of Redis, which may be anywhere in the error of a script. */
const faultOf = (reason: string): TokenStoreFault =>
  faults.find(([code]) => reason.includes(code))?.[1] ?? "unavailable"

const faults: ReadonlyArray<readonly [code: string, fault: TokenStoreFault]> = [
  ["OOM", "full"],
  ["READONLY", "forbidden"],
  ["NOAUTH", "forbidden"],
  ["WRONGPASS", "forbidden"],
  ["NOPERM", "forbidden"],
  ["WRONGTYPE", "damaged"]
]

/** Tests whether a retry may succeed. */
const isPassing = ({ reason }: RedisConnection.StepFailed): boolean => faultOf(reason) === "unavailable"
