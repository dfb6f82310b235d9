/** `postwire export OPERATION`: any paged operation into a file, from where the last run got to. */
import { Client } from "@postwire/core/Client"
import type { Definition } from "@postwire/core/Definition"
import * as Monotonic from "@postwire/core/Monotonic"
import * as Prepare from "@postwire/core/Prepare"
import * as Wire from "@postwire/core/Wire"
import * as Export from "@postwire/export/Export"
import * as Partitions from "@postwire/export/Partitions"
import * as Plan from "@postwire/export/Plan"
import type { Sink } from "@postwire/export/Sink"
import * as Csv from "@postwire/export/sinks/Csv"
import type { Compression } from "@postwire/export/sinks/Files"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Sqlite from "@postwire/export/sinks/Sqlite"
import * as StandardOutput from "@postwire/export/sinks/StandardOutput"
import * as Source from "@postwire/export/Source"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as ClusterExport from "./ClusterExport.ts"
import * as Connection from "./Connection.ts"
import * as OperationFlags from "./OperationFlags.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"

const formats = ["jsonl", "csv", "parquet", "sqlite"] as const
type Format = typeof formats[number]

const own = {
  out: Flag.String("out").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("The file to write; - is standard output"),
    Flag.withDefault("")
  ),
  format: Flag.Literals("format", formats).pipe(
    Flag.withDescription("Default: what the file's name says, else jsonl"),
    Flag.optional
  ),
  gzip: Flag.Boolean("gzip").pipe(Flag.withDescription("Compress jsonl or csv with gzip"), Flag.withDefault(false)),
  zstd: Flag.Boolean("zstd").pipe(
    Flag.withDescription("Compress jsonl or csv with Zstandard"),
    Flag.withDefault(false)
  ),
  guard: Flag.Boolean("guard").pipe(
    Flag.withDescription("In csv, put ' before texts that a spreadsheet takes for formulas"),
    Flag.withDefault(false)
  ),
  limit: Flag.Int("limit").pipe(
    Flag.filter((limit) => limit >= 1, () => "1 or more"),
    Flag.withDescription("End after so many items"),
    Flag.optional
  ),
  resume: Flag.Boolean("resume").pipe(
    Flag.withDescription("Go on where the last run of this command ended"),
    Flag.withDefault(false)
  ),
  force: Flag.Boolean("force").pipe(Flag.withDescription("Replace what is there"), Flag.withDefault(false)),
  account: Flag.String("account").pipe(
    Flag.withDescription("Name of the account, where its token changes from run to run"),
    Flag.optional
  ),
  credentials: Connection.flag,
  ...ClusterExport.flags
}

const partitions = Flag.Int("partitions").pipe(
  Flag.filter((parts) => parts >= 2 && parts <= 1_000, () => "2 to 1000"),
  Flag.withDescription("Cut the search into so many spans of time, four at a time"),
  Flag.optional
)

/** `postwire export`, with a command for each operation that pages. */
export const command = Command.make("export").pipe(
  Command.withDescription("Export any paged operation into a file. What ends it, it can be resumed."),
  Command.withShortDescription("Export an operation into a file"),
  Command.withSubcommands(OperationFlags.paged.map((definition) => {
    const isSearch = "sort_order" in (definition.query ?? {})
    const flags = { ...own, ...isSearch ? { partitions } : {} }
    return OperationFlags.named(
      definition,
      Command.make(
        definition.name,
        { own: flags, parameters: OperationFlags.make(definition, { without: OperationFlags.pageToken(definition) }) },
        ({ own, parameters }) =>
          run(definition, OperationFlags.parametersOf(parameters), { partitions: Option.none(), ...own })
      )
    )
  })),
  Command.withExamples([
    {
      command: "postwire export searchRecentPosts --query effect --out effect.jsonl",
      description: "Every match of the last seven days, one JSON object a line"
    },
    {
      command: "postwire export getUsersFollowers --id 2244994945 --out followers.csv --resume",
      description: "Followers as CSV; run it again until it is done"
    }
  ])
)

interface Flags extends ClusterExport.Options {
  readonly cluster: Option.Option<Redacted.Redacted>
  readonly out: string
  readonly format: Option.Option<Format>
  readonly gzip: boolean
  readonly zstd: boolean
  readonly guard: boolean
  readonly limit: Option.Option<number>
  readonly resume: boolean
  readonly force: boolean
  readonly account: Option.Option<string>
}

