/** The display of an export: while it runs, when it is complete, and when it was interrupted. */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type * as Export from "@postwire/export/Export"
import * as Plan from "@postwire/export/sources/Plan"
import type { Anomalies } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Phase from "../terminal/Phase.ts"
import * as Progress from "../terminal/Progress.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

/** The place of the errors: files have them, standard output has only items. */
export const whereErrorsAre = ({ files }: Export.Summary, out: string): string =>
  out === "-" ? "above" : `in ${files.find(({ holds }) => holds === "errors")?.name ?? `the table errors of ${out}`}`

export interface Flags {
  readonly out: string
  readonly limit: Option.Option<number>
  readonly partitions: Option.Option<number>
  readonly resume: boolean
}

type Estimated = Pick<Plan.Estimate, "items" | "limits" | "pageSize">

/** The estimate, as soon as there is one. */
export type Estimating = () => Option.Option<Estimated>

/** Shows a bar on a terminal, slow phases before and after, and the partial errors of an export to standard output. */
export const progressOf = Effect.fnUntraced(function*(
  flags: Flags,
  noun: string,
  estimated: Estimating
) {
  const progress = yield* Progress.make({ elsewhere: "seldom" })
  const phase = yield* Phase.make
  if (flags.resume) yield* phase.enter(`Reading and verifying the existing part of ${flags.out}.`)
  else if (Option.isSome(flags.partitions)) yield* phase.enter("Counting the search, to split it.")
  const begun = yield* Monotonic.millis
  let before: number | undefined
  let pagesBefore = 0
  let last: Progress.State | undefined
  const onPage = Effect.fnUntraced(
    function*(
      { pageItems, problems, progress: { complete, errors, items, outcomes, pages }, rateLimit }: Export.Report
    ) {
      yield* phase.leave
      if (flags.out === "-") yield* Report.sayProblems(problems, errors - problems.length)
      const now = yield* Monotonic.millis
      if (before === undefined) {
        before = items - pageItems
        pagesBefore = pages - 1
      }
      const estimate = estimated()
      // With `--each` the estimate counts rows, as some have no item; `--limit` always counts items.
      const at = outcomes === undefined ? items : sumOf(outcomes)
      const total = Option.match(estimate, { onNone: () => Infinity, onSome: ({ items }) => items })
      const limit = Option.getOrElse(flags.limit, () => Infinity)
      const left = Math.min(total - at, outcomes === undefined ? limit - items : Infinity)
      const each = (now - begun) / Math.max(1, pages - pagesBefore)
      last = {
        done: complete
          ? 1
          : Math.min(total, limit) === Infinity
          ? undefined
          : Math.min(Math.max(at / Math.max(total, 1), items / limit), 0.99),
        posts: items,
        noun,
        before,
        pages,
        remaining: rateLimit?.remaining,
        toGo: complete || estimate._tag === "None"
          ? undefined
          : Plan.durationOf(
            Math.max(1, Math.ceil(left / estimate.value.pageSize)),
            // The announced rate limit is more exact than the usual one.
            { ...estimate.value.limits, requests: rateLimit?.limit ?? estimate.value.limits.requests },
            each
          ) / 1000,
        waitingUntil: !complete && rateLimit?.remaining === 0 ? rateLimit.resetAt.getTime() : undefined
      }
      yield* progress.update(last)
      // A part may not be the last one, and standard output needs no last step.
      if (complete && Option.isNone(flags.partitions) && flags.out !== "-") {
        yield* phase.enter(`All pages are fetched; writing ${flags.out}.`)
      }
    }
  )
  /** Draws the end, as parts do not know that they are the last. */
  const end = Effect.fnUntraced(function*({ status }: Export.Summary) {
    yield* phase.leave
    if (last !== undefined && status !== "interrupted") yield* progress.update({ ...last, done: 1, toGo: undefined })
    yield* progress.end
  })
  return { onStart: phase.leave, onPage, end }
})

export const lines = ({ files, progress, status }: Export.Summary, noun: string): ReadonlyArray<string> => {
  const width = Math.max(...files.map(({ name }) => name.length))
  return [
    `${status}: ${Text.quantity(progress.items, noun)} on ${Text.quantity(progress.pages, "pages")}`,
    ...files.map(({ bytes, holds, name, rows }) =>
      `  ${name.padEnd(width)}  ${Text.size(bytes).padStart(8)}  ${
        Text.quantity(rows, holds === "items" ? noun : holds)
      }`
    ),
    ...tally(progress.outcomes),
    ...malformed(progress.anomalies)
  ]
}

export const sumOf = (outcomes: Outcomes): number => Object.values(outcomes).reduce((sum, count) => sum + count, 0)

type Outcomes = NonNullable<Export.Summary["progress"]["outcomes"]>

/** The outcomes of rows, most frequent first. */
export const tally = (outcomes: Outcomes | undefined): ReadonlyArray<string> =>
  outcomes === undefined || sumOf(outcomes) === 0 ? [] : [
    `${Text.quantity(sumOf(outcomes), "rows")}: ${
      Object.entries(outcomes).toSorted(([, a], [, b]) => b - a)
        .map(([outcome, count]) => `${Text.count(count)} ${outcome}`).join(", ")
    }`
  ]

export const malformed = (anomalies: Anomalies = {}): ReadonlyArray<string> => {
  const rows = Object.entries(anomalies)
  if (rows.length === 0) return []
  const total = rows.reduce((sum, [, count]) => sum + count, 0)
  const places = Math.max(...rows.map(([place]) => Text.width(place)))
  const counts = Math.max(...rows.map(([, count]) => Text.count(count).length))
  return [
    `${Text.quantity(total, "members")} malformed or missing in the responses:`,
    ...rows.map(([place, count]) => `  ${Text.pad(place, places)}  ${Text.pad(Text.count(count), counts, true)}`)
  ]
}

/** The progress of an interrupted export. */
export const whereItStands = ({ progress }: Export.Summary, out: string, noun: string): string =>
  progress.requests === 0
    ? "Stopped before anything was requested."
    : out === "-"
    ? `Written: ${Text.quantity(progress.items, noun)}; an export to standard output cannot be resumed.`
    : `Kept in ${out}.postwire: ${Text.quantity(progress.items, noun)}. The same command with --resume continues.`
