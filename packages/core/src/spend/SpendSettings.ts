/**
 * Settings of `Spend`, and their check. Separate from it, since Promise clients load `Spend` only if a setting needs it.
 *
 * @stability experimental
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { InvalidSettings } from "../errors/Errors.ts"
import type { Cost } from "../schema/Response.ts"
import type * as Bill from "./Bill.ts"
import * as PriceTable from "./internal/priceTable.ts"

/** Limits of spending, in dollars. Charges in doubt and the largest price of requests in flight count. */
export interface Limit {
  /** From midnight to midnight, UTC, for all clients that share the store. */
  readonly perDay?: number | undefined
  /** In a calendar month, UTC, for all clients that share the store. */
  readonly perMonth?: number | undefined
  /** For the clients with this same layer, during their lifetime. */
  readonly total?: number | undefined
  /**
   * How to treat requests under `perDay` or `perMonth` while the store does not respond: `refuse` (the default) fails them, `allow`
   * sends them as long as the spending known to this process is within the limit.
   */
  readonly withoutStore?: "refuse" | "allow" | undefined
}

/** The charge of a request. */
export interface Spent extends Cost {
  readonly operation: string
  /** The name of an account, or the kind of a credential and its fingerprint. */
  readonly account: string
  /** In UTC, as `2026-08-22`. */
  readonly day: string
  /** True if it is unknown that it was charged, since no response came. `dollars` is then the largest possible charge. */
  readonly inDoubt: boolean
}

/** Settings of `layer`. */
export interface Settings {
  /** Prices that differ from those of `Prices.current`, in dollars. */
  readonly prices?: PriceTable.Changes | undefined
  /** The limit of spending: a call that might exceed it fails with `SpendLimitReached` before anything is sent. */
  readonly spendLimit?: Limit | undefined
  /** The id of the user that owns the app: their reads of their own resources, with their own credential, are owned reads. */
  readonly appOwner?: string | undefined
  /** Called with every charge, also one in doubt. Its errors and rejections are ignored. */
  readonly onSpend?: ((spent: Spent) => void) | undefined
}

/** Checked settings. */
export interface Checked {
  readonly prices: PriceTable.Prices
  readonly limits: Bill.Limits
  /** In micro-dollars. */
  readonly total: number
  /** True if requests under a limit are refused while the store does not respond. */
  readonly refuses: boolean
  readonly appOwner: string | undefined
  readonly onSpend: Settings["onSpend"]
}

/** The amounts that count towards the limit `total`, in micro-dollars. A provided one may include earlier spending. */
export class Total extends /*#__PURE__*/ Context.Service<Total, { -readonly [K in keyof Bill.Amounts]: number }>()(
  "@postwire/core/spend/SpendSettings/Total"
) {}

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