const run = Effect.fnUntraced(
  function*(definition: Definition, parameters: Readonly<Record<string, unknown>>, flags: Flags) {
    const address = yield* ClusterExport.addressOf(flags.cluster, flags.out)
    if (Option.isSome(address)) yield* checkCluster(flags)
    else if (flags.detach || flags.label !== "") {
      return yield* new Report.Contradiction({
        reason: `--${flags.detach ? "detach" : "label"} is for exports of a cluster`,
        advice: "Leave it out, or name a --cluster."
      })
    }
    if (Option.isSome(address) && flags.out === "") {
      return yield* ClusterExport.run(address.value, definition, parameters, flags)
    }
    // The parts of a cluster are its own, and it has the credentials, under a name.
    const own: Flags = Option.isNone(address) ? flags : {
      ...flags,
      account: Option.orElseSome(flags.credentials, () => "default"),
      partitions: Option.none()
    }
    const sink = yield* sinkOf(own)
    const source = Source.fromDefinition(definition, parameters)
    // What counts a search first, or has to make room, would else find out later.
    const prepared = Prepare.prepare(definition, source.parameters, Wire.neutral, { checks: "spec" })
    if (prepared instanceof Error) return yield* prepared
    return Option.isNone(address)
      ? yield* write(
        definition,
        flags,
        (stop) => Connection.provide(flags.credentials)(exportTo(sink, source, flags, nounOf(definition), stop))
      )
      : yield* ClusterExport.use(
        address.value,
        definition,
        parameters,
        flags,
        (source, layerClient) =>
          write(definition, flags, (stop) =>
            Effect.gen(function*() {
              const progress = yield* progressOf(own, nounOf(definition), () => Option.none())
              const summary = yield* Export.run(source, { ...progress.options, sink, stop })
              yield* progress.end(summary)
              return summary
            }).pipe(Effect.provide(layerClient)))
      )
  }
)

/** What an export of a cluster does not take. What can be refused is refused before anything is asked. */
const checkCluster = Effect.fnUntraced(function*(flags: Flags) {
  const refuse = (reason: string, advice: string) => new Report.Contradiction({ reason, advice })
  if (Option.isSome(flags.limit)) {
    return yield* refuse(
      "--limit and --cluster contradict each other",
      "An export of a cluster is whole: narrow it with --start-time, or leave --cluster out."
    )
  }
  if (flags.out === "") {
    const { force, format, gzip, guard, resume, zstd } = { ...flags, format: Option.isSome(flags.format) }
    const [given] = Object.entries({ format, force, gzip, guard, resume, zstd }).find(([, isGiven]) => isGiven) ?? []
    if (given !== undefined) {
      return yield* refuse(
        `--${given} is for files`,
        "Name one with --out, or leave it out: tables go on by themselves."
      )
    }
    return
  }
  if (flags.detach) {
    return yield* refuse("--detach and --out contradict each other", "Files are written when the export is done.")
  }
})

/** Runs what writes files. The first Ctrl-C ends it, and waits for the page under way; the second ends the process. */
const write = Effect.fnUntraced(function*<E, R>(
  definition: Definition,
  flags: Flags,
  work: (stop: Effect.Effect<void>) => Effect.Effect<Export.Summary, E, R>
) {
  const noun = nounOf(definition)
  const stop = yield* Deferred.make<void>()
  const resumable = Report.within({ resumable: flags.out !== "-" })(work(Deferred.await(stop)))
  const fiber = yield* Effect.forkDetach(resumable, { startImmediately: true })
  const summary = yield* Fiber.join(fiber).pipe(
    Effect.onInterrupt(() =>
      Effect.gen(function*() {
        yield* Deferred.succeed(stop, undefined)
        for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))
        yield* Report.say("Finishing the page; Ctrl-C again stops at once.")
        const exit = yield* Fiber.await(fiber)
        if (exit._tag === "Success") yield* Report.say(whereItStands(exit.value, flags.out, noun))
      })
    )
  )
  if (flags.out !== "-") yield* Console.log(told(summary, noun))
  if (summary.status === "partial") {
    const { outOfReach } = summary.progress
    if (outOfReach !== undefined) {
      yield* Report.say(
        `What was created from ${outOfReach.from} to ${outOfReach.to} had left the service's window before it was fetched.`
      )
    }
    if (flags.out === "-") yield* Report.sayMoreProblems(summary.progress.errors)
    return yield* new Report.PartialErrors({
      operation: definition.name,
      errors: summary.progress.errors,
      advice: `They are ${whereErrorsAre(summary, flags.out)}; everything else is there.`
    })
  }
})

