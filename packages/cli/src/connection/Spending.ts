/** The cost of a command: shown before its first request, confirmed if it is high, and limited by `--max-spend`. */
import type { Definition } from "@postwire/core/schema/Definition"
import * as Prices from "@postwire/core/spend/Prices"
import * as Plan from "@postwire/export/sources/Plan"
import type { Source } from "@postwire/export/sources/Source"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Advice from "../terminal/Advice.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import { nounOf } from "../terminal/Noun.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as Variables from "./Variables.ts"

/** The largest amount of a flag or a variable, in dollars. */
const most = 1_000_000_000

const isAmount = (dollars: number): boolean => dollars >= 0 && dollars <= most

/** The flags of commands that read or write much. */
export const flags = {
  /** In millionths of a dollar. */
  maxSpend: Flag.Finite("max-spend").pipe(
    Flag.filter(isAmount, () => "dollars: 0 or more, as 2.50"),
    Flag.map(Prices.microsOf),
    Flag.withMetavar("DOLLARS"),
    Args.optional("Spend at most this: refuses to start if it would cost more, and stops when it is reached")
  ),
  yes: Args.toggle("yes", "Do not ask before high costs")
}

export type Flags = Command.Command.Config.Infer<typeof flags>

/** The cost of what a command is about to do. */
export interface Price {
  readonly items: number
  /** The plural of the items: `posts`. */
  readonly of: string
  readonly requests: number
  /** The most it can cost, in millionths of a dollar. */
  readonly micros: number
  /** True if `micros` lacks a price that is not known. */
  readonly isUnknown?: boolean
  /** The least duration in milliseconds, if known. */
  readonly duration?: number | undefined
  /** The cost of earlier runs of the same work, in millionths of a dollar. `--max-spend` limits the sum. */
  readonly spent?: number | undefined
}

/** The most that a listing can cost, in millionths of a dollar. Included objects are charged as well, once per day. */
export const mostOf = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  { items, requests }: Pick<Price, "items" | "requests">,
  prices: Prices.Prices = Prices.current
): number => {
  const { price } = definition
  if (typeof price === "string") return 0
  if ("request" in price) return requests * Prices.most(definition, parameters, prices)
  return items * Prices.most(definition, { ...parameters, max_results: 1 }, prices)
}

/** Tests whether the price of an operation is not known. */
export const isUnknown = ({ price }: Pick<Definition, "price">): boolean => price === "unknown"

/** An amount in words: `up to $0.50`. */
export const amount = ({ isUnknown = false, micros }: Pick<Price, "isUnknown" | "micros">): string =>
  micros === 0 ? isUnknown ? "price unknown" : "free" : `up to ${Text.dollars(micros)}${isUnknown ? " and more" : ""}`

/** The price of a source, or of the rest of it. */
export const priceOf = (
  { definition, parameters }: Pick<Source<unknown>, "definition" | "parameters">,
  { items, limits, requests }: Pick<Price, "items" | "requests"> & { readonly limits: Plan.Limits }
): Price => ({
  items,
  of: nounOf(definition),
  requests,
  micros: mostOf(definition, parameters, { items, requests }),
  isUnknown: isUnknown(definition),
  duration: requests === 0 ? 0 : Plan.durationOf(requests, limits, 0)
})

/** The most that a request without a published price costs, as the user has stated it, in millionths of a dollar. */
export const UnknownPrice = Context.Reference<number | undefined>("@postwire/cli/connection/Spending/UnknownPrice", {
  defaultValue: () => undefined
})

/** The stated price of requests without a published one. Without it, `--max-spend` cannot be enforced, and refuses them. */
export const statedPrice = Effect.fnUntraced(function*({ maxSpend }: Pick<Flags, "maxSpend">) {
  const stated = yield* UnknownPrice
  return stated === undefined && Option.isSome(maxSpend)
    ? yield* ErrorReport.refuse(
      `It may cost more than --max-spend, ${Text.dollars(maxSpend.value)}: it sends requests whose price is unknown`,
      `Nothing was requested. ${Advice.unknownPrice}`
    )
    : stated
})

