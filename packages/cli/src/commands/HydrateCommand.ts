/** `postwire hydrate FILE`: fetches the posts or users of a file of ids, with the outcome of every id. */
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Export from "@postwire/export/Export"
import * as Rows from "@postwire/export/rows/Rows"
import * as Hydration from "@postwire/export/sources/Hydration"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
import { sumOf } from "../exporting/ExportProgress.ts"
import * as ExportRun from "../exporting/ExportRun.ts"
import * as ExportTarget from "../exporting/ExportTarget.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as ExportCommand from "./ExportCommand.ts"
import { lines } from "./Lines.ts"

const own = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Ids as lines, CSV or JSON Lines, plain or compressed; - is standard input")
  ),
  users: Args.toggle("users", "The file has users, by id or name, instead of posts"),
  column: Args.text("column", "The column with the ids, in CSV and JSON Lines (default: the first known one)"),
  concurrency: Args.int("concurrency", 1, 100).pipe(
    Args.withDefault("Requests at the same time", Hydrate.defaultConcurrency)
  ),
  owner: ExportCommand.owner,
  dryRun: Args.toggle("dry-run", "Only show the cost: nothing is requested"),
  ...ExportTarget.flags,
  ...Spending.flags,
  ...Connection.flags
}

type Flags = Omit<Command.Command.Config.Infer<typeof own>, "file">

const posts = Hydrate.lookups.posts.definition

export const command = Command.make(
  "hydrate",
  { own, parameters: OperationFlags.make(posts, { without: ["ids"] }) },
  ({ own: { file, ...flags }, parameters }) => run(file, flags, OperationFlags.parametersOf(parameters))
).pipe(
  Args.help(
    "Fetch the posts or users of a file of ids, in its order, and write the outcome of every id beside them: found, " +
      "withheld, deleted, protected, suspended, invalid. An interrupted run can be resumed.",
    lines.hydrate,
    {
      "postwire hydrate ids.txt --out posts.parquet --post-fields created_at,public_metrics":
        "A hundred posts per request; the outcome of each id is in posts.parquet.postwire",
      "postwire hydrate followers.csv.gz --users --column username --out users.jsonl --resume":
        "Users by name; run it again until it is done"
    }
  )
)

/** No row of the file is an id. Nothing is fetched or written. */
export class NoIds extends Schema.TaggedError<NoIds>()("NoIds", {
  path: Schema.String,
  rows: Schema.Int,
  of: Schema.Literals(["posts", "users"])
}) {
  override readonly [Runtime.errorExitCode] = ErrorReport.incomplete
  override get message(): string {
    return `${this.path} has no id of ${this.of}: ${Text.quantity(this.rows, "rows")}`
  }
  get advice(): string {
    return `Name the column with --column${this.of === "posts" ? ", or pass --users for a file of users" : ""}.`
  }
}

/** Tests whether any row is an id, or a name of a user. It reads no further than the first. */
const hasIds = ({ batches }: Rows.Rows, of: Hydration.Of) =>
  batches(Hydrate.idsPerRequest).pipe(
    Stream.flattenIterable,
    Stream.filter(({ value }) =>
      (of === "users" && value.startsWith("@") ? Hydrate.lookups.usernames : Hydrate.lookups[of]).keyOf(value) !==
        undefined
    ),
    Stream.runHead,
    Effect.map(Option.isSome)
  )

const run = Effect.fnUntraced(
  function*(file: string, flags: Flags, parameters: Readonly<Record<string, unknown>>) {
    const of: Hydration.Of = flags.users ? "users" : "posts"
    const exportFlags = { ...flags, limit: Option.none(), partitions: Option.none() }
    const sink = yield* ExportTarget.sinkOf(exportFlags)
    const rows = yield* Rows.open(file, {
      kind: flags.users ? Hydration.users : Hydration.posts,
      column: Option.getOrUndefined(flags.column)
    })
    const source = Hydration.source(rows, of, parameters, { concurrency: flags.concurrency })
    yield* ExportRun.check(source)
    if (!(yield* hasIds(rows, of))) return yield* new NoIds({ path: rows.path, rows: rows.count, of })
    const { limits } = Hydration.estimate(source, rows)
    const priceOf = (items: number) =>
      Spending.priceOf(source, { items, requests: Math.ceil(items / Hydrate.idsPerRequest), limits })
    if (flags.dryRun) {
      const price = priceOf(rows.count)
      return yield* Report.print(
        flags.json,
        { file: rows.path, ...Spending.plain(price) },
        () => [Spending.describe(price)]
      )
    }
    const whole = Option.some({ items: rows.count, pageSize: Hydrate.idsPerRequest, limits })
    yield* ExportRun.write(
      source.definition,
      exportFlags,
      (stop) =>
        Effect.gen(function*() {
          const summary = yield* ExportRun.show(
            exportFlags,
            {
              noun: of,
              estimated: () => whole,
              confirmCost: ({ outcomes = {}, spent }) =>
                Spending.confirmCost(flags, { ...priceOf(rows.count - sumOf(outcomes)), spent })
            },
            (options) => Export.run(source, { ...options, sink, stop, account: Option.getOrUndefined(flags.owner) })
          )
          if (of === "posts" && (summary.progress.outcomes?.["protected"] ?? 0) > 0) {
            yield* Report.say(
              "The service gives the same reason for posts of protected and of suspended accounts; postwire comply distinguishes them."
            )
          }
          return summary
        }).pipe(Connection.provide(flags))
    )
  },
  Effect.scoped
)
