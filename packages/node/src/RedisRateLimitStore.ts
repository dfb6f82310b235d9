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
const prefix = "postwire:ledger:2:"

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
  /** Nothing comes back any more. */
  readonly giveUp: Effect.Effect<void>
}

const make = (redis: Evaluator): RateLimitStore.Store => {
  const reserve = redis.eval(scripts.reserve)
  const settle = redis.eval(scripts.settle)
  const read = redis.eval(scripts.read)
  const answered = <A>(step: Effect.Effect<A, Redis.RedisError>) =>
    Effect.andThen(redis.connected, Effect.timeout(step, patience.step)).pipe(
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
        ([reason, value]): RateLimitStore.Decision =>
          reason === 0
            ? { granted: true, refusals: value }
            : { granted: false, reason: reasons[reason - 1] ?? "in flight", millis: value }
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
  Effect.map(Redis.Redis, (redis) => make({ eval: redis.eval, connected: Effect.void, giveUp: Effect.void }))
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
  client: Client | undefined
  connecting: Promise<Client> | undefined
  isReady: boolean
  isClosed: boolean
}

const drop = (open: Open): void => {
  const { client } = open
  open.client = undefined
  open.connecting = undefined
  open.isReady = false
  if (client?.isOpen === true) client.destroy()
}

/**
 * Connects when there is something to send, and again when the connection is gone. Nothing goes on in the background, so
 * that a program ends without closing its client.
 */
const connection = (url: string) => {
  const connect = async (open: Open): Promise<Client> => {
    const { createClient } = await import("@redis/client")
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      // A connection on which nothing comes back is dropped, like one that is idle.
      socket: { connectTimeout: patience.connection, socketTimeout: 30_000, reconnectStrategy: false }
    })
    const lose = () => {
      if (open.client === client) drop(open)
    }
    client.on("error", lose).on("end", lose)
    if (open.isClosed) throw new Error("the store is closed")
    open.client = client
    await client.connect()
    // What waits for an answer has a timer, which keeps the program going.
    client.unref()
    return client
  }
  return Effect.map(
    Effect.acquireRelease(
      Effect.sync((): Open => ({ client: undefined, connecting: undefined, isReady: false, isClosed: false })),
      (open) =>
        Effect.sync(() => {
          open.isClosed = true
          drop(open)
        })
    ),
    (open): Evaluator => {
      const connected = (): Promise<Client> => {
        if (open.connecting !== undefined) return open.connecting
        const connecting = connect(open).then(
          (client) => {
            open.isReady = open.connecting === connecting
            return client
          },
          (cause) => {
            if (open.connecting === connecting) drop(open)
            throw cause
          }
        )
        open.connecting = connecting
        return connecting
      }
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
        giveUp: Effect.sync(() => drop(open)),
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

const reasons: ReadonlyArray<RateLimitStore.Reason> = ["window", "refusal", "pace", "in flight", "turn"]

/** The keys of a ledger have the same hash tag, so that a cluster keeps them together. */
const keysOf = (key: string) => [`${prefix}{${key}}`, `${prefix}{${key}}:leases`, `${prefix}{${key}}:waiting`]

const { lease: leaseTime, longest, poll, probe: probeTime, recheck, silence, skew, turn } = RateLimitStore.times

/** A ledger from the future, which a clock wrote that has been set back, is not believed. */
const now = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local written = redis.call("HMGET", KEYS[1], "at", "ends")
local isBelieved = (tonumber(written[1]) or 0) <= now + ${skew} and (tonumber(written[2]) or 0) <= now + ${longest}
`

const forget = `
if not isBelieved then redis.call("DEL", KEYS[1], KEYS[2], KEYS[3]) end
`

const get = (...fields: ReadonlyArray<string>) => `
local ${fields.join(", ")}
do
  local stored = redis.call("HMGET", KEYS[1], ${fields.map((field) => `"${field}"`).join(", ")})
  ${fields.map((field, index) => `${field} = tonumber(stored[${index + 1}]) or 0`).join("\n  ")}
end
`

const scripts = {
  reserve: Redis.script(
    (key: string, lease: string, pace: number, place: RateLimitStore.Place | undefined) => [
      ...keysOf(key),
      lease,
      pace,
      place?.line ?? "",
      place?.callers ?? 0,
      Math.round(place?.waited ?? 0)
    ],
    {
      numberOfKeys: 3,
      lua: `${now}${forget}${get("ends", "remaining", "refusedUntil", "refusals", "silentUntil", "next", "probeUntil")}
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
local pace, line, callers = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local arrived = now - tonumber(ARGV[5])
local function stand(count, due)
  redis.call("HSET", KEYS[3], line, string.format("%.0f %d %.0f", arrived, count, due))
  redis.call("PEXPIRE", KEYS[3], ${recheck + 2 * turn})
end
local function wait(reason, millis)
  millis = math.ceil(millis)
  if line ~= "" then stand(callers, now + math.min(millis, ${recheck})) end
  return { reason, millis }
end
if refusedUntil > now then return wait(2, refusedUntil - now) end
local known = now < ends
local probes = refusedUntil > 0 or (not known and now >= silentUntil)
if known and remaining < 1 then return wait(1, ends - now) end
local room = known and remaining - redis.call("ZCARD", KEYS[2]) or math.huge
if (probes and probeUntil > now) or room < 1 then return wait(4, ${poll}) end
if pace > 0 and next > now then return wait(3, next - now) end
local ahead = 0
local waiting = redis.call("HGETALL", KEYS[3])
for i = 1, #waiting, 2 do
  local came, count, due = string.match(waiting[i + 1], "^(%S+) (%S+) (%S+)$")
  if tonumber(due) + ${turn} <= now then redis.call("HDEL", KEYS[3], waiting[i])
  elseif waiting[i] ~= line and tonumber(due) <= now + ${turn} and tonumber(came) + ${turn} < arrived then
    ahead = ahead + tonumber(count)
  end
end
if ahead >= ((probes or pace > 0) and 1 or room) then return wait(5, ${poll}) end
if probes then redis.call("HSET", KEYS[1], "probe", ARGV[1], "probeUntil", now + ${probeTime}) end
if pace > 0 then redis.call("HSET", KEYS[1], "next", now + pace) end
if now >= refusedUntil + ${silence} then refusals = 0 end
redis.call("HSET", KEYS[1], "refusals", refusals, "at", now)
redis.call("ZADD", KEYS[2], now + ${leaseTime}, ARGV[1])
redis.call("PEXPIRE", KEYS[2], ${leaseTime})
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, silentUntil - now))
if callers > 1 then stand(callers - 1, now)
elseif line ~= "" then redis.call("HDEL", KEYS[3], line) end
return { 0, refusals }
`
    }
  ).withReturnType<readonly [reason: number, millisOrRefusals: number]>(),

  settle: Redis.script(
    (key: string, lease: string, { answered, emptied = "", figures, next = 0, pause }: RateLimitStore.Report) => [
      ...keysOf(key),
      lease,
      answered ? 1 : 0,
      pause ?? -1,
      next,
      emptied,
      ...(figures === undefined ? [] : [figures.window, figures.endsIn, figures.remaining, figures.limit ?? -1])
    ],
    {
      numberOfKeys: 3,
      lua: `${now}${forget}${
        get("ends", "remaining", "window", "since", "refusedUntil", "refusals", "silentUntil", "next")
      }
