/** The amounts that this session, day and month have spent, and the rest of their limits. Amounts are micro-dollars. */
import * as Bill from "@postwire/core/spend/Bill"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dollars } from "./Dollars.ts"

/** The limits that the client enforces. */
export interface Limits extends Bill.Limits {
  readonly session?: number | undefined
}

/** Settings of `layer`. */
export interface Settings {
  /** The address of the service, which names its bill. */
  readonly bill: string
  readonly limits: Limits
}

/** An amount and its limit. */
export interface Account {
  readonly period: "session" | "today" | "this month"
  /** `undefined` while the store does not respond. */
  readonly used: number | undefined
  readonly limit: number | undefined
}

/** The accounts of this server. */
export class Ledger extends Context.Service<Ledger, { readonly accounts: Effect.Effect<ReadonlyArray<Account>> }>()(
  "@postwire/mcp/money/Ledger"
) {}

/** Reads the amounts that the spending layer of the client counts. */
export const layer = (
  { bill, limits }: Settings
): Layer.Layer<Ledger, never, Spend.Total | SpendStore.SpendStore> =>
  Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const total = yield* Spend.Total
      const store = yield* SpendStore.SpendStore
      const accounts = Effect.gen(function*() {
        const day = Bill.dayOf(yield* Clock.currentTimeMillis)
        const counted = yield* Effect.option(SpendStore.amountsOf(store, bill, day))
        const used = (of: "day" | "month") => counted._tag === "None" ? undefined : Bill.sumOf(counted.value[of])
        return [
          { period: "session", used: Bill.sumOf(total), limit: limits.session },
          { period: "today", used: used("day"), limit: limits.perDay },
          { period: "this month", used: used("month"), limit: limits.perMonth }
        ] satisfies ReadonlyArray<Account>
      })
      return { accounts }
    })
  )

/** The cost of one answer. */
export interface Cost {
  readonly requests: number
  readonly micros: number
  /** The resources that had been read on that day, and are free. */
  readonly repeats: number
}

const accountText = ({ limit, period, used }: Account): string =>
  used === undefined
    ? `${period} unknown`
    : `${period} ${dollars(used)}${limit === undefined ? "" : ` of ${dollars(limit)}, ${dollars(limit - used)} left`}`

/** The line about money that ends an answer. */
export const line = (cost: Cost, accounts: ReadonlyArray<Account>): string => {
  const [, today = Infinity, month = Infinity] = accounts.map(({ limit = Infinity, used = 0 }) => limit - used)
  // The month is in the answer only where it is what ends first.
  const isTightest = month < today
  const repeats = cost.repeats === 0 ? "" : `, ${cost.repeats} already read today were free`
  return `cost ${dollars(cost.micros)}${repeats}; ${
    accounts
      .filter(({ period }) => period !== "this month" || isTightest)
      .map(accountText)
      .join("; ")
  }`
}

/** Every account on a line. */
export const lines = (accounts: ReadonlyArray<Account>): ReadonlyArray<string> => accounts.map(accountText)
