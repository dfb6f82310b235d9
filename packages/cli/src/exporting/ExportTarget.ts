/** What `--out` and the flags beside it mean: which file an export goes to, in which format. */
import type { Mode, Sink } from "@postwire/export/folders/Sink"
import * as Csv from "@postwire/export/sinks/Csv"
import type { Compression } from "@postwire/export/sinks/Files"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Sqlite from "@postwire/export/sinks/Sqlite"
import * as StandardOutput from "@postwire/export/sinks/StandardOutput"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ErrorReport from "../terminal/ErrorReport.ts"

const formats = ["jsonl", "csv", "parquet", "sqlite"] as const
type Format = typeof formats[number]

/** The flags that say where to and how. */
export const flags = {
  out: Flag.String("out").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("The file to write; - is standard output"),
    Flag.withDefault("")
  ),
  format: Flag.Literals("format", formats).pipe(
    Flag.withDescription("Of the file (default: what its name says, else jsonl)"),
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
  resume: Flag.Boolean("resume").pipe(
    Flag.withDescription("Go on where the last run of this command ended"),
    Flag.withDefault(false)
  ),
  force: Flag.Boolean("force").pipe(Flag.withDescription("Replace what is there"), Flag.withDefault(false)),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print the summary as JSON"), Flag.withDefault(false))
}

/** What they say. */
export type Flags = Command.Command.Config.Infer<typeof flags>

/** What to do about files that are there already. */
export const modeOf = ({ force, resume }: Pick<Flags, "force" | "resume">): Mode =>
  resume ? "resume" : force ? "force" : "new"

/** What says how a file is to be, and was given. */
export const ofFiles = (
  { force, format, guard, gzip, resume, zstd }: Omit<Flags, "json" | "out">
): string | undefined =>
  Object.entries({ format: Option.isSome(format), force, gzip, guard, resume, zstd }).find(([, isGiven]) => isGiven)
    ?.[0]

/** The sink that the flags ask for. */
export const sinkOf = (
  flags: Flags & { readonly partitions: Option.Option<number> }
): Effect.Effect<Sink, ErrorReport.Contradiction> =>
  Effect.gen(function*() {
    const { force, guard, gzip, json, out, resume, zstd } = flags
    if (out === "") {
      return yield* ErrorReport.refuse("--out is missing", "Name a file, or - for standard output.")
    }
    yield* ErrorReport.oneOf({ "--resume": resume, "--force": force })
    yield* ErrorReport.oneOf({ "--gzip": gzip, "--zstd": zstd })
    const format = Option.getOrElse(flags.format, () => formatOf(out))
    const ending = /\.(gz|zst)$/i.exec(out)?.[1]?.toLowerCase()
    if (gzip && ending === "zst" || zstd && ending === "gz") {
      return yield* ErrorReport.refuse(
        `${out} and --${gzip ? "gzip" : "zstd"} contradict each other`,
        "Leave the flag out, or rename the file."
      )
    }
    const compression: Compression = gzip || ending === "gz" ? "gzip" : zstd || ending === "zst" ? "zstd" : "none"
    const whole = /\.(parquet|sqlite3?|db)\.(gz|zst)$/i.test(out) && Option.isNone(flags.format)
    if (whole) {
      return yield* ErrorReport.refuse(
        `${out} would be JSON Lines`,
        "Leave the last ending out, or say so with --format jsonl."
      )
    }
    if (guard && format !== "csv") {
      return yield* ErrorReport.refuse("--guard is for csv", "Leave it out, or pass --format csv.")
    }
    if (compression !== "none" && (format === "parquet" || format === "sqlite" || out === "-")) {
      return yield* ErrorReport.refuse("Only files of jsonl and csv are compressed", "Leave --gzip and --zstd out.")
    }
    if (out === "-") {
      if (json) {
        return yield* ErrorReport.refuse(
          "--json and --out - contradict each other",
          "Name a file, or leave --json out."
        )
      }
      return resume || force || format !== "jsonl" || Option.isSome(flags.partitions)
        ? yield* ErrorReport.refuse("Standard output takes JSON Lines, and only once", "Name a file with --out.")
        : StandardOutput.make()
    }
    switch (format) {
      case "jsonl":
        return JsonLines.make(out, { compression })
      case "csv":
        return Csv.make(out, { compression, guard })
      case "parquet":
        return Parquet.make(out)
      case "sqlite":
        return Sqlite.make(out)
    }
  })

const formatOf = (path: string): Format =>
  /\.csv(\.gz|\.zst)?$/i.test(path)
    ? "csv"
    : /\.parquet$/i.test(path)
    ? "parquet"
    : /\.(sqlite3?|db)$/i.test(path)
    ? "sqlite"
    : "jsonl"
