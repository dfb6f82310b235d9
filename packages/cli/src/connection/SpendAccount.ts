/** The record of what the commands of a user spend, and its limits. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Prices from "@postwire/core/spend/Prices"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UserDirectories from "effect/persistence/UserDirectories"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Report from "../terminal/Report.ts"
import * as Variables from "./Variables.ts"

/** The variable with the store: the path of an SQLite file, or a redis:// address. */
export const variable = "POSTWIRE_SPEND_STORE"

/** The variables with spend limits, in dollars. */
const limits = { perDay: "POSTWIRE_SPEND_PER_DAY", perMonth: "POSTWIRE_SPEND_PER_MONTH" } as const

/** Limits that apply unless others are set, in dollars. */
export type Usual = Pick<Spend.Limit, "perDay" | "perMonth">

/** The variable that allows spending while the store is unavailable, in spite of a limit. */
const withoutStore = "POSTWIRE_SPEND_WITHOUT_STORE"

/** The variable with the most that a request without a published price costs, in dollars. */
const unknownPrice = "POSTWIRE_UNKNOWN_PRICE"

/** The amount of dollars in a variable. */
const amountOf = Effect.fnUntraced(function*(variables: Variables.Variables, name: string) {
  const text = Variables.valueOf(variables, name)
  if (text === undefined) return undefined
  const dollars = Number(text)
  return dollars >= 0 ? dollars : yield* new InvalidSettings({ setting: name, rule: "must be dollars, as 12.50" })
})

/** The prices of the service, with the stated one in the variables. */
export const pricesOf = Effect.fnUntraced(function*(variables: Variables.Variables) {
  const prices = Prices.changed({ unknown: yield* amountOf(variables, unknownPrice) })
  return prices instanceof InvalidSettings
    ? yield* new InvalidSettings({ setting: unknownPrice, rule: "must be 0 to 1000 dollars" })
    : prices
})

/** The limits in the variables, in dollars, or else the usual ones. */
export const limitOf = Effect.fnUntraced(function*(variables: Variables.Variables, usual: Usual = {}) {
  const otherwise = Variables.valueOf(variables, withoutStore) ?? "refuse"
  if (otherwise !== "refuse" && otherwise !== "allow") {
    return yield* new InvalidSettings({ setting: withoutStore, rule: "must be refuse or allow" })
  }
  return {
    perDay: (yield* amountOf(variables, limits.perDay)) ?? usual.perDay,
    perMonth: (yield* amountOf(variables, limits.perMonth)) ?? usual.perMonth,
    withoutStore: otherwise
  } satisfies Spend.Limit
})

/** The default file of this user, beside the journal of uploads. */
const ownFile = Effect.gen(function*() {
  const folder = yield* UserDirectories.make().state("postwire")
  yield* Effect.tryPromise(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  return join(folder, "spend.db")
})

/**
 * The given store, or the file of this user. Without a store a command counts for itself, which is refused if there is a limit:
 * every command would start from 0.
 */
export const layerStore = (
  variables: Variables.Variables,
  { perDay, perMonth, withoutStore }: Spend.Limit
): Layer.Layer<SpendStore.SpendStore, InvalidSettings> => {
  const named = NodeClient.fromEnvironment(variables).spendStore
  if (named !== undefined) return NodeClient.layerSpendStore({ spendStore: named })
  const isKept = withoutStore === "refuse" && (perDay !== undefined || perMonth !== undefined)
  const without = (reason: string) =>
    Layer.effect(
      SpendStore.SpendStore,
      isKept
        ? Effect.fail(
          new InvalidSettings({
            setting: variable,
            rule: `must name a file: ${reason}, so the spend limit cannot be enforced`
          })
        )
        : Effect.as(
          Report.say(`Spending is not recorded: ${reason}.`, `Name a file in ${variable}.`),
          SpendStore.makeMemory()
        )
    )
  return Layer.unwrap(Effect.match(ownFile, {
    onFailure: () => without("your state folder cannot be used"),
    onSuccess: (spendStore) =>
      Layer.catch(NodeClient.layerSpendStore({ spendStore }), ({ rule }) => without(`${spendStore} ${rule}`))
  }))
}

/** Counts the costs of earlier runs of the same work towards `--max-spend`. */
export const countOn = (
  { spent = 0 }: { readonly spent?: number | undefined }
): Effect.Effect<void, never, Spend.Total> =>
  Effect.map(Spend.Total, (total) => {
    total.spent += spent
  })

/** Counts what a command spends, together with all commands of this user. `maxSpend` limits this command alone. */
export const layer = (
  variables: Variables.Variables,
  maxSpend: Option.Option<number>,
  usual?: Usual
): Layer.Layer<never, InvalidSettings> =>
  Layer.unwrap(Effect.gen(function*() {
    const limit = yield* limitOf(variables, usual)
    const { unknown } = yield* pricesOf(variables)
    return Spend.layer({
      spendLimit: { ...limit, total: Option.getOrUndefined(Option.map(maxSpend, Prices.dollarsOf)) },
      prices: { unknown: unknown === undefined ? undefined : Prices.dollarsOf(unknown) },
      appOwner: Variables.valueOf(variables, "POSTWIRE_APP_OWNER")
    }).pipe(Layer.provide(layerStore(variables, limit)))
  }))
