/**
 * Rate limits of several machines, in Redis. Every step is one Lua script, by the clock of Redis; the scripts follow the
 * rules of `RateLimitStore.reserve` and `settle`.
 */
import { InvalidSettings } from "@postwire/core/Errors"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import type { createClient } from "@redis/client"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"

/** Settings of the store with a connection of its own. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
}

/** What the names of all keys begin with. The number goes up when the form of a ledger changes. */
const prefix = "postwire:ledger:1:"

/** So many milliseconds a connection and a step may take; then the store counts as gone. A busy machine is slow too. */
const patience = { connection: 5_000, step: 2_000 }

/** Checks an address without showing it: it may hold a password. */
export const checkUrl = (given: string | Redacted.Redacted): Effect.Effect<string, InvalidSettings> => {
  const url = Redacted.isRedacted(given) ? Redacted.value(given) : given
  return URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)
    ? Effect.succeed(url)
    : Effect.fail(
      new InvalidSettings({
        setting: "rateLimitStore",
        rule: "must be an address that begins with redis:// or rediss://"
      })
    )
}

interface Evaluator extends Pick<Redis.Redis["Service"], "eval"> {
  /** Connects, when there is no connection. */
  readonly connected: Effect.Effect<unknown, Redis.RedisError | Cause.TimeoutError>
}

const make = (redis: Evaluator): RateLimitStore.Store => {
  const reserve = redis.eval(scripts.reserve)
  const settle = redis.eval(scripts.settle)
  const read = redis.eval(scripts.read)
  const answered = <A>(step: Effect.Effect<A, Redis.RedisError>) =>
    Effect.mapError(
      Effect.andThen(redis.connected, Effect.timeout(step, patience.step)),
      (error) =>
        new RateLimitStore.RateLimitStoreUnavailable({
          reason: error._tag === "TimeoutError" ? "Redis takes too long" : reasonOf(error.cause)
        })
    )
  return {
    reserve: (key, lease, pace) =>
      Effect.map(
        answered(reserve(key, lease, pace)),
        ([reason, millis]) =>
          reason === 0 ? { granted: true } : { granted: false, reason: reasons[reason - 1] ?? "in flight", millis }
      ),
    settle: (key, lease, report) => answered(settle(key, lease, report)),
    read: (key) =>
      Effect.map(answered(read(key)), ([inFlight, endsIn, window, remaining, limit]) => ({
        inFlight,
        window: endsIn === undefined || window === undefined || remaining === undefined
          ? undefined
          : { endsIn, window, remaining, limit: limit === undefined || limit < 0 ? undefined : limit }
      }))
  }
}

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<RateLimitStore.RateLimitStore, never, Redis.Redis> = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.map(Redis.Redis, (redis) => make({ eval: redis.eval, connected: Effect.void }))
)

/**
 * The store with a connection of its own, made at the first request and closed with the scope. Needs the package
 * `@redis/client`. Fails when the address is none; a server that does not answer fails nothing.
 */
export const layerUrl = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  Layer.effect(
    RateLimitStore.RateLimitStore,
    Effect.map(Effect.flatMap(checkUrl(options.url), connection), make)
  )

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message.slice(0, 200) : "Redis failed"

type Client = ReturnType<typeof createClient>

interface Open {
  client: Promise<Client> | undefined
  isReady: boolean
}

/**
 * Connects when there is something to send, and again when the connection is gone. Nothing goes on in the background, so
 * that a program ends without closing its client.
 */
const connection = (url: string) => {
  const connect = async (lose: () => void): Promise<Client> => {
    const { createClient } = await import("@redis/client")
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      // A connection on which nothing comes back is dropped, like one that is idle.
      socket: { connectTimeout: patience.connection, socketTimeout: 30_000, reconnectStrategy: false }
    })
    client.on("error", lose).on("end", lose)
    await client.connect()
    // What waits for an answer has a timer, which keeps the program going.
    client.unref()
    return client
  }
  return Effect.map(
    Effect.acquireRelease(
      Effect.sync((): Open => ({ client: undefined, isReady: false })),
      ({ client }) => Effect.sync(() => void client?.then((client) => client.destroy(), () => {}))
    ),
    (open): Evaluator => {
      const lose = () => {
        open.client = undefined
        open.isReady = false
      }
      const connected = () =>
        open.client ??= connect(lose).then(
          (client) => {
            open.isReady = true
            return client
          },
          (cause) => {
            lose()
            throw cause
          }
        )
      const evaluate = async <A>(lua: string, sha: string, rest: ReadonlyArray<string>): Promise<A> => {
        const client = await connected()
        try {
          return await client.sendCommand<A>(["EVALSHA", sha, ...rest])
        } catch (cause) {
          if (cause instanceof Error && cause.message.startsWith("NOSCRIPT")) {
            return await client.sendCommand<A>(["EVAL", lua, ...rest])
          }
          throw cause
        }
      }
      const catching = (cause: unknown) => new Redis.RedisError({ cause })
      return {
        connected: Effect.suspend(() =>
          open.isReady
            ? Effect.void
            : Effect.timeout(Effect.tryPromise({ try: connected, catch: catching }), patience.connection)
        ),
        eval: <Config extends { readonly params: ReadonlyArray<unknown>; readonly result: unknown }>(
          script: Redis.Script<Config>
        ) => {
          const sha = createHash("sha1").update(script.lua).digest("hex")
          return (...params: Config["params"]): Effect.Effect<Config["result"], Redis.RedisError> =>
            Effect.tryPromise({
              try: () =>
                evaluate<Config["result"]>(script.lua, sha, [
                  String(script.numberOfKeys(...params)),
                  ...script.params(...params).map(String)
                ]),
              catch: catching
            })
        }
      }
    }
  )
}

