/** `postwire export OPERATION`: exports any paged operation into a file, resumably. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Spend from "@postwire/core/spend/Spend"
import * as Export from "@postwire/export/Export"
import type { Progress } from "@postwire/export/folders/Checkpoint"
import type { Sink } from "@postwire/export/folders/Sink"
import * as Partitions from "@postwire/export/Partitions"
import * as FullText from "@postwire/export/rows/FullText"
import type * as Rows from "@postwire/export/rows/Rows"
import * as Each from "@postwire/export/sources/Each"
import * as EachPlan from "@postwire/export/sources/EachPlan"
import * as Plan from "@postwire/export/sources/Plan"
import * as Source from "@postwire/export/sources/Source"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stdio from "effect/Stdio"
import type * as Input from "effect/Terminal"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
import * as Cluster from "../exporting/Cluster.ts"
import * as ClusterExport from "../exporting/ClusterExport.ts"
import * as EachFlags from "../exporting/EachFlags.ts"
import * as ExportRun from "../exporting/ExportRun.ts"
import * as ExportTarget from "../exporting/ExportTarget.ts"
import * as Shortfall from "../exporting/Shortfall.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import { nounOf } from "../terminal/Noun.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export const owner = Args.text(
  "owner",
  "A stable name for the account that exports, for tokens that change between runs",
  "NAME"
)

/** The flags besides those of the operation. */
export const commonFlags = {
  ...ExportTarget.flags,
  out: ExportTarget.flags.out.pipe(
    Flag.withDescription("The file to write; - is standard output (required without --cluster)")
  ),
  limit: Args.int("limit", 1).pipe(Args.optional("Stop after this many items")),
  owner,
  ...Spending.flags,
  ...Connection.flags,
  ...Cluster.exportFlags
}

const partitions = Args.int("partitions", 2, 1_000).pipe(
  Args.optional("Split the search into this many spans of time, fetched four at a time")
)

const fullText = Args.toggle("full-text", "Write the whole text of long posts into text")

