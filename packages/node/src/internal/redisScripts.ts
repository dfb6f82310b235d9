/**
 * The rules of `Ledger.reserve` and `settle` in Lua, by the clock of Redis, so that each step needs one round trip. A property test
 * compares the two.
 */
import * as Ledger from "@postwire/core/rate-limit/Ledger"

/** The prefix of all keys. The number goes up when the form of a ledger changes. */
const keyPrefix = "postwire:ledger:3:"

/** The keys of a ledger have the same hash tag, so that a cluster keeps them together. */
const keysOf = (key: string) => [`${keyPrefix}{${key}}`, `${keyPrefix}{${key}}:leases`, `${keyPrefix}{${key}}:waiting`]

const { lease: leaseMillis, longest, poll, probe, recheck, silence, skew, turn } = Ledger.millisOf

/** A ledger from the future, written before the clock was set back, is discarded. */
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

/** A step in Lua. Not Effect's `Script`, whose module would make its schemas in every client. */
export interface Script<Params extends ReadonlyArray<unknown>, Result> {
  readonly lua: string
  /** The number of parameters that are keys. */
  readonly numberOfKeys: number | ((...params: Params) => number)
  readonly params: (...params: Params) => ReadonlyArray<string | number>
  /** For its type only. */
  readonly result?: Result
}

const answering = <Result>() =>
<Params extends ReadonlyArray<unknown>>(
  params: Script<Params, Result>["params"],
  lua: string
): Script<Params, Result> => ({ lua, numberOfKeys: 3, params })

/** The scripts of a store. */
export const scripts = {
  reserve: answering<readonly [reason: number, millisOrRefusals: number, briefs?: number]>()(
    (key: string, lease: string, pace: number, place: Ledger.Place | undefined) => [
      ...keysOf(key),
      lease,
      pace,
      place?.line ?? "",
      place?.callers ?? 0,
      Math.round(place?.waited ?? 0)
    ],
    `${now}${forget}${
      get("ends", "remaining", "refusedUntil", "refusals", "briefs", "silentUntil", "next", "probeUntil")
    }
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
if probes then redis.call("HSET", KEYS[1], "probe", ARGV[1], "probeUntil", now + ${probe}) end
if pace > 0 then redis.call("HSET", KEYS[1], "next", now + pace) end
if now >= refusedUntil + ${silence} then refusals, briefs = 0, 0 end
redis.call("HSET", KEYS[1], "refusals", refusals, "briefs", briefs, "at", now)
redis.call("ZADD", KEYS[2], now + ${leaseMillis}, ARGV[1])
redis.call("PEXPIRE", KEYS[2], ${leaseMillis})
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, silentUntil - now))
if callers > 1 then stand(callers - 1, now)
elseif line ~= "" then redis.call("HDEL", KEYS[3], line) end
return { 0, refusals, briefs }
`
  ),

  settle: answering<void>()(
    (key: string, lease: string, { answered, emptied = "", figures, next = 0, pause }: Ledger.Report) => [
      ...keysOf(key),
      lease,
      answered ? 1 : 0,
      pause ?? -1,
      next,
      emptied,
      ...(figures === undefined ? [] : [figures.window, figures.endsIn, figures.remaining, figures.limit ?? -1])
    ],
    `${now}${forget}${
      get("ends", "remaining", "window", "since", "refusedUntil", "refusals", "briefs", "silentUntil", "next")
    }
local lapses = redis.call("ZSCORE", KEYS[2], ARGV[1])
local sent = lapses and tonumber(lapses) - ${leaseMillis} or 0
redis.call("ZREM", KEYS[2], ARGV[1])
redis.call("HDEL", KEYS[3], ARGV[5])
if redis.call("HGET", KEYS[1], "probe") == ARGV[1] then redis.call("HDEL", KEYS[1], "probe", "probeUntil") end
local answered, pause = ARGV[2] == "1", tonumber(ARGV[3])
local afterwards = sent >= refusedUntil
if pause >= 0 then
  if afterwards then refusals = refusals + 1 end
  if afterwards and #ARGV > 5 then briefs = briefs + 1 end
  refusedUntil = math.max(refusedUntil, now + pause)
elseif answered and afterwards then refusedUntil, refusals, briefs = 0, 0, 0 end
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
  "refusedUntil", refusedUntil, "refusals", refusals, "briefs", briefs, "silentUntil", silentUntil,
  "next", math.max(next, now + tonumber(ARGV[4])))
redis.call("PEXPIRE", KEYS[1], math.max(60000, ends - now, refusedUntil + ${silence} - now, silentUntil - now))
`
  ),

  read: answering<readonly [inFlight: number, endsIn?: number, window?: number, remaining?: number, limit?: number]>()(
    (key: string) => keysOf(key),
    `${now}${get("ends", "remaining", "window", "limit")}
if not isBelieved then return { 0 } end
local inFlight = redis.call("ZCOUNT", KEYS[2], "(" .. now, "+inf")
if now >= ends then return { inFlight } end
return { inFlight, ends - now, window, remaining, limit }
`
  )
}
