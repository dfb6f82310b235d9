/** `postwire comply FILE`: removes posts or users from a file that are gone from the service. */
import * as Comply from "@postwire/export/Comply"
import * as Rows from "@postwire/export/rows/Rows"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as ExportTarget from "../exporting/ExportTarget.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const own = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Posts or users as JSON Lines or CSV, or one id per line, plain or compressed")
  ),
  out: Args.text("out", "The new file (default: beside the old one, as posts.compliant.jsonl)", "FILE"),
  users: Args.toggle("users", "The file has users instead of posts"),
  column: Args.text("column", "The column with the ids (default: the first known one)"),
  dryRun: Args.toggle("dry-run", "Only count the rows: nothing is requested or written"),
  resume: Args.toggle("resume", "Continue the jobs of the last run of this command"),
  force: Args.toggle("force", "Replace existing files"),
  json: Report.json,
  ...Connection.flags
}

type Flags = Omit<Command.Command.Config.Infer<typeof own>, "file">

export const command = Command.make("comply", own, ({ file, ...flags }) => run(file, flags)).pipe(
  Args.help(
    "Check a stored file against the service: rows that were deleted, suspended or protected are removed in a new file beside " +
      "it, and scrubbed places are removed. A report lists the removed rows, with reasons. Needs an app's bearer token; it is free.",
    lines.comply,
    {
      "postwire comply posts.jsonl": "Writes posts.compliant.jsonl, and posts.compliant.jsonl.removed.csv",
      "postwire comply authors.csv --users --out authors-now.csv": "The same for users"
    }
  )
)

/** The default name of the new file, beside the old one. */
const besideOf = (file: string): string => file.replace(/((?:\.[A-Za-z0-9]+)?(?:\.(?:gz|zst))?)$/, ".compliant$1")

const users = Rows.ids("the id of a user", ["user_id", "author_id"])

const run = Effect.fnUntraced(
  function*(file: string, flags: Flags) {
    yield* ErrorReport.oneOf({ "--resume": flags.resume, "--force": flags.force })
    if (file === "-") {
      return yield* ErrorReport.refuse("--resume cannot read standard input again", "Name a file.")
    }
    if (/\.(parquet|sqlite3?|db)$/i.test(file)) {
      return yield* ErrorReport.refuse(
        `${file}: comply reads no Parquet and no SQLite`,
        "Check its ids as lines, CSV or JSON Lines, then remove those in the report."
      )
    }
    const out = Option.getOrElse(flags.out, () => besideOf(file))
    if (out === file) {
      return yield* ErrorReport.refuse("The new file cannot be the old one", "Choose another name for --out.")
    }
    const type = flags.users ? "users" : "posts"
    const rows = yield* Rows.open(file, {
      kind: flags.users ? users : Rows.posts,
      column: Option.getOrUndefined(flags.column)
    })
    if (flags.dryRun) {
      return yield* Report.print(flags.json, { rows: rows.count, type, out }, () => [
        `${Text.quantity(rows.count, type)} would be checked, for free, and written to ${out}`
      ])
    }
    const summary = yield* Comply.run(rows, {
      type,
      out,
      mode: ExportTarget.modeOf(flags),
      onProgress: ({ ids, jobId, phase }) =>
        Report.say(
          phase === "upload"
            ? `Job ${jobId} receives its ids: ${Text.quantity(ids, type)} so far.`
            : phase === "wait"
            ? `Waiting for job ${jobId}. After an interruption, --resume continues.`
            : `Job ${jobId} is complete; fetching its results.`
        )
    }).pipe(ErrorReport.within({ resumable: true }), Connection.provide(flags))
    yield* Report.print(flags.json, summary, () => linesOf(summary, type))
  },
  Effect.scoped
)

const linesOf = (
  { kept, out, redacted, removed, report, rows }: Comply.Summary,
  type: string
): ReadonlyArray<string> => [
  `${Text.quantity(kept, type)} of ${Text.count(rows)} are in ${out}`,
  ...Object.entries(removed).toSorted(([, a], [, b]) => b - a).map(([reason, count]) =>
    `  ${Text.count(count)} removed: ${reason}`
  ),
  ...redacted === 0 ? [] : [`  ${Text.count(redacted)} kept without their places`],
  `Removed rows, with reasons: ${report}`
]
