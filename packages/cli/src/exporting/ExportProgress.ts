/** How an export is shown: while it runs, when it has ended, when it was interrupted. */
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

/** Items only go to standard output. */
export const whereErrorsAre = ({ files }: Export.Summary, out: string): string =>
  out === "-" ? "above" : `in ${files.find(({ holds }) => holds === "errors")?.name ?? `the table errors of ${out}`}`

/** What the flags say of how an export goes on. */
export interface Flags {
  readonly out: string
  readonly limit: Option.Option<number>
  readonly partitions: Option.Option<number>
  readonly resume: boolean
}

/** What is known of all that there is. */
type Estimated = Pick<Plan.Estimate, "items" | "limits" | "pageSize">

/** The same as soon as it is known. */
export type Estimating = () => Option.Option<Estimated>

/** A bar where there is a terminal, what takes long before and after it, and partial errors of what goes to standard output. */
export const progressOf = Effect.fnUntraced(function*(
  flags: Flags,
  noun: string,
  estimated: Estimating
) {
  const progress = yield* Progress.make({ elsewhere: "seldom" })
  const phase = yield* Phase.make
  if (flags.resume) yield* phase.enter(`What was written of ${flags.out} is read and compared.`)
  else if (Option.isSome(flags.partitions)) yield* phase.enter("The search is counted, so that it can be cut.")
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
      const total = totalOf(estimate, flags.limit)
      // Not every row of a file has an item.
      const at = outcomes === undefined ? items : sumOf(outcomes)
      const each = (now - begun) / Math.max(1, pages - pagesBefore)
      last = {
        done: complete ? 1 : total === undefined ? undefined : Math.min(at / Math.max(total, 1), 0.99),
        posts: items,
        noun,
        before,
        pages,
        remaining: rateLimit?.remaining,
        toGo: complete || total === undefined || estimate._tag === "None"
          ? undefined
          : Plan.durationOf(
            Math.max(1, Math.ceil((total - at) / estimate.value.pageSize)),
            // What the service has announced is better than what is usual.
            { ...estimate.value.limits, requests: rateLimit?.limit ?? estimate.value.limits.requests },
            each
          ) / 1000,
        waitingUntil: !complete && rateLimit?.remaining === 0 ? rateLimit.resetAt.getTime() : undefined
      }
      yield* progress.update(last)
      // A part does not know whether it is the last one, and standard output needs no end.
      if (complete && Option.isNone(flags.partitions) && flags.out !== "-") {
        yield* phase.enter(`All pages are there; ${flags.out} is written.`)
      }
    }
  )
  /** Draws how it has ended: parts do not know that they are all. */
  const end = Effect.fnUntraced(function*({ status }: Export.Summary) {
    yield* phase.leave
    if (last !== undefined && status !== "interrupted") yield* progress.update({ ...last, done: 1, toGo: undefined })
    yield* progress.end
  })
  return { onStart: phase.leave, onPage, end }
})

const totalOf = (estimate: Option.Option<Estimated>, limit: Option.Option<number>): number | undefined =>
  Option.match(estimate, {
    onNone: () => Option.getOrUndefined(limit),
    onSome: ({ items }) => Math.min(items, Option.getOrElse(limit, () => Infinity))
  })

/** What there is now. */
export const told = ({ files, progress, status }: Export.Summary, noun: string): ReadonlyArray<string> => {
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

/** How many rows of a file there are together. */
export const sumOf = (outcomes: Outcomes): number => Object.values(outcomes).reduce((sum, count) => sum + count, 0)

type Outcomes = NonNullable<Export.Summary["progress"]["outcomes"]>

/** What became of the rows of a file, most of them first. */
export const tally = (outcomes: Outcomes | undefined): ReadonlyArray<string> =>
  outcomes === undefined || sumOf(outcomes) === 0 ? [] : [
    `${Text.quantity(sumOf(outcomes), "rows")}: ${
      Object.entries(outcomes).toSorted(([, a], [, b]) => b - a)
        .map(([outcome, count]) => `${Text.count(count)} ${outcome}`).join(", ")
    }`
  ]

/** What was malformed in the answers, by place. */
export const malformed = (anomalies: Anomalies = {}): ReadonlyArray<string> => {
  const rows = Object.entries(anomalies)
  if (rows.length === 0) return []
  const total = rows.reduce((sum, [, count]) => sum + count, 0)
  const places = Math.max(...rows.map(([place]) => Text.width(place)))
  const counts = Math.max(...rows.map(([, count]) => Text.count(count).length))
  return [
    `${Text.quantity(total, "members")} malformed or missing in the answers:`,
    ...rows.map(([place, count]) => `  ${Text.pad(place, places)}  ${Text.pad(Text.count(count), counts, true)}`)
  ]
}

/** Where an export stands that was interrupted. */
export const whereItStands = ({ progress }: Export.Summary, out: string, noun: string): string =>
  out === "-"
    ? `Written: ${Text.quantity(progress.items, noun)}; what goes to standard output cannot be resumed.`
    : `Kept in ${out}.postwire: ${Text.quantity(progress.items, noun)}. The same command with --resume goes on.`
