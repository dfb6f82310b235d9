/** The steps of a log of shared streams in Lua, by the clock of Redis. The tests of all stores hold them together. */
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import type { Script } from "./redisScripts.ts"

/** The prefix of all keys. The number goes up when the form of a log changes. */
const keyPrefix = "postwire:stream:2:"

/** The keys of a stream have the same hash tag, so that a cluster keeps them together. */
const keyOf = (stream: string, part: "seats" | "extent" | "entries" | "positions" | "times") =>
  `${keyPrefix}{${stream}}:${part}`

const now = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

/** Only the holder of the seat changes anything. */
const ifHeld = `if redis.call("HGET", KEYS[1], "token " .. ARGV[1]) ~= ARGV[2] then return 0 end
`

/** Numbers as texts: Lua's own conversion loses digits. */
const whole = `local function whole(number) return string.format("%.0f", number) end
`

const positionOf = `local function positionOf(entry) return tonumber(string.match(entry[1], "^%d+")) end
`

/** Entries examined in one step, which blocks all other clients. */
const pageSize = 1_000

/** The id of an entry, and its fields. */
export type RedisEntry = readonly [id: string, fields: ReadonlyArray<string>]

interface Steps {
  readonly acquire: Script<
    [seat: StreamLog.Seat, holder: string, millis: number],
    readonly [held: 0 | 1, tokenOrMillis: number]
  >
  readonly prolong: Script<[seat: StreamLog.Seat, token: number, millis: number], 0 | 1>
  readonly release: Script<[seat: StreamLog.Seat, token: number], 0 | 1>
  readonly append: Script<
    [stream: string, token: number, after: number, entries: ReadonlyArray<StreamLog.Entry>, until?: number],
    readonly [last?: string]
  >
  readonly extent: Script<[stream: string], readonly [last: string | null, until: string | null]>
  readonly read: Script<[stream: string, after: number, limit: number], ReadonlyArray<RedisEntry>>
  /** The ids of a page and the end of the page before it; `""` if there is none. */
  readonly ids: Script<[stream: string, since: number, end: string], readonly [end: string, ...ids: Array<string>]>
  readonly cursor: Script<[stream: string, consumer: string], readonly [position: string | null, at: string | null]>
  readonly commit: Script<[stream: string, consumer: string, token: number, cursor: StreamLog.Cursor], 0 | 1>
  readonly forget: Script<[stream: string, consumer: string], 0>
  /** 1 if there may be more to drop. */
  readonly trim: Script<[stream: string, trim: StreamLog.Trim], 0 | 1>
}

