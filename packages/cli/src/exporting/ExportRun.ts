/** Runs an export for a command: cost, progress, summary, and Ctrl-C. */
import type { Definition } from "@postwire/core/schema/Definition"
import type * as Spend from "@postwire/core/spend/Spend"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import type * as Export from "@postwire/export/Export"
import type { Progress } from "@postwire/export/folders/Checkpoint"
import type { Source } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as SpendAccount from "../connection/SpendAccount.ts"
import * as Spending from "../connection/Spending.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as GracefulStop from "../terminal/GracefulStop.ts"
import { nounOf } from "../terminal/Noun.ts"
import * as Report from "../terminal/Report.ts"
import * as ExportProgress from "./ExportProgress.ts"
import * as ExportTarget from "./ExportTarget.ts"

/** Refuses invalid parameters before anything is counted or deleted. */
export const check = (
  { definition, parameters, perRequest }: Pick<Source<unknown>, "definition" | "parameters" | "perRequest">
) => {
  const prepared = RequestEncoder.encode(definition, { ...parameters, ...perRequest }, Wire.neutral, {
    checks: "spec"
  })
  return prepared instanceof Error ? Effect.fail(prepared) : Effect.void
}

interface Showing<S, R> {
  readonly noun: string
  readonly estimated: ExportProgress.Estimating
  /** Shows the rest of the cost before the first request. */
  readonly confirmCost: (before: Progress) => Effect.Effect<unknown, S, R>
}

/** Runs an export with a bar. The cost of earlier runs counts towards `--max-spend`. */
export const show = Effect.fnUntraced(
  function*<S, R, E, R2>(
    flags: ExportProgress.Flags & Pick<ExportTarget.Flags, "force">,
    { confirmCost, estimated, noun }: Showing<S, R>,
    work: (options: Omit<Export.Options<S>, "sink">) => Effect.Effect<Export.Summary, E, R2>
  ) {
    const context = yield* Effect.context<R | Spend.Total>()
    const progress = yield* ExportProgress.progressOf(flags, noun, estimated)
    const summary = yield* work({
      mode: ExportTarget.modeOf(flags),
      onStart: (before) =>
        Effect.gen(function*() {
          yield* SpendAccount.countOn(before)
          yield* progress.onStart
          yield* confirmCost(before)
        }).pipe(Effect.provideContext(context)),
      onPage: progress.onPage
    })
    yield* progress.end(summary)
    return summary
  },
  Effect.scoped
)

/** Runs an export. The first Ctrl-C ends it after the current page; the second ends the process. */
export const write = Effect.fnUntraced(function*<E, R>(
  definition: Definition,
  flags: Pick<ExportTarget.Flags, "json" | "out">,
  work: (stop: Effect.Effect<void>) => Effect.Effect<Export.Summary, E, R>
) {
  const noun = nounOf(definition)
  const summary = yield* GracefulStop.run(
    (stop) => ErrorReport.within({ resumable: flags.out !== "-" })(work(stop)),
    {
      finishing: "Finishing the page; Ctrl-C again stops immediately.",
      stopped: (summary) => Report.say(ExportProgress.whereItStands(summary, flags.out, noun))
    }
  )
  if (flags.out !== "-") {
    yield* Report.print(flags.json, Spending.plainOf(summary), () => ExportProgress.lines(summary, noun))
  } else {
    const { anomalies, outcomes } = summary.progress
    yield* Effect.forEach(
      [...ExportProgress.tally(outcomes), ...ExportProgress.malformed(anomalies)],
      (line) => Report.say(line),
      { discard: true }
    )
  }
  if (summary.status === "partial") {
    const { endedEarly, outOfReach } = summary.progress
    if (endedEarly === true) {
      yield* Report.say(
        "The service ended the list although it has more: pages of this size are too large for it.",
        "Export it again without --max-results, with --force."
      )
    }
    if (outOfReach !== undefined) {
      yield* Report.say(
        `Items created from ${outOfReach.from} to ${outOfReach.to} had left the service's window before they were fetched.`
      )
    }
    if (flags.out === "-") yield* Report.sayMoreProblems(summary.progress.errors)
    return yield* new ErrorReport.PartialErrors({
      operation: definition.name,
      errors: summary.progress.errors,
      advice: `They are ${ExportProgress.whereErrorsAre(summary, flags.out)}${
        endedEarly === true ? "" : "; everything else is complete"
      }.`
    })
  }
  return summary
})
