/** What several machines spend, in Redis. Every step is one Lua script. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Bill from "@postwire/core/spend/Bill"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as RedisConnection from "./internal/redisConnection.ts"
import { scripts } from "./internal/redisSpendScripts.ts"

/** Settings of the store with a connection of its own. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
}

/** Checks an address without showing it: it may hold a password. */
export const checkUrl = (given: string | Redacted.Redacted): Effect.Effect<string, InvalidSettings> =>
  RedisConnection.checkUrl(given, "spendStore")

const make = (redis: RedisConnection.Evaluator): SpendStore.Store => {
  const reserve = redis.eval(scripts.reserve)
  const settle = redis.eval(scripts.settle)
  const lines = redis.eval(scripts.lines)
  const held = redis.eval(scripts.held)
  const answered = <A>(step: Effect.Effect<A, RedisConnection.RedisFailed>) =>
    Effect.mapError(RedisConnection.step(redis, step), (failed) => new SpendStore.SpendStoreUnavailable(failed))
  return {
    reserve: (bill, lease, reservation, limits) =>
      Effect.map(answered(reserve(bill, lease, reservation, limits)), ([refused, day, month, newest]) => ({
        newest: newest === "" ? undefined : newest,
        refused: refused === 0 ? undefined : refused === 1 ? "day" : "month",
        day: amountsOf(day),
        month: amountsOf(month)
      })),
    settle: (bill, lease, charge) =>
      Effect.map(answered(settle(bill, lease, charge)), ([micros, charged, repeats]) => ({
        micros: Number(micros),
        charged: Number(charged),
        repeats: Number(repeats)
      })),
    read: (bill, from, to) =>
      Effect.gen(function*() {
        const entries = new Map<string, Line>()
        const lineOf = (key: string): Line => {
          const [day = "", operation = "", account = ""] = key.split("\t")
          const line = entries.get(key) ??
            { day, operation, account, spent: 0, inDoubt: 0, reserved: 0, charged: 0, repeats: 0 }
          entries.set(key, line)
          return line
        }
        const isWithin = (day: string) => day >= from && day <= to
        for (const month of monthsBetween(from, to)) {
          const fields = yield* answered(lines(bill, month))
          for (let at = 0; at + 1 < fields.length; at += 2) {
            const [field = "", value] = fields.slice(at, at + 2)
            const end = field.lastIndexOf("\t")
            const name = field.slice(end + 1)
            if (isWithin(field.slice(0, 10)) && isFigure(name)) lineOf(field.slice(0, end))[name] += Number(value)
          }
        }
        const [now, ...open] = yield* answered(held(bill))
        for (const text of open) {
          const { account, at, day, micros, operation } = heldOf(text)
          if (!isWithin(day)) continue
          const state = Number(now) - at > Bill.inFlightMillis ? "inDoubt" : "reserved"
          lineOf([day, operation, account].join("\t"))[state] += micros
        }
        return [...entries].sort(([a], [b]) => a < b ? -1 : 1).map(([, line]) => line)
      })
  }
}

type Line = { -readonly [K in keyof Bill.Entry]: Bill.Entry[K] }

const amountsOf = ([spent, inDoubt, reserved]: readonly [string, string, string]): Bill.Amounts => ({
  spent: Number(spent),
  inDoubt: Number(inDoubt),
  reserved: Number(reserved)
})

const isFigure = (name: string): name is "spent" | "inDoubt" | "charged" | "repeats" =>
  ["spent", "inDoubt", "charged", "repeats"].includes(name)

const heldOf = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      day: Schema.String,
      operation: Schema.String,
      account: Schema.String,
      micros: Schema.Finite,
      at: Schema.Finite
    })
  )
)

const monthsBetween = (from: string, to: string): ReadonlyArray<string> => {
  const [year = 0, month = 0] = from.split("-").map(Number)
  const months: Array<string> = []
  for (
    const at = new Date(Date.UTC(year, month - 1));
    Bill.dayOf(at.getTime()) <= to;
    at.setUTCMonth(at.getUTCMonth() + 1)
  ) {
    months.push(Bill.monthOf(Bill.dayOf(at.getTime())))
  }
  return months
}

/** The store on any `Redis` service of Effect. */
export const layer: Layer.Layer<SpendStore.SpendStore, never, Redis.Redis> = /*#__PURE__*/ Layer.effect(
  SpendStore.SpendStore,
  /*#__PURE__*/ Effect.map(Redis.Redis, (redis) => make(RedisConnection.ofService(redis)))
)

/**
 * The store with a connection of its own, made at the first request and closed with the scope. Fails when the address is
 * none, or the package `@redis/client` is not installed; a server that does not answer fails nothing.
 */
export const layerUrl = (options: Options): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  Layer.effect(
    SpendStore.SpendStore,
    Effect.map(RedisConnection.connectionOf(options.url, "spendStore"), make)
  )
