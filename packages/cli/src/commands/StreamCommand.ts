/** `postwire stream [OPERATION]`: writes a stream to standard output or into files, continuing the last run. */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { Definition } from "@postwire/core/schema/Definition"
import type * as Spend from "@postwire/core/spend/Spend"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import type { Sink } from "@postwire/export/folders/Sink"
import * as Follow from "@postwire/export/Follow"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stdio from "effect/Stdio"
import type * as Input from "effect/Terminal"
import * as Connection from "../connection/Connection.ts"
import * as SpendAccount from "../connection/SpendAccount.ts"
import * as Spending from "../connection/Spending.ts"
import * as ExportRun from "../exporting/ExportRun.ts"
import * as ExportTarget from "../exporting/ExportTarget.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as StreamProgress from "../streams/StreamProgress.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as GracefulStop from "../terminal/GracefulStop.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import { lines } from "./Lines.ts"

const units = {
  s: "seconds",
  min: "minutes",
  h: "hours",
  d: "days"
} as const

const bytesOf = { kB: 1e3, MB: 1e6, GB: 1e9 } as const

const { resume: _, ...files } = ExportTarget.flags

const own = {
  ...files,
  out: files.out.pipe(
    Flag.withDescription("The file to write, which the same command continues; - (the default) is standard output")
  ),
  force: files.force.pipe(Flag.withDescription("Start over, and replace existing files")),
  rotateEvery: Flag.String("rotate-every").pipe(
    Flag.filterMap(
      (text) => Option.map(amountOf(text, units), ({ amount, unit }) => Duration.fromInputUnsafe(`${amount} ${unit}`)),
      () => "a time such as 30min, 1h or 1d"
    ),
    Flag.withMetavar("TIME"),
    Args.optional("Start a new file at every multiple of this time in UTC: 30min, 1h, 1d")
  ),
  rotateSize: Flag.String("rotate-size").pipe(
    Flag.filterMap(
      (text) => Option.map(amountOf(text, bytesOf), ({ amount, unit }) => amount * unit),
      () => "a size such as 500kB, 100MB or 1GB"
    ),
    Flag.withMetavar("SIZE"),
    Args.optional("Start a new file at this size: 500kB, 100MB, 1GB")
  ),
  recover: Flag.Literals("recover", ["none", "search", "recovery"]).pipe(
    Args.optional(
      "How to fetch missed items after a disconnect; recovery needs Enterprise access (default: search for streams with rules)"
    )
  ),
  tag: Args.many("tag", "TAG", "Only items that match rules with this tag; repeatable"),
  limit: Args.int("limit", 1).pipe(Args.optional("Stop after this many items")),
  ...Spending.flags,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof own>

function amountOf<A>(
  text: string,
  units: Readonly<Record<string, A>>
): Option.Option<{ readonly amount: number; readonly unit: A }> {
  const [, number = "", name = ""] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text) ?? []
  const unit = Object.entries(units).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
  const amount = Number(number)
  return unit === undefined || !(amount > 0) ? Option.none() : Option.some({ amount, unit })
}

/** Parameters that the stream sets itself when it connects. */
const ofConnections = ["backfill_minutes", "start_time", "end_time"]

const flagsOf = (definition: Definition) => ({
  own,
  parameters: OperationFlags.make(definition, { without: ofConnections })
})

/** `postwire stream`, with a command for each stream. */
export const command = Command.make(
  "stream",
  flagsOf(streamPosts.definition),
  ({ own, parameters }) => run(streamPosts.definition, OperationFlags.parametersOf(parameters), own)
).pipe(
  Command.withSubcommands(OperationFlags.live.map((definition) =>
    OperationFlags.named(
      definition,
      Command.make(
        definition.name,
        flagsOf(definition),
        ({ own, parameters }) => run(definition, OperationFlags.parametersOf(parameters), own)
      )
    )
  )),
  Args.help(
    "Write the items of a stream (default: streamPosts), line by line. It stays connected until Ctrl-C. " +
      "The same command continues where the last run ended.",
    lines.stream,
    {
      "postwire stream --post-fields author_id | jq -r .text": "Every match of the rules",
      "postwire stream --out posts.jsonl.zst --rotate-every 1h":
        "An archive, one file per hour; run it again after an interruption",
      "postwire stream --tag cats --out cats.csv --limit 1000 --max-spend 10":
        "A thousand posts of one rule as CSV, for at most ten dollars"
    }
  )
)