/** What an operation lists. */
const nounOf = ({ result }: Definition): string => result._tag === "Many" ? `${result.kind.replace("_", " ")}s` : "rows"

/** Items only go to standard output. */
const whereErrorsAre = ({ files }: Export.Summary, out: string): string =>
  out === "-" ? "above" : `in ${files.find(({ holds }) => holds === "errors")?.name ?? `the table errors of ${out}`}`

/** What all exports have in common: what the flags say, and a bar where there is a terminal. */
const progressOf = Effect.fnUntraced(function*(
  flags: Flags,
  noun: string,
  estimated: () => Option.Option<Plan.Estimate>
) {
  const screen = Progress.standardError
  const progress = yield* Progress.make(screen, !screen.isTerminal)
  const begun = yield* Monotonic.millis
  let before: number | undefined
  let pagesBefore = 0
  let last: Progress.State | undefined
  const options: Omit<Export.Options, "sink"> = {
    mode: flags.resume ? "resume" : flags.force ? "force" : "new",
    limit: Option.getOrUndefined(flags.limit),
    account: Option.getOrUndefined(flags.account),
    onPage: Effect.fnUntraced(
      function*({ pageItems, problems, progress: { complete, errors, items, pages }, rateLimit }) {
        if (flags.out === "-") yield* Report.sayProblems(problems, errors - problems.length)
        const now = yield* Monotonic.millis
        if (before === undefined) {
          before = items - pageItems
          pagesBefore = pages - 1
        }
        const estimate = estimated()
        const total = totalOf(estimate, flags.limit)
        const each = (now - begun) / Math.max(1, pages - pagesBefore)
        last = {
          done: complete ? 1 : total === undefined ? undefined : Math.min(items / Math.max(total, 1), 0.99),
          posts: items,
          noun,
          before,
          pages,
          remaining: rateLimit?.remaining,
          toGo: complete || total === undefined || estimate._tag === "None"
            ? undefined
            : Plan.durationOf(
              Math.max(1, Math.ceil((total - items) / estimate.value.pageSize)),
              // What the service has announced is better than what is usual.
              { ...estimate.value.limits, requests: rateLimit?.limit ?? estimate.value.limits.requests },
              each
            ) / 1000,
          waitingUntil: !complete && rateLimit?.remaining === 0 ? rateLimit.resetAt.getTime() : undefined
        }
        yield* progress.update(last)
      }
    )
  }
  /** Draws how it has ended: parts do not know that they are all. */
  const end = Effect.fnUntraced(function*({ status }: Export.Summary) {
    if (last !== undefined && status !== "interrupted") yield* progress.update({ ...last, done: 1, toGo: undefined })
    yield* progress.end
  })
  return { options, end }
})

/** Runs an export that reads from the service. */
const exportTo = Effect.fnUntraced(function*(
  sink: Sink,
  source: Source.Source,
  flags: Flags,
  noun: string,
  stop: Effect.Effect<void>
) {
  const parts = Option.getOrUndefined(flags.partitions)
  const client = yield* Client
  let estimate: Option.Option<Plan.Estimate> = Option.none()
  const progress = yield* progressOf(flags, noun, () => estimate)
  const options: Export.Options = {
    ...progress.options,
    sink,
    stop,
    // Without a terminal nobody looks at what is left; partitions have been counted.
    onStart: Effect.gen(function*() {
      if (parts !== undefined || !Progress.standardError.isTerminal) return
      estimate = Option.flatten(yield* Effect.timeoutOption(Effect.option(Plan.estimate(source)), "5 seconds"))
    }).pipe(Effect.provideService(Client, client))
  }
  const summary = yield* parts === undefined || sink.path === undefined
    ? Export.run(source, options)
    : Partitions.run(source, {
      ...options,
      sink,
      partitions: Effect.gen(function*() {
        const planned = yield* Plan.estimate(source)
        estimate = Option.some(planned)
        return yield* cut(source, planned, parts, Option.getOrUndefined(flags.limit))
      })
    })
  yield* progress.end(summary)
  return summary
})

