/** `--each FILE`: one operation for each row of a file of users, ids or queries, and its cost. */
import { getUsers } from "@postwire/core/operations/Users"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Progress } from "@postwire/export/folders/Checkpoint"
import * as Rows from "@postwire/export/rows/Rows"
import * as Each from "@postwire/export/sources/Each"
import * as EachPlan from "@postwire/export/sources/EachPlan"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Spending from "../connection/Spending.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import { sumOf } from "./ExportProgress.ts"

export const flags = {
  each: Args.text(
    "each",
    "Run it for each row of a file: lines, CSV or JSON Lines, also compressed; - is standard input",
    "FILE"
  ),
  eachColumn: Args.text("each-column", "The column to use (default: the first known one)", "NAME"),
  limitEach: Args.int("limit-each", 1).pipe(Args.optional("The most items per row"))
}

/** Their values; empty for an operation that rows cannot fill. */
export interface Flags {
  readonly each: Option.Option<string>
  readonly eachColumn: Option.Option<string>
  readonly limitEach: Option.Option<number>
}

export const none: Flags = { each: Option.none(), eachColumn: Option.none(), limitEach: Option.none() }

/** The flag that rows replace, if any. */
export const replaced = (definition: Definition): ReadonlyArray<string> => {
  const target = Each.targetOf(definition)
  return target === undefined ? [] : [target.parameter]
}

/** Opens the file of `--each`. Requires either the file or the flag that it replaces. */
export const open = Effect.fnUntraced(function*(
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  { each, eachColumn, limitEach }: Flags
) {
  const target = Each.targetOf(definition)
  if (target === undefined) return undefined
  const isGiven = target.parameter in parameters
  if (Option.isNone(each)) {
    if (!isGiven) {
      return yield* ErrorReport.refuse(
        `--${target.parameter} is missing`,
        "Pass it, or a file of them with --each."
      )
    }
    const stray = Option.isSome(eachColumn) ? "each-column" : Option.isSome(limitEach) ? "limit-each" : undefined
    return stray === undefined
      ? undefined
      : yield* ErrorReport.refuse(`--${stray} is for --each`, "Omit it, or name a file with --each.")
  }
  if (isGiven) {
    return yield* ErrorReport.refuse(
      `--${target.parameter} and --each contradict each other`,
      "Every row of the file is one: pass only one of them."
    )
  }
  const rows = yield* Rows.open(each.value, { kind: target.kind, column: Option.getOrUndefined(eachColumn) })
  return { definition, parameters, rows, limitEach: Option.getOrUndefined(limitEach) }
})

/** The cost of counting the results of the rows. */
const priceOfCounting = ({ rows }: EachPlan.Job, { by, requests }: EachPlan.Asking): Spending.Price => {
  const definition = OperationFlags.answering.find(({ name }) => name === by)
  const items = rows.count
  const micros = definition === undefined ? 0 : Spending.mostOf(definition, {}, { items, requests })
  return { items, of: "rows to count", requests, micros }
}

/** The estimate: an upper bound, or a count, which may cost something itself. */
export const estimate = Effect.fnUntraced(function*(job: EachPlan.Job, flags: Spending.Flags, mayCount: boolean) {
  const bound = EachPlan.bound(job)
  const asking = EachPlan.asking(job)
  if (bound !== undefined && !(mayCount && asking !== undefined && job.limitEach === undefined)) return bound
  if (asking !== undefined) yield* Spending.confirmCost(flags, priceOfCounting(job, asking))
  return yield* EachPlan.count(job)
})

/** The most that the rows can cost, in millionths of a dollar: their items, and users to look up. */
export const mostOf = (
  { definition, parameters }: EachPlan.Job,
  { items, names, requests }: Pick<EachPlan.Estimate, "items" | "names" | "requests">
): number =>
  Spending.mostOf(definition, parameters, { items, requests }) +
  Spending.mostOf(getUsers.definition, {}, { items: names, requests: 0 })

/** Shows the rest of an estimate, and asks. */
export const confirmCost = (
  job: EachPlan.Job,
  flags: Spending.Flags & { readonly limit: Option.Option<number> },
  planned: EachPlan.Estimate,
  { items: done = 0, outcomes = {}, spent }: Partial<Pick<Progress, "items" | "outcomes" | "spent">>
) => {
  const items = Math.max(0, Math.min(planned.items, Option.getOrElse(flags.limit, () => Infinity)) - done)
  const share = Math.ceil(planned.requests * items / Math.max(1, planned.items))
  const rowsDone = sumOf(outcomes)
  const requests = Math.max(Math.min(planned.rows, items) - rowsDone, share)
  const names = Math.min(planned.names, planned.rows - rowsDone)
  return Spending.confirmCost(flags, {
    ...Spending.priceOf(job, { items, requests, limits: planned.limits }),
    micros: mostOf(job, { items, names, requests }),
    spent
  })
}
