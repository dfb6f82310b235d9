/** How commands run an export: the price before, a bar meanwhile, what there is at the end, and Ctrl-C. */
import type { Definition } from "@postwire/core/schema/Definition"
import type * as Spend from "@postwire/core/spend/Spend"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import type * as Export from "@postwire/export/Export"
import type { Progress } from "@postwire/export/folders/Checkpoint"
import type { Source } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as SpendAccount from "../connection/SpendAccount.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import { nounOf } from "../terminal/Noun.ts"
import * as Report from "../terminal/Report.ts"
import * as Stopping from "../terminal/Stopping.ts"
import * as ExportProgress from "./ExportProgress.ts"
import * as ExportTarget from "./ExportTarget.ts"

/** Refuses parameters that no request can have. What counts first, or has to make room, would else find out later. */
export const check = (
  { definition, parameters, perRequest }: Pick<Source<unknown>, "definition" | "parameters" | "perRequest">
) => {
  const prepared = RequestEncoder.encode(definition, { ...parameters, ...perRequest }, Wire.neutral, {
    checks: "spec"
  })
  return prepared instanceof Error ? Effect.fail(prepared) : Effect.void
}

/** What is shown of an export. */
interface Showing<S, R> {
  readonly noun: string
  readonly estimated: ExportProgress.Estimating
  /** Tells what is left of the price, before the first request. */
  readonly agree: (before: Progress) => Effect.Effect<unknown, S, R>
}

/** Runs an export with a bar. What earlier runs of it have spent counts towards `--max-spend`. */
export const show = Effect.fnUntraced(
  function*<S, R, E, R2>(
    flags: ExportProgress.Flags & Pick<ExportTarget.Flags, "force">,
    { agree, estimated, noun }: Showing<S, R>,
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
          yield* agree(before)
        }).pipe(Effect.provideContext(context)),
      onPage: progress.onPage
    })
    yield* progress.end(summary)
    return summary
  },
  Effect.scoped
)

/** Runs what writes files. The first Ctrl-C ends it, and waits for the page under way; the second ends the process. */
export const write = Effect.fnUntraced(function*<E, R>(
  definition: Definition,
  flags: Pick<ExportTarget.Flags, "json" | "out">,
  work: (stop: Effect.Effect<void>) => Effect.Effect<Export.Summary, E, R>
) {
  const noun = nounOf(definition)
  const summary = yield* Stopping.run(
    (stop) => ErrorReport.within({ resumable: flags.out !== "-" })(work(stop)),
    {
      finishing: "Finishing the page; Ctrl-C again stops at once.",
      stopped: (summary) => Report.say(ExportProgress.whereItStands(summary, flags.out, noun))
    }
  )
  if (flags.out !== "-") yield* Report.print(flags.json, summary, () => ExportProgress.told(summary, noun))
  else {
    const { anomalies, outcomes } = summary.progress
    yield* Effect.forEach(
      [...ExportProgress.tally(outcomes), ...ExportProgress.malformed(anomalies)],
      (line) => Report.say(line),
      { discard: true }
    )
  }
  if (summary.status === "partial") {
    const { outOfReach } = summary.progress
    if (outOfReach !== undefined) {
      yield* Report.say(
        `What was created from ${outOfReach.from} to ${outOfReach.to} had left the service's window before it was fetched.`
      )
    }
    if (flags.out === "-") yield* Report.sayMoreProblems(summary.progress.errors)
    return yield* new ErrorReport.PartialErrors({
      operation: definition.name,
      errors: summary.progress.errors,
      advice: `They are ${ExportProgress.whereErrorsAre(summary, flags.out)}; everything else is there.`
    })
  }
})