const cut = (source: Source.Source, { buckets }: Plan.Estimate, parts: number, limit: number | undefined) => {
  const partitions = Partitions.planPartitions(source, buckets, parts, limit)
  return partitions instanceof Plan.NotPlannable ? Effect.fail(partitions) : Effect.succeed(partitions)
}

const totalOf = (estimate: Option.Option<Plan.Estimate>, limit: Option.Option<number>): number | undefined =>
  Option.match(estimate, {
    onNone: () => Option.getOrUndefined(limit),
    onSome: ({ items }) => Math.min(items, Option.getOrElse(limit, () => Infinity))
  })

const sinkOf = (flags: Flags): Effect.Effect<Sink, Report.Contradiction> => {
  const { force, guard, gzip, out, resume, zstd } = flags
  const refuse = (reason: string, advice: string) => Effect.fail(new Report.Contradiction({ reason, advice }))
  if (out === "") return refuse("--out is missing", "Name a file, - for standard output, or a --cluster.")
  if (resume && force) return refuse("--resume and --force contradict each other", "Pass one of them.")
  if (gzip && zstd) return refuse("--gzip and --zstd contradict each other", "Pass one of them.")
  const format = Option.getOrElse(flags.format, () => formatOf(out))
  const ending = /\.(gz|zst)$/i.exec(out)?.[1]?.toLowerCase()
  if (gzip && ending === "zst" || zstd && ending === "gz") {
    return refuse(
      `${out} and --${gzip ? "gzip" : "zstd"} contradict each other`,
      "Leave the flag out, or rename the file."
    )
  }
  const compression: Compression = gzip || ending === "gz" ? "gzip" : zstd || ending === "zst" ? "zstd" : "none"
  const whole = /\.(parquet|sqlite3?|db)\.(gz|zst)$/i.test(out) && Option.isNone(flags.format)
  if (whole) return refuse(`${out} would be JSON Lines`, "Leave the last ending out, or say so with --format jsonl.")
  if (guard && format !== "csv") return refuse("--guard is for csv", "Leave it out, or pass --format csv.")
  if (compression !== "none" && (format === "parquet" || format === "sqlite" || out === "-")) {
    return refuse("Only files of jsonl and csv are compressed", "Leave --gzip and --zstd out.")
  }
  if (out === "-") {
    return resume || force || format !== "jsonl" || Option.isSome(flags.partitions)
      ? refuse("Standard output takes JSON Lines, and only once", "Name a file with --out.")
      : Effect.succeed(StandardOutput.make())
  }
  switch (format) {
    case "jsonl":
      return Effect.succeed(JsonLines.make(out, { compression }))
    case "csv":
      return Effect.succeed(Csv.make(out, { compression, guard }))
    case "parquet":
      return Effect.succeed(Parquet.make(out))
    case "sqlite":
      return Effect.succeed(Sqlite.make(out))
  }
}

const formatOf = (path: string): Format =>
  /\.csv(\.gz|\.zst)?$/i.test(path)
    ? "csv"
    : /\.parquet$/i.test(path)
    ? "parquet"
    : /\.(sqlite3?|db)$/i.test(path)
    ? "sqlite"
    : "jsonl"

/** What there is now. */
const told = ({ files, progress, status }: Export.Summary, noun: string): string => {
  const width = Math.max(...files.map(({ name }) => name.length))
  return [
    `${status}: ${Progress.count(progress.items)} ${noun} on ${Progress.count(progress.pages)} pages`,
    ...files.map(({ bytes, holds, name, rows }) =>
      `  ${name.padEnd(width)}  ${size(bytes).padStart(8)}  ${Progress.count(rows)} ${holds === "items" ? noun : holds}`
    )
  ].join("\n")
}

const whereItStands = ({ progress }: Export.Summary, out: string, noun: string): string =>
  out === "-"
    ? `${Progress.count(progress.items)} ${noun} were written; what goes to standard output cannot be resumed.`
    : `${Progress.count(progress.items)} ${noun} are kept in ${out}.postwire. The same command with --resume goes on.`

const size = (bytes: number): string =>
  bytes < 1e3 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