const run = Effect.fnUntraced(
  function*(definition: Definition, parameters: Readonly<Record<string, unknown>>, given: Flags) {
    const flags = { ...given, out: given.out === "" ? "-" : given.out }
    const { out } = flags
    const rotate = {
      every: Option.getOrUndefined(flags.rotateEvery),
      size: Option.getOrUndefined(flags.rotateSize)
    }
    if (out === "-" && (rotate.every ?? rotate.size) !== undefined) {
      return yield* ErrorReport.refuse("--rotate-every and --rotate-size are for files", "Name one with --out.")
    }
    if (flags.tag.length > 0 && definition.live?.rules !== true) {
      return yield* ErrorReport.refuse(`${definition.name} has no rules, so no --tag`, "Omit it.")
    }
    const sink = yield* ExportTarget.sinkOf({ ...flags, resume: false, partitions: Option.none() })
    const source = Follow.fromDefinition(definition, parameters)
    yield* ExportRun.check(source)
    const noun = nounOf(definition)
    const begun = yield* Monotonic.millis
    const tell = Effect.fnUntraced(function*(summary: Follow.Summary) {
      const seconds = ((yield* Monotonic.millis) - begun) / 1000
      const lines = () => StreamProgress.summaryLines(summary, { noun, out, seconds })
      yield* out === "-" ? Report.say(lines().join("; ")) : Report.print(flags.json, Spending.plainOf(summary), lines)
    })
    const summary = yield* GracefulStop.run(
      (stop) => follow(source, sink, rotate, { ...flags, noun, stop }),
      { finishing: "Ending the stream; Ctrl-C again stops immediately.", stopped: tell }
    )
    yield* tell(summary)
  }
)

const follow = (
  source: Follow.Source,
  sink: Sink,
  rotate: Follow.Rotation,
  flags: Flags & { readonly noun: string; readonly stop: Effect.Effect<void> }
) =>
  Effect.gen(function*() {
    const { noun, out, stop, tag } = flags
    const { output } = yield* Terminal
    const context = yield* Effect.context<Spend.Total | Stdio.Stdio | Input.Terminal>()
    const onEvent = yield* StreamProgress.make(noun, !(out === "-" && output.isTerminal))
    return yield* Follow.run(source, {
      sink,
      rotate,
      stop,
      onEvent,
      mode: flags.force ? "force" : "resume",
      limit: Option.getOrUndefined(flags.limit),
      recover: Option.getOrUndefined(flags.recover),
      ...tag.length === 0 ? {} : { tags: tag },
      onStart: (before) =>
        Effect.gen(function*() {
          yield* SpendAccount.countOn(before)
          yield* confirmCost(source, flags, before)
          if (before.until !== undefined) {
            yield* Report.say(
              `Continuing from ${before.until.slice(0, 19).replace("T", " ")}, where the last run ended.`
            )
          }
        }).pipe(Effect.provideContext(context))
    })
  }).pipe(
    Effect.scoped,
    Connection.provide(flags),
    ErrorReport.within({ resumable: flags.out === "-" ? false : "itself" })
  )

/** Shows the cost: the total if a limit is set, else that of each item. */
const confirmCost = Effect.fnUntraced(function*(
  { definition, parameters }: Follow.Source,
  flags: Flags & { readonly noun: string },
  { spent }: Follow.Progress
) {
  const { limit, noun } = flags
  return yield* Option.isNone(limit)
    ? Spending.sayEach({ definition, parameters }, flags, noun)
    : Spending.confirmCost(flags, {
      items: limit.value,
      of: noun,
      requests: 1,
      micros: Spending.mostOf(definition, parameters, { items: limit.value, requests: 1 }),
      spent
    })
})

const nounOf = ({ result }: Definition): string =>
  result._tag === "One" ? (result.kind === "post" ? "posts" : "likes") : "events"
