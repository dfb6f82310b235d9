/** What a command may spend: told before its first request, agreed to where it is much, and limited by `--max-spend`. */
import type { Definition } from "@postwire/core/schema/Definition"
import * as Prices from "@postwire/core/spend/Prices"
import * as Plan from "@postwire/export/sources/Plan"
import type { Source } from "@postwire/export/sources/Source"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Ask from "../terminal/Ask.ts"
import { nounOf } from "../terminal/Noun.ts"
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
    Flag.withDescription("Spend no more than this: more is refused before it begins, and ends it later"),
    Flag.optional
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("Do not ask before much is spent"),
    Flag.withDefault(false)
  )
}

/** What they say. */
export type Flags = Command.Command.Config.Infer<typeof flags>

/** What a command is about to do. */
export interface Price {
  readonly items: number
  /** What they are, in the plural: `posts`. */
  readonly of: string
  readonly requests: number
  /** The most that it costs, in millionths of a dollar. */
  readonly micros: number
  /** At least so many milliseconds, where that is known. */
  readonly duration?: number | undefined
  /** What earlier runs of the same work have cost, in millionths of a dollar. `--max-spend` is for all of them. */
  readonly spent?: number | undefined
}

/** The most that a listing costs, in millionths of a dollar: what expansions bring is charged as well, but once a day. */
export const mostOf = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  { items, requests }: Pick<Price, "items" | "requests">,
  prices: Prices.Prices = Prices.current
): number => {
  const { price } = definition
  if (price === "free") return 0
  if ("request" in price) return requests * Prices.most(definition, parameters, prices)
  return items * Prices.most(definition, { ...parameters, max_results: 1 }, prices)
}

/** The price of what a source brings, or of what is left of it. */
export const priceOf = (
  { definition, parameters }: Pick<Source<unknown>, "definition" | "parameters">,
  { items, limits, requests }: Pick<Price, "items" | "requests"> & { readonly limits: Plan.Limits }
): Price => ({
  items,
  of: nounOf(definition),
  requests,
  micros: mostOf(definition, parameters, { items, requests }),
  duration: requests === 0 ? 0 : Plan.durationOf(requests, limits, 0)
})

/** A command would cost more than `--max-spend`. */
export class PriceTooHigh extends Schema.TaggedError<PriceTooHigh>()("PriceTooHigh", {
  /** What it would cost, and what `--max-spend` leaves for it, in millionths of a dollar. */
  micros: Schema.Number,
  limit: Schema.Number,
  spent: Schema.Number
}) {
  override get message(): string {
    const before = this.spent === 0 ? "" : `, of which ${Text.dollars(this.spent)} are spent`
    return `It would cost up to ${Text.dollars(this.micros)}; --max-spend is ${Text.dollars(this.limit)}${before}`
  }
  get advice(): string {
    return "Nothing was requested. Ask for less, or raise --max-spend."
  }
}

/** Who was asked did not want to spend it. */
export class NotAgreed extends Schema.TaggedError<NotAgreed>()("NotAgreed", { micros: Schema.Number }) {
  override get message(): string {
    return `${Text.dollars(this.micros)} are not spent: nothing was requested`
  }
  get advice(): string {
    return "Ask for less, or agree beforehand with --yes or --max-spend."
  }
}

/** Why a command does not begin. */
export type Refusal = PriceTooHigh | NotAgreed

/** Where the amount may be above which a command asks, in dollars. */
export const variable = "POSTWIRE_ASK_ABOVE"

/** Above so many dollars a command asks, unless the variable says otherwise. */
const defaultThreshold = 5

const threshold = Effect.gen(function*() {
  const text = Variables.valueOf(yield* Variables.Environment, variable)
  const dollars = Number(text ?? defaultThreshold)
  if (isAmount(dollars)) return Prices.microsOf(dollars)
  yield* Report.say(`${variable} is no amount of dollars: ${defaultThreshold} is taken.`)
  return Prices.microsOf(defaultThreshold)
})

/** What a command is about to do, in one line. */
export const told = ({ duration, items, micros, of, requests }: Price): string =>
  [
    Text.quantity(items, of),
    Text.quantity(requests, "requests"),
    micros === 0 ? "free" : `up to ${Text.dollars(micros)}`,
    ...duration === undefined || duration < 1_000 ? [] : [`${Text.duration(duration / 1000)} or more`]
  ].join(", ")

/**
 * Says what a command costs, before its first request. It is refused where that is more than `--max-spend`. Whoever sits
 * at a terminal is asked before much is spent, unless a flag has agreed.
 */
export const agree = Effect.fnUntraced(function*({ maxSpend, yes }: Flags, price: Price) {
  const { micros, spent = 0 } = price
  if (Option.isSome(maxSpend) && spent + micros > maxSpend.value) {
    return yield* new PriceTooHigh({ micros, limit: maxSpend.value, spent })
  }
  yield* Report.say(`${told(price)}.`)
  if (yes || Option.isSome(maxSpend) || micros <= (yield* threshold)) return
  if (!(yield* Ask.isPossible)) return
  if (!(yield* Ask.confirm(`Spend up to ${Text.dollars(micros)}?`))) return yield* new NotAgreed({ micros })
})