/** The scripts of a log. */
export const scripts: Steps = {
  acquire: {
    numberOfKeys: 1,
    params: (seat, holder, millis) => [keyOf(seat.stream, "seats"), StreamLog.seatName(seat), holder, millis],
    lua: `${now}${whole}local names = { "token " .. ARGV[1], "holder " .. ARGV[1], "ends " .. ARGV[1] }
local seat = redis.call("HMGET", KEYS[1], unpack(names))
local token, ends = tonumber(seat[1]) or 0, tonumber(seat[3]) or 0
if ends > now then
  if seat[2] ~= ARGV[2] then return { 0, ends - now } end
else
  token = math.max(token + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
end
redis.call("HSET", KEYS[1], names[1], whole(token), names[2], ARGV[2], names[3], whole(now + tonumber(ARGV[3])))
return { 1, token }`
  },
  prolong: {
    numberOfKeys: 1,
    params: (seat, token, millis) => [keyOf(seat.stream, "seats"), StreamLog.seatName(seat), token, millis],
    lua: `${ifHeld}${now}${whole}redis.call("HSET", KEYS[1], "ends " .. ARGV[1], whole(now + tonumber(ARGV[3])))
return 1`
  },
  release: {
    numberOfKeys: 1,
    params: (seat, token) => [keyOf(seat.stream, "seats"), StreamLog.seatName(seat), token],
    lua: `${ifHeld}redis.call("HSET", KEYS[1], "ends " .. ARGV[1], "0")
return 1`
  },
  append: {
    numberOfKeys: 3,
    params: (stream, token, after, entries, until) => [
      keyOf(stream, "seats"),
      keyOf(stream, "extent"),
      keyOf(stream, "entries"),
      StreamLog.seatName({ stream }),
      token,
      after,
      until ?? 0,
      ...entries.flatMap(({ at, id, text }) => [at, id, text])
    ],
    lua: `${whole}local extent = redis.call("HMGET", KEYS[2], "last", "until")
local last, token = tonumber(extent[1]) or 0, tonumber(ARGV[2])
if redis.call("HGET", KEYS[1], "token " .. ARGV[1]) ~= ARGV[2] or last < tonumber(ARGV[3]) then return {} end
if tonumber(ARGV[4]) > (tonumber(extent[2]) or 0) then redis.call("HSET", KEYS[2], "until", ARGV[4]) end
if last == tonumber(ARGV[3]) then
  for index = 5, #ARGV, 3 do
    local follows = whole(last)
    last = math.max(last + 1, token)
    redis.call("XADD", KEYS[3], whole(last) .. "-0", "at", ARGV[index], "id", ARGV[index + 1], "text", ARGV[index + 2],
      "follows", follows)
  end
  redis.call("HSET", KEYS[2], "last", whole(last))
end
return { whole(last) }`
  },
  extent: {
    numberOfKeys: 1,
    params: (stream) => [keyOf(stream, "extent")],
    lua: `return redis.call("HMGET", KEYS[1], "last", "until")`
  },
  read: {
    numberOfKeys: 1,
    params: (stream, after, limit) => [keyOf(stream, "entries"), after + 1, limit],
    lua: `return redis.call("XRANGE", KEYS[1], ARGV[1], "+", "COUNT", ARGV[2])`
  },
  ids: {
    numberOfKeys: 1,
    params: (stream, since, end) => [keyOf(stream, "entries"), since, end],
    lua: `${positionOf}${whole}local entries = redis.call("XREVRANGE", KEYS[1], ARGV[2], "-", "COUNT", ${pageSize})
local found = { "" }
for _, entry in ipairs(entries) do
  if tonumber(entry[2][2]) < tonumber(ARGV[1]) then return found end
  if entry[2][4] ~= "" then found[#found + 1] = entry[2][4] end
end
if #entries == ${pageSize} and positionOf(entries[#entries]) > 1 then
  found[1] = whole(positionOf(entries[#entries]) - 1)
end
return found`
  },
  cursor: {
    numberOfKeys: 2,
    params: (stream, consumer) => [keyOf(stream, "positions"), keyOf(stream, "times"), consumer],
    lua: `return { redis.call("ZSCORE", KEYS[1], ARGV[1]), redis.call("HGET", KEYS[2], ARGV[1]) }`
  },
  commit: {
    numberOfKeys: 3,
    params: (stream, consumer, token, { at, position }) => [
      keyOf(stream, "seats"),
      keyOf(stream, "positions"),
      keyOf(stream, "times"),
      StreamLog.seatName({ stream, consumer }),
      token,
      consumer,
      position,
      at
    ],
    lua: `${ifHeld}local position = tonumber(redis.call("ZSCORE", KEYS[2], ARGV[3]) or -1)
if position < tonumber(ARGV[4]) then
  redis.call("ZADD", KEYS[2], ARGV[4], ARGV[3])
  redis.call("HSET", KEYS[3], ARGV[3], ARGV[5])
end
return 1`
  },
  forget: {
    numberOfKeys: 3,
    params: (stream, consumer) => [
      keyOf(stream, "positions"),
      keyOf(stream, "times"),
      keyOf(stream, "seats"),
      consumer,
      StreamLog.seatName({ stream, consumer })
    ],
    lua: `${now}redis.call("ZREM", KEYS[1], ARGV[1])
redis.call("HDEL", KEYS[2], ARGV[1])
if (tonumber(redis.call("HGET", KEYS[3], "ends " .. ARGV[2])) or 0) <= now then
  redis.call("HDEL", KEYS[3], "token " .. ARGV[2], "holder " .. ARGV[2], "ends " .. ARGV[2])
end
return 0`
  },
  trim: {
    numberOfKeys: 2,
    params: (stream, { before, keep, readBefore }) => [
      keyOf(stream, "entries"),
      keyOf(stream, "positions"),
      before,
      keep,
      readBefore
    ],
    lua: `${positionOf}${whole}redis.call("XTRIM", KEYS[1], "MAXLEN", ARGV[2])
local slowest = redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")
local read = tonumber(slowest[2]) or -1
local before, readBefore = tonumber(ARGV[1]), tonumber(ARGV[3])
local entries = redis.call("XRANGE", KEYS[1], "-", "+", "COUNT", ${pageSize})
local dropped = 0
for _, entry in ipairs(entries) do
  local at = tonumber(entry[2][2])
  if at >= before and (positionOf(entry) > read or at >= readBefore) then break end
  dropped = dropped + 1
end
if dropped > 0 then redis.call("XTRIM", KEYS[1], "MINID", whole(positionOf(entries[dropped]) + 1)) end
return dropped == ${pageSize} and 1 or 0`
  }
}
