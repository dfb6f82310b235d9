/** `postwire counts QUERY`: draws how many posts match a query over time. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import { stringify } from "csv-stringify/sync"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as Chart from "../terminal/Chart.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Progress from "../terminal/Progress.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const own = {
  archive: Args.toggle("archive", "Count in the full archive, not the last seven days"),
  out: Args.text("out", "Write to a file: .svg, .html, .csv or .json", "FILE"),
  force: OutputFile.force,
  json: Report.json,
  csv: Args.toggle("csv", "Print CSV"),
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make(
  "counts",
  {
    query: Argument.String("query").pipe(Argument.withDescription("What to count, as for a search")),
    own,
    // The parameters of the other operation are the same.
    parameters: OperationFlags.make(getAllPostsCount.definition, { without: ["query", "next_token"] })
  },
  ({ own, parameters, query }) => run({ ...OperationFlags.parametersOf(parameters), query }, own)
).pipe(Args.help("Count the posts that match a query over time, and draw them.", lines.counts, {
  "postwire counts 'effect lang:en' --granularity day": "The last seven days",
  "postwire counts effect --archive --start-time 2026-01-01T00:00:00Z --out effect.svg": "A year as a drawing"
}))

type Flags = Command.Command.Config.Infer<typeof own>

const formats = {
  svg: Chart.svg,
  html: Chart.html,
  csv: ({ buckets }) =>
    stringify([...buckets], { columns: ["start", "end", "post_count"], header: true, record_delimiter: "windows" }),
  json: (series) =>
    `${Text.plainJson(JSON.stringify({ ...series, total_post_count: Chart.totalOf(series) }, null, 2))}\n`
} satisfies Record<string, (series: Chart.Series) => string>

const run = Effect.fnUntraced(function*(
  parameters: Readonly<Record<string, unknown>> & { readonly query: string },
  flags: Flags
) {
  yield* ErrorReport.oneOf({ "--json": flags.json, "--csv": flags.csv, "--out": Option.isSome(flags.out) })
  const file = Option.getOrUndefined(flags.out)
  const ending = file?.split(".").at(-1) ?? ""
  const format = Object.entries(formats).find(([name]) => name === ending)?.[1]
  if (file !== undefined && format === undefined) {
    return yield* ErrorReport.refuse(
      `${file} has no known format`,
      "Name a file that ends in .svg, .html, .csv or .json."
    )
  }
  const buckets = yield* count(parameters, flags.archive).pipe(
    Connection.provide(flags, flags.wire)
  )
  const series: Chart.Series = {
    query: parameters.query,
    granularity: String(parameters["granularity"] ?? getAllPostsCount.definition.query?.["granularity"]?.default),
    buckets
  }
  if (file !== undefined && format !== undefined) {
    yield* OutputFile.write(file, format(series), flags.force)
    return yield* Report.lines(`${file}: ${Text.quantity(Chart.totalOf(series), "posts")}`)
  }
  if (flags.json || flags.csv) return yield* Report.data(formats[flags.json ? "json" : "csv"](series).trimEnd())
  const { output } = yield* Terminal
  yield* Report.lines(...Chart.terminal(series, Math.min(output.columns, 200)))
})

/** The counts, oldest first. */
const count = (
  given: Readonly<Record<string, unknown>>,
  archive: boolean
): Effect.Effect<ReadonlyArray<CountBucket>, AnyError, Client> => {
  // The flags were derived from the same declaration as the type.
  const parameters = given as Parameters<typeof getRecentPostsCount>[0]
  return Effect.map(
    archive
      ? archived(parameters)
      : Effect.map(getRecentPostsCount(parameters), ({ data = [] }) => data),
    (buckets) => [...buckets].sort((a, b) => a.start < b.start ? -1 : a.start > b.start ? 1 : 0)
  )
}

/** A long span takes a while: one page per second is allowed. */
const archived = Effect.fnUntraced(function*(parameters: Parameters<typeof getAllPostsCount>[0]) {
  const progress = yield* Progress.make({ elsewhere: "seldom" })
  let posts = 0
  let pages = 0
  const buckets = yield* getAllPostsCount.pages(parameters).pipe(
    Stream.mapEffect(({ data = [], rateLimit }) => {
      posts += data.reduce((sum, { post_count }) => sum + post_count, 0)
      pages++
      return Effect.as(progress.update({ done: undefined, posts, pages, remaining: rateLimit?.remaining }), data)
    }),
    Stream.runCollect
  )
  yield* progress.end
  return buckets.flat()
})