const reasons: ReadonlyArray<RateLimitStore.Reason> = ["window", "refusal", "pace", "in flight"]

/** The two keys of a ledger have the same hash tag, so that a cluster keeps them together. */
const keysOf = (key: string) => [`${prefix}{${key}}`, `${prefix}{${key}}:leases`]

const { lease: leaseTime, poll, probe: probeTime, silence } = RateLimitStore.times

const now = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

const get = (...fields: ReadonlyArray<string>) => `
local ${fields.join(", ")}
do
  local stored = redis.call("HMGET", KEYS[1], ${fields.map((field) => `"${field}"`).join(", ")})
  ${fields.map((field, index) => `${field} = tonumber(stored[${index + 1}]) or 0`).join("\n  ")}
end
`

const scripts = {
  reserve: Redis.script((key: string, lease: string, pace: number) => [...keysOf(key), lease, pace], {
    numberOfKeys: 2,
    lua: `${now}${get("ends", "remaining", "refusedUntil", "silentUntil", "next", "probeUntil")}
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
local pace = tonumber(ARGV[2])
if refusedUntil > now then return { 2, refusedUntil - now } end
local known = now < ends
local probes = refusedUntil > 0 or (not known and now >= silentUntil)
if known and remaining < 1 then return { 1, ends - now } end
if (probes and probeUntil > now) or (known and remaining - redis.call("ZCARD", KEYS[2]) < 1) then return { 4, ${poll} } end
if pace > 0 and next > now then return { 3, next - now } end
if probes then redis.call("HSET", KEYS[1], "probe", ARGV[1], "probeUntil", now + ${probeTime}) end
if pace > 0 then redis.call("HSET", KEYS[1], "next", now + pace) end
redis.call("ZADD", KEYS[2], now + ${leaseTime}, ARGV[1])
redis.call("PEXPIRE", KEYS[2], ${leaseTime})
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, silentUntil - now))
return { 0, 0 }
`
  }).withReturnType<readonly [reason: number, millis: number]>(),

  settle: Redis.script(
    (key: string, lease: string, { answered, figures, next = 0, pause }: RateLimitStore.Report) => [
      ...keysOf(key),
      lease,
      answered ? 1 : 0,
      pause ?? -1,
      next,
      ...(figures === undefined ? [] : [figures.window, figures.endsIn, figures.remaining, figures.limit ?? -1])
    ],
    {
      numberOfKeys: 2,
      lua: `${now}${get("ends", "remaining", "window", "since", "refusedUntil", "silentUntil", "next")}
local lapses = redis.call("ZSCORE", KEYS[2], ARGV[1])
local sent = lapses and tonumber(lapses) - ${leaseTime} or 0
redis.call("ZREM", KEYS[2], ARGV[1])
if redis.call("HGET", KEYS[1], "probe") == ARGV[1] then redis.call("HDEL", KEYS[1], "probe", "probeUntil") end
local answered, pause = ARGV[2] == "1", tonumber(ARGV[3])
if pause >= 0 then refusedUntil = math.max(refusedUntil, now + pause)
elseif answered and sent >= refusedUntil then refusedUntil = 0 end
if #ARGV == 4 then
  if answered and pause < 0 then silentUntil = now + ${silence} end
else
  local announced, left, limit = tonumber(ARGV[5]), tonumber(ARGV[7]), ARGV[8]
  local e = now + tonumber(ARGV[6])
  if math.abs(announced - window) <= 1 then
    remaining = math.min(remaining, left)
    if e < ends or (now >= ends and sent >= ends) then ends = e end
  elseif announced > window or sent > since then
    remaining, window, ends, since = left, announced, e, now
    redis.call("HSET", KEYS[1], "limit", limit)
  end
end
redis.call("HSET", KEYS[1], "ends", ends, "remaining", remaining, "window", window, "since", since,
  "refusedUntil", refusedUntil, "silentUntil", silentUntil, "next", math.max(next, now + tonumber(ARGV[4])))
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, refusedUntil - now, silentUntil - now))
`
    }
  ),

  read: Redis.script((key: string) => keysOf(key), {
    numberOfKeys: 2,
    lua: `${now}${get("ends", "remaining", "window", "limit")}
local inFlight = redis.call("ZCOUNT", KEYS[2], "(" .. now, "+inf")
if now >= ends then return { inFlight } end
return { inFlight, ends - now, window, remaining, limit }
`
  }).withReturnType<readonly [inFlight: number, endsIn?: number, window?: number, remaining?: number, limit?: number]>()
}
