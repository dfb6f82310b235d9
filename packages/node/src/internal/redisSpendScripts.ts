/** The rules of `Bill` in Lua, by the clock of Redis. The tests of all stores hold them together. */
import * as Bill from "@postwire/core/spend/Bill"
import type { Script } from "./redisScripts.ts"

/** What the names of all keys begin with. The number goes up when the form of a bill changes. */
const keyPrefix = "postwire:bill:1:"

/** The keys of a bill have the same hash tag, so that a cluster keeps them together. */
const keyOf = (bill: string, part: string) => `${keyPrefix}{${bill}}:${part}`

const linesOf = (bill: string, month: string) => keyOf(bill, `lines:${month}`)

/** What separates the parts of a field; no name has it. */
const tab = "\t"

/** What days and months have come to, and what is held of them. */
const amounts = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function amounts(period)
  local stored = redis.call("HMGET", KEYS[2], period .. " spent", period .. " inDoubt")
  return { tonumber(stored[1]) or 0, tonumber(stored[2]) or 0, 0 }
end
local function add(held, sums)
  for index, period in ipairs({ ARGV[2], ARGV[3] }) do
    local state = now - held.at > ${Bill.inFlightMillis} and 2 or 3
    if state == 3 or (held.day >= ARGV[8 + index] and string.sub(held.day, 1, #period) <= period) then
      sums[index][state] = sums[index][state] + held.micros
    end
  end
end
`

/** Micro-dollars travel as texts: the integers of Redis would lose nothing, but its Lua makes them floats. */
const whole = `local function whole(number) return string.format("%.0f", number) end`

type Amounts = readonly [spent: string, inDoubt: string, reserved: string]

interface Steps {
  readonly reserve: Script<
    [bill: string, lease: string, reservation: Bill.Reservation, limits: Bill.Limits],
    readonly [refused: number, day: Amounts, month: Amounts, newest: string]
  >
  readonly settle: Script<
    [bill: string, lease: string, charge: Bill.Charge],
    readonly [micros: string, charged: string, repeats: string]
  >
  readonly lines: Script<[bill: string, month: string], ReadonlyArray<string>>
  readonly held: Script<[bill: string], readonly [now: string, ...held: ReadonlyArray<string>]>
}

/** What the steps of a store send, and what Redis answers. */
export const scripts: Steps = {
  reserve: {
    numberOfKeys: 2,
    params: (bill, lease, { account, day, micros, operation }, { perDay, perMonth }) => [
      keyOf(bill, "held"),
      keyOf(bill, "totals"),
      lease,
      day,
      Bill.monthOf(day),
      operation,
      account,
      micros,
      perDay ?? -1,
      perMonth ?? -1,
      Bill.doubtfulSince(day),
      Bill.doubtfulSince(Bill.monthOf(day))
    ],
    lua: `${amounts}${whole}
local sums = { amounts(ARGV[2]), amounts(ARGV[3]) }
for _, text in ipairs(redis.call("HVALS", KEYS[1])) do add(cjson.decode(text), sums) end
local micros = tonumber(ARGV[6])
local refused = 0
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  for index = 1, 2 do
    local limit = tonumber(ARGV[6 + index])
    local sum = sums[index][1] + sums[index][2] + sums[index][3]
    if refused == 0 and limit >= 0 and sum + micros > limit then refused = index end
  end
  if refused == 0 then
    redis.call("HSET", KEYS[1], ARGV[1], cjson.encode({
      day = ARGV[2], operation = ARGV[4], account = ARGV[5], micros = micros, at = now
    }))
  end
end
local function told(sum) return { whole(sum[1]), whole(sum[2]), whole(sum[3]) } end
return { refused, told(sums[1]), told(sums[2]), redis.call("HGET", KEYS[2], "newest") or "" }`
  },
  settle: {
    numberOfKeys: 4,
    params: (bill, lease, { account, day, inDoubt, isCharged, micros, operation, resources }) => [
      keyOf(bill, "held"),
      keyOf(bill, "totals"),
      linesOf(bill, Bill.monthOf(day)),
      keyOf(bill, `charged:${day}`),
      lease,
      day,
      Bill.monthOf(day),
      [day, operation, account].join(tab),
      micros,
      isCharged ? 1 : 0,
      inDoubt ? "inDoubt" : "spent",
      ...resources.flatMap(({ ids, kind, micros, unnamed }) => [kind, micros, unnamed, ids.length, ...ids])
    ],
    lua: `${whole}
if redis.call("HDEL", KEYS[1], ARGV[1]) == 0 then return { "0", "0", "0" } end
local micros = tonumber(ARGV[5])
local charged = tonumber(ARGV[6])
local repeats = 0
local at = 8
while ARGV[at] do
  local kind, price = ARGV[at], tonumber(ARGV[at + 1])
  local unnamed, count = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local added = 0
  for index = at + 4, at + 3 + count do
    added = added + redis.call("SADD", KEYS[4], kind .. " " .. ARGV[index])
  end
  if count > 0 then redis.call("EXPIRE", KEYS[4], ${Bill.daysRemembered * 86_400}) end
  micros = micros + (added + unnamed) * price
  charged = charged + added + unnamed
  repeats = repeats + count - added
  at = at + 4 + count
end
local function add(field, number)
  if number > 0 then redis.call("HINCRBY", KEYS[3], ARGV[4] .. "${"\\t"}" .. field, whole(number)) end
end
add(ARGV[7], micros)
add("charged", charged)
add("repeats", repeats)
if micros + charged + repeats > 0 and ARGV[2] > (redis.call("HGET", KEYS[2], "newest") or "") then
  redis.call("HSET", KEYS[2], "newest", ARGV[2])
end
if micros > 0 then
  redis.call("HINCRBY", KEYS[2], ARGV[2] .. " " .. ARGV[7], whole(micros))
  redis.call("HINCRBY", KEYS[2], ARGV[3] .. " " .. ARGV[7], whole(micros))
end
return { whole(micros), whole(charged), whole(repeats) }`
  },
  lines: {
    numberOfKeys: 1,
    params: (bill, month) => [linesOf(bill, month)],
    lua: `return redis.call("HGETALL", KEYS[1])`
  },
  held: {
    numberOfKeys: 1,
    params: (bill) => [keyOf(bill, "held")],
    lua: `local answer = redis.call("HVALS", KEYS[1])
local time = redis.call("TIME")
table.insert(answer, 1, string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)))
return answer`
  }
}