/** `postwire export`, with a command for each operation that pages. */
export const command = Command.make("export").pipe(
  Command.withSubcommands(OperationFlags.paged.map((definition) => {
    const isSearch = "sort_order" in (definition.query ?? {})
    const replaced = EachFlags.replaced(definition)
    const flags = {
      ...commonFlags,
      ...isSearch ? { partitions } : {},
      ..."post_fields" in (definition.query ?? {}) ? { fullText } : {},
      ...replaced.length > 0 ? EachFlags.flags : {}
    }
    return OperationFlags.named(
      definition,
      Command.make(
        definition.name,
        {
          flags,
          parameters: OperationFlags.make(definition, {
            without: OperationFlags.pageToken(definition),
            replaced,
            defaults: Source.fromDefinition(definition, {}).parameters
          })
        },
        ({ flags, parameters }) =>
          run(definition, OperationFlags.parametersOf(parameters), {
            partitions: Option.none(),
            ...EachFlags.none,
            ...flags
          })
      )
    )
  })),
  Args.help(
    "Export any paged operation into a file. An interrupted export can be resumed.",
    lines.export,
    {
      "postwire export searchRecentPosts --query effect --out effect.jsonl":
        "Every match of the last seven days, one JSON object a line",
      "postwire export getUsersFollowers --id 2244994945 --out followers.csv --resume":
        "Followers as CSV; run it again until it is done",
      "postwire export getUsersPosts --each users.csv --limit-each 100 --out posts.parquet":
        "The latest hundred posts of every user of a file"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof commonFlags> & EachFlags.Flags & {
  readonly partitions: Option.Option<number>
  readonly fullText?: boolean
}

export const run = Effect.fnUntraced(
  function*(definition: Definition, given: Readonly<Record<string, unknown>>, flags: Flags) {
    const parameters = flags.fullText === true ? FullText.requesting(given) : given
    const address = yield* Cluster.addressOf(flags.cluster, flags.out)
    if (Option.isSome(address)) yield* checkCluster(flags)
    else if (flags.detach || flags.label !== "") {
      return yield* ErrorReport.refuse(
        `--${flags.detach ? "detach" : "label"} is for exports on a cluster`,
        "Omit it, or name a --cluster."
      )
    }
    if (Option.isSome(address) && flags.out === "") {
      return yield* ClusterExport.run(address.value, definition, parameters, ofWorkers(flags))
    }
    // A cluster plans its own parts, and knows the credentials by a name.
    const localFlags: Flags = Option.isNone(address) ? flags : {
      ...flags,
      owner: Option.orElseSome(ofWorkers(flags).credentials, () => "default"),
      partitions: Option.none()
    }
    yield* ErrorReport.oneOf({ "--each": Option.isSome(flags.each), "--partitions": Option.isSome(flags.partitions) })
    const sink = yield* ExportTarget.sinkOf(localFlags)
    const each = yield* EachFlags.open(definition, parameters, flags)
    const source = each === undefined
      ? Source.fromDefinition(definition, parameters)
      : Each.fromDefinition(definition, each.rows, parameters, { limitEach: each.limitEach })
    yield* ExportRun.check(source)
    return Option.isNone(address)
      ? yield* ExportRun.write(
        definition,
        flags,
        (stop) => Connection.provide(flags)(exportTo(sink, source, each, flags, stop))
      )
      : yield* ClusterExport.use(
        address.value,
        definition,
        parameters,
        ofWorkers(flags),
        (source, layerClient) =>
          ExportRun.write(definition, flags, (stop) =>
            ExportRun.show(
              localFlags,
              { noun: nounOf(definition), estimated: () => Option.none(), confirmCost: () => Effect.void },
              (options) => Export.run(source, { ...options, ...optionsOf(localFlags), sink, stop })
            ).pipe(Effect.provide([layerClient, Spend.layerTotal])))
      )
  },
  Effect.scoped
)

/** The workers' name for the credentials: an account that they have, or a name in their environment. */
const ofWorkers = (flags: Flags): ClusterExport.Options => ({
  ...flags,
  credentials: Option.orElse(flags.account, () => flags.credentials)
})

/** Refuses flags that an export on a cluster cannot have, before anything is requested. */
const checkCluster = Effect.fnUntraced(function*(flags: Flags) {
  // Either names the credentials of the workers.
  yield* ErrorReport.oneOf({
    "--account": Option.isSome(flags.account),
    "--credentials": Option.isSome(flags.credentials)
  })
  const ofRows = Option.isSome(flags.each)
    ? "each"
    : Option.isSome(flags.eachColumn)
    ? "each-column"
    : Option.isSome(flags.limitEach)
    ? "limit-each"
    : undefined
  const ofFiles = flags.out === "" ? ExportTarget.ofFiles(flags) ?? (flags.json ? "json" : undefined) : undefined
  yield* ErrorReport.refuseAny([
    [
      ofRows !== undefined,
      `--${ofRows} is not for exports on a cluster`,
      "Start an export for each row, or export on this machine: with --out, without --cluster."
    ],
    [
      Option.isSome(flags.limit),
      "--limit is not for exports on a cluster",
      "They are always complete: narrow it with --start-time, or export on this machine: with --out, without --cluster."
    ],
    [
      Option.isSome(flags.maxSpend),
      "--max-spend is not for exports on a cluster",
      "Workers do not count their costs: see postwire plan, or export on this machine: with --out, without --cluster."
    ],
    [
      flags.fullText === true,
      "--full-text is not for exports on a cluster",
      "Request --post-fields note_post, or export on this machine: with --out, without --cluster."
    ],
    [
      ofFiles !== undefined,
      `--${ofFiles} is for files`,
      "Name one with --out, or omit it: exports into tables always continue."
    ],
    [
      flags.out !== "" && flags.detach,
      "--detach and --out contradict each other",
      "Files are written when the export is complete."
    ]
  ])
})

const optionsOf = (flags: Flags): Pick<Export.Options, "limit" | "account" | "fullText"> => ({
  fullText: flags.fullText,
  limit: Option.getOrUndefined(flags.limit),
  account: Option.getOrUndefined(flags.owner)
})

/** Errors of estimating and confirming an export. */
type EstimateError = ErrorReport.Failure | AnyError | Rows.RowsUnusable

/** Runs an export that reads from the service. */
const exportTo = Effect.fnUntraced(function*(
  sink: Sink,
  source: Source.Source<Rows.RowsUnusable>,
  each: EachPlan.Job | undefined,
  flags: Flags,
  stop: Effect.Effect<void>
) {
  // A single list, which can be counted and split.
  const listing = Source.fromDefinition(source.definition, source.parameters)
  const parts = Option.getOrUndefined(flags.partitions)
  const context = yield* Effect.context<Client | Stdio.Stdio | Input.Terminal>()
  let estimate: Option.Option<Pick<Plan.Estimate, "items" | "limits" | "pageSize">> = Option.none()
  const { errors } = yield* Terminal
  const noun = nounOf(source.definition)
  const sayEach = Spending.sayEach(source, flags, noun)
  /** Shows the rest of the estimate, and asks. */
  const confirmRest = (planned: Plan.Estimate, before: Partial<Pick<Progress, "items" | "spent">> = {}) => {
    const items = Math.max(
      0,
      Math.min(planned.items, Option.getOrElse(flags.limit, () => Infinity)) - (before.items ?? 0)
    )
    const requests = Math.max(1, Math.ceil(items / planned.pageSize))
    return Spending.confirmCost(flags, {
      ...Spending.priceOf(source, { items, requests, limits: planned.limits }),
      spent: before.spent
    })
  }
  /** Shows the cost of the rows, if it is known, and asks. */
  const confirmRows = (job: EachPlan.Job, before: Progress, mayCount: boolean) =>
    EachFlags.estimate(job, flags, mayCount).pipe(
      Effect.tap((planned) => EachFlags.confirmCost(job, flags, planned, before)),
      Effect.tap(({ isBound, limits, requests, rows }) =>
        Effect.sync(() => {
          if (!isBound) estimate = Option.some({ items: rows, limits, pageSize: rows / Math.max(1, requests) })
        })
      ),
      Effect.catchTag(
        "NotPlannable",
        () =>
          Report.say(`${Text.quantity(job.rows.count, "rows")}; the service has no count of their results.`).pipe(
            Effect.andThen(sayEach)
          )
      )
    )
  // Partitions are counted anyway. To count each row of `--each` costs more, so only for a terminal or `--max-spend`.
  const confirmCost = Effect.fnUntraced(function*(before: Progress) {
    if (parts !== undefined || before.complete) return
    if (each !== undefined) {
      const mayCount = errors.isTerminal || Option.isSome(flags.maxSpend)
      return yield* mayCount || EachPlan.bound(each) !== undefined ? confirmRows(each, before, mayCount) : sayEach
    }
    const planning = Effect.option(Plan.estimate(listing))
    // `--max-spend` needs the estimate, however long it takes.
    const planned = Option.isSome(flags.maxSpend)
      ? yield* planning
      : Option.flatten(yield* Effect.timeoutOption(planning, "5 seconds"))
    estimate = planned
    yield* Option.isSome(planned) ? confirmRest(planned.value, before) : sayEach
  })
  const summary = yield* ExportRun.show(
    flags,
    { noun, estimated: () => estimate, confirmCost },
    (showing) => {
      const options = { ...showing, ...optionsOf(flags), stop }
      return parts === undefined || sink.path === undefined
        ? Export.run(source, { ...options, sink })
        : Partitions.run<EstimateError | Plan.NotPlannable>(listing, {
          ...options,
          sink,
          partitions: Effect.gen(function*() {
            const planned = yield* Plan.estimate(listing)
            estimate = Option.some(planned)
            yield* confirmRest(planned)
            return yield* cut(listing, planned, parts, Option.getOrUndefined(flags.limit))
          }).pipe(Effect.provideContext(context))
        })
    }
  )
  // The estimate of `--each` counts rows.
  if (each === undefined && Option.isNone(flags.limit)) yield* Shortfall.say(source, estimate, summary)
  return summary
})

const cut = (source: Source.Source, { buckets }: Plan.Estimate, parts: number, limit: number | undefined) => {
  const partitions = Partitions.planPartitions(source, buckets, parts, limit)
  return partitions instanceof Plan.NotPlannable ? Effect.fail(partitions) : Effect.succeed(partitions)
}
