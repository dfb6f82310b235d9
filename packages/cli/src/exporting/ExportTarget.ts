/** `--out` and related flags: the file and the format of an export. */
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
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"

const formats = ["jsonl", "csv", "parquet", "sqlite"] as const
type Format = typeof formats[number]

export const flags = {
  out: Flag.String("out").pipe(
    Flag.withDefault(""),
    Flag.withMetavar("FILE"),
    Flag.withDescription("The file to write; - is standard output")
  ),
  format: Flag.Literals("format", formats).pipe(Args.optional("The file's format (default: by its name, else jsonl)")),
  gzip: Args.toggle("gzip", "Compress jsonl or csv with gzip"),
  zstd: Args.toggle("zstd", "Compress jsonl or csv with Zstandard"),
  guard: Args.toggle("guard", "In csv, put ' before texts that a spreadsheet would run as formulas"),
  resume: Args.toggle("resume", "Continue the last run of this command"),
  force: Args.toggle("force", "Replace existing files"),
  json: Args.toggle("json", "Print the summary as JSON")
}

export type Flags = Command.Command.Config.Infer<typeof flags>

export const modeOf = ({ force, resume }: Pick<Flags, "force" | "resume">): Mode =>
  resume ? "resume" : force ? "force" : "new"

/** The first given flag that applies only to files. */
export const ofFiles = (
  { force, format, guard, gzip, resume, zstd }: Omit<Flags, "json" | "out">
): string | undefined =>
  Object.entries({ format: Option.isSome(format), force, gzip, guard, resume, zstd }).find(([, isGiven]) => isGiven)
    ?.[0]

export const sinkOf = (
  flags: Flags & { readonly partitions: Option.Option<number> }
): Effect.Effect<Sink, ErrorReport.Failure> =>
  Effect.gen(function*() {
    const { force, guard, gzip, json, out, resume, zstd } = flags
    const format = Option.getOrElse(flags.format, () => formatOf(out))
    const ending = /\.(gz|zst)$/i.exec(out)?.[1]?.toLowerCase()
    const compression: Compression = gzip || ending === "gz" ? "gzip" : zstd || ending === "zst" ? "zstd" : "none"
    const isCompressible = (format === "jsonl" || format === "csv") && out !== "-"
    const isWhole = resume || force || format !== "jsonl" || Option.isSome(flags.partitions)
    yield* ErrorReport.oneOf({ "--resume": resume, "--force": force })
    yield* ErrorReport.oneOf({ "--gzip": gzip, "--zstd": zstd })
    yield* ErrorReport.refuseAny([
      [out === "", "--out is missing", "Name a file, or - for standard output."],
      [
        gzip && ending === "zst" || zstd && ending === "gz",
        `${out} and --${gzip ? "gzip" : "zstd"} contradict each other`,
        "Omit the flag, or rename the file."
      ],
      [
        /\.(parquet|sqlite3?|db)\.(gz|zst)$/i.test(out) && Option.isNone(flags.format),
        `${out} would be JSON Lines`,
        "Remove the last ending, or pass --format jsonl."
      ],
      [guard && format !== "csv", "--guard is for csv", "Omit it, or pass --format csv."],
      [
        compression !== "none" && !isCompressible,
        "Only files of jsonl and csv are compressed",
        "Omit --gzip and --zstd."
      ],
      [out === "-" && json, "--json and --out - contradict each other", "Name a file, or omit --json."],
      [out === "-" && isWhole, "Standard output takes only JSON Lines, in one part", "Name a file with --out."]
    ])
    if (out === "-") return StandardOutput.make()
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
