/** Settings of `Spend`, and their check. Apart from it, because clients of Promises load it when a setting asks for it. */
import * as Effect from "effect/Effect"
import { InvalidSettings } from "../errors/Errors.ts"
import type { Cost } from "../schema/Response.ts"
import type * as Bill from "./Bill.ts"
import * as PriceTable from "./internal/priceTable.ts"

/** The most that may be spent, in dollars. What is in doubt and what requests in flight may cost counts. */
export interface Limit {
  /** From midnight to midnight, UTC, by all who share the store. */
  readonly perDay?: number | undefined
  /** In a calendar month, UTC, by all who share the store. */
  readonly perMonth?: number | undefined
  /** By the clients with this very layer, as long as they live. */
  readonly total?: number | undefined
  /**
   * What happens to requests under `perDay` or `perMonth` while the store does not answer: `refuse` (the default) fails them,
   * `allow` sends them as long as what this process knows is within the limit.
   */
  readonly withoutStore?: "refuse" | "allow" | undefined
}

/** What a request was charged. */
export interface Spent extends Cost {
  readonly operation: string
  /** The name of an account, or the kind of a credential and what tells it from others. */
  readonly account: string
  /** In UTC, as `2026-08-22`. */
  readonly day: string
  /** Whether nobody knows that it was charged: no answer came. `dollars` is then the most that it may be. */
  readonly inDoubt: boolean
}

/** Settings of `layer`. */
export interface Settings {
  /** Prices that differ from those of `Prices.current`, in dollars. */
  readonly prices?: PriceTable.Changes | undefined
  /** The most that may be spent: a call that might pass it fails with `SpendLimitReached` before anything is sent. */
  readonly spendLimit?: Limit | undefined
  /** The id of the user that owns the app: what they read of their own, with a credential of theirs, is an owned read. */
  readonly appOwner?: string | undefined
  /** Called with everything that was charged or is in doubt. What it throws or rejects with is ignored. */
  readonly onSpend?: ((spent: Spent) => void) | undefined
}

/** Settings that were checked. */
export interface Checked {
  readonly prices: PriceTable.Prices
  readonly limits: Bill.Limits
  /** In micro-dollars. */
  readonly total: number
  /** Requests under a limit are refused while the store does not answer. */
  readonly refuses: boolean
  readonly appOwner: string | undefined
  readonly onSpend: Settings["onSpend"]
}

/** Checks settings and fills in the defaults. */
export const check = Effect.fnUntraced(function*(settings: Settings): Effect.fn.Return<Checked, InvalidSettings> {
  const { appOwner, onSpend, spendLimit = {} } = settings
  const prices = settings.prices === undefined ? PriceTable.current : PriceTable.changed(settings.prices)
  if (prices instanceof InvalidSettings) return yield* prices
  const invalid = (setting: string, rule: string) => new InvalidSettings({ setting, rule })
  if (typeof spendLimit !== "object" || spendLimit === null) {
    return yield* invalid("spendLimit", "must be an object with perDay, perMonth and total, in dollars")
  }
  const { withoutStore = "refuse", ...amounts } = spendLimit
  if (withoutStore !== "refuse" && withoutStore !== "allow") {
    return yield* invalid("spendLimit", "must have refuse or allow for withoutStore")
  }
  for (const [name, dollars] of Object.entries(amounts)) {
    if (!periods.includes(name)) return yield* invalid("spendLimit", `has no ${name}, only ${periods.join(", ")}`)
    if (dollars !== undefined && !(typeof dollars === "number" && dollars >= 0 && dollars <= mostDollars)) {
      return yield* invalid("spendLimit", `must have 0 dollars or more for ${name}`)
    }
  }
  if (appOwner !== undefined && !(typeof appOwner === "string" && /^\d{1,19}$/.test(appOwner))) {
    return yield* invalid("appOwner", "must be the id of a user, 1 to 19 digits")
  }
  if (onSpend !== undefined && typeof onSpend !== "function") return yield* invalid("onSpend", "must be a function")
  const micros = (dollars: number | undefined) => dollars === undefined ? undefined : PriceTable.microsOf(dollars)
  return {
    prices,
    limits: { perDay: micros(spendLimit.perDay), perMonth: micros(spendLimit.perMonth) },
    total: micros(spendLimit.total) ?? Infinity,
    refuses: withoutStore === "refuse",
    appOwner,
    onSpend
  }
})

const periods: ReadonlyArray<string> = ["perDay", "perMonth", "total"]

const mostDollars = 1_000_000_000