local lapses = redis.call("ZSCORE", KEYS[2], ARGV[1])
local sent = lapses and tonumber(lapses) - ${leaseTime} or 0
redis.call("ZREM", KEYS[2], ARGV[1])
redis.call("HDEL", KEYS[3], ARGV[5])
if redis.call("HGET", KEYS[1], "probe") == ARGV[1] then redis.call("HDEL", KEYS[1], "probe", "probeUntil") end
local answered, pause = ARGV[2] == "1", tonumber(ARGV[3])
local afterwards = sent >= refusedUntil
if pause >= 0 then
  if afterwards then refusals = refusals + 1 end
  refusedUntil = math.max(refusedUntil, now + pause)
elseif answered and afterwards then refusedUntil, refusals = 0, 0 end
if #ARGV == 5 then
  if answered and pause < 0 then silentUntil = now + ${silence} end
else
  local announced, left, limit = tonumber(ARGV[6]), tonumber(ARGV[8]), ARGV[9]
  local e = now + tonumber(ARGV[7])
  if math.abs(announced - window) <= 1 then
    remaining = math.min(remaining, left)
    if e < ends or (now >= ends and sent >= ends) then ends = e end
  elseif announced > window or sent > since then
    remaining, window, ends, since = left, announced, e, now
    redis.call("HSET", KEYS[1], "limit", limit)
  end
end
redis.call("HSET", KEYS[1], "at", now, "ends", ends, "remaining", remaining, "window", window, "since", since,
  "refusedUntil", refusedUntil, "refusals", refusals, "silentUntil", silentUntil,
  "next", math.max(next, now + tonumber(ARGV[4])))
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, refusedUntil + ${silence} - now, silentUntil - now))
`
    }
  ),

  read: Redis.script((key: string) => keysOf(key), {
    numberOfKeys: 3,
    lua: `${now}${get("ends", "remaining", "window", "limit")}
if not isBelieved then return { 0 } end
local inFlight = redis.call("ZCOUNT", KEYS[2], "(" .. now, "+inf")
if now >= ends then return { inFlight } end
return { inFlight, ends - now, window, remaining, limit }
`
  }).withReturnType<readonly [inFlight: number, endsIn?: number, window?: number, remaining?: number, limit?: number]>()
}
