/** `postwire analytics`: exports the figures of the account's own posts, resumably. */
import { dataOf } from "@postwire/core/client/DataOf"
import { getPostAnalytics } from "@postwire/core/operations/Analytics"
import { getMe } from "@postwire/core/operations/Users"
import * as Export from "@postwire/export/Export"
import * as Analytics from "@postwire/export/sources/Analytics"
import * as Plan from "@postwire/export/sources/Plan"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
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
  since: Flag.String("since").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription("The beginning of the span, as 2026-11-01 or 2026-11-01T09:00:00Z")
  ),
  until: Args.text("until", "Its end (default: now)", "TIME"),
  posts: Args.toggle("posts", "Add the time and the text of the post to each row"),
  owner: ExportCommand.owner,
  ...ExportTarget.flags,
  ...Spending.flags,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof own>

const { definition } = getPostAnalytics

export const command = Command.make(
  "analytics",
  { own, parameters: OperationFlags.make(definition, { without: ["ids", "start_time", "end_time"] }) },
  ({ own, parameters }) => run(own, OperationFlags.parametersOf(parameters))
).pipe(
  Args.help(
    "Export the figures of your own posts of a span of time: impressions, likes, clicks and others, counted in the same span. " +
      "A hundred posts take two requests. An interrupted run can be resumed.",
    lines.analytics,
    {
      "postwire analytics --since 2026-11-01 --out own.parquet --posts": "A row for each post, with its text",
      "postwire analytics --since 2026-11-01 --granularity daily --out own.csv --resume":
        "A row for each post and day; run it again until it is done"
    }
  )
)

/** A day is its beginning. */
const timeOf = (text: string): string => /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text

const run = Effect.fnUntraced(function*(flags: Flags, parameters: Readonly<Record<string, unknown>>) {
  const { analytics_fields } = parameters
  const options: Analytics.Options = {
    ...parameters,
    ...(typeof analytics_fields === "string" ? { analytics_fields: analytics_fields.split(",") } : {}),
    start_time: timeOf(flags.since),
    end_time: Option.getOrUndefined(Option.map(flags.until, timeOf)),
    posts: flags.posts
  }
  const inFlags = ErrorReport.inFlags((parameter) => {
    const name = { start_time: "--since", end_time: "--until" }[parameter]
    return name === undefined ? undefined : { name, isFile: false }
  })
  const { end_time, start_time } = options
  const end = end_time === undefined ? yield* Clock.currentTimeMillis : Date.parse(end_time)
  if (end <= Date.parse(start_time)) {
    const until = end_time === undefined ? "now" : "--until"
    return yield* ErrorReport.refuse(`--since is not before ${until}`, "Nothing was requested. Pass an earlier time.")
  }
  const exportFlags = { ...flags, limit: Option.none(), partitions: Option.none() }
  const sink = yield* ExportTarget.sinkOf(exportFlags)
  yield* inFlags(ExportRun.check(Analytics.make("0", options)))
  yield* ExportRun.write(definition, exportFlags, (stop) =>
    Effect.gen(function*() {
      const { id } = yield* dataOf("getMe", getMe({ user_auth: options.user_auth }))
      const source = Analytics.make(id, options)
      return yield* ExportRun.show(
        exportFlags,
        {
          noun: "rows",
          estimated: Option.none,
          confirmCost: ({ pages }) => pages === 0 ? confirmCost(flags, id, options) : Effect.void
        },
        (running) => Export.run(source, { ...running, sink, stop, account: Option.getOrUndefined(flags.owner) })
      )
    }).pipe(inFlags, Connection.provide(flags)))
})

/** Shows what reading the posts costs, by the number in the profile, and that the price of figures is unknown. */
const confirmCost = Effect.fnUntraced(function*(flags: Flags, id: string, options: Analytics.Options) {
  const posts = Analytics.postsOf(id, options)
  const estimate = yield* Effect.option(Plan.estimate(posts))
  yield* Option.match(estimate, {
    onNone: () => Spending.statedPrice(flags),
    onSome: (planned) => Spending.confirmCost(flags, { ...Spending.priceOf(posts, planned), isUnknown: true })
  })
  const requests = Option.match(estimate, {
    onNone: () => "Requests",
    onSome: ({ requests }) => `Up to ${Text.quantity(requests, "requests")}`
  })
  yield* Report.say(`${requests} for figures come on top; their price is not published.`)
})