/** Shows the price of each item of a listing, where their number is unknown. */
export const sayEach = Effect.fnUntraced(function*(
  { definition, parameters }: Pick<Source<unknown>, "definition" | "parameters">,
  { maxSpend }: Pick<Flags, "maxSpend">,
  of: string
) {
  const stated = isUnknown(definition) ? yield* statedPrice({ maxSpend }) : undefined
  const micros = stated ?? mostOf(definition, parameters, { items: 1, requests: 1 })
  const each = stated === undefined ? of.replace(/s$/, "") : `request for ${of}`
  yield* Report.say(
    stated === undefined && isUnknown(definition)
      ? `The price of the ${of} is unknown, and is not counted.`
      : micros === 0
      ? `The ${of} are free.`
      : `Each ${each} costs up to ${Text.dollars(micros)}; ${
        Option.isSome(maxSpend) ? `stops at ${Text.dollars(maxSpend.value)}` : "--max-spend sets a limit"
      }.`
  )
})

/** True if the service is on this machine, where nothing costs real dollars. */
export const IsLocal = Context.Reference<boolean>("@postwire/cli/connection/Spending/IsLocal", {
  defaultValue: () => false
})

/** The variable with the amount in dollars above which a command asks. */
export const variable = "POSTWIRE_ASK_ABOVE"

const defaultThreshold = 5

const threshold = Effect.gen(function*() {
  const text = Variables.valueOf(Variables.all(yield* Variables.places(Option.none())), variable)
  const dollars = Number(text ?? defaultThreshold)
  if (isAmount(dollars)) return Prices.microsOf(dollars)
  yield* Report.say(`${variable} is not an amount of dollars: using ${defaultThreshold}.`)
  return Prices.microsOf(defaultThreshold)
})

export const describe = ({ duration, items, of, requests, ...price }: Price): string =>
  [
    Text.quantity(items, of),
    Text.quantity(requests, "requests"),
    amount(price),
    ...duration === undefined || duration < 1_000 ? [] : [`${Text.duration(duration / 1000)} or more`]
  ].join(", ")

/** A price as JSON. */
export const plain = ({ duration, isUnknown = false, items, micros, of, requests }: Price) => ({
  items,
  of,
  requests,
  duration: duration === undefined ? undefined : Math.round(duration),
  dollars: isUnknown ? undefined : Prices.dollarsOf(micros),
  prices: Prices.current.since
})

/** A summary as JSON: what its runs have spent is `dollars`. */
export const plainOf = <S extends { readonly progress: { readonly spent?: number | undefined } }>(
  { progress: { spent, ...progress }, ...summary }: S
) => ({ ...summary, dollars: spent === undefined ? undefined : Prices.dollarsOf(spent), progress })

/**
 * Shows the cost of a command before its first request. Refuses it above `--max-spend`, and asks the user on a terminal if the cost
 * is high, unless a flag confirms it or the service is on this machine.
 */
export const confirmCost = Effect.fnUntraced(function*({ maxSpend, yes }: Flags, price: Price) {
  const { isUnknown = false, requests, spent = 0 } = price
  const stated = isUnknown ? yield* statedPrice({ maxSpend }) : undefined
  const micros = price.micros + requests * (stated ?? 0)
  if (Option.isSome(maxSpend) && spent + micros > maxSpend.value) {
    const before = spent === 0 ? "" : `, ${Text.dollars(spent)} of it already spent`
    return yield* ErrorReport.refuse(
      `It would cost up to ${Text.dollars(micros)}; --max-spend is ${Text.dollars(maxSpend.value)}${before}`,
      "Nothing was requested. Request less, or raise --max-spend."
    )
  }
  yield* Report.say(`${describe({ ...price, micros, isUnknown: isUnknown && stated === undefined })}.`)
  if (yes || Option.isSome(maxSpend) || (yield* IsLocal) || micros <= (yield* threshold)) return
  if (!(yield* Prompt.isPossible) || (yield* Prompt.confirm(`Spend up to ${Text.dollars(micros)}?`))) return
  return yield* ErrorReport.refuse(
    `${Text.dollars(micros)} not confirmed: nothing was requested`,
    "Request less, or confirm with --yes or --max-spend."
  )
})
