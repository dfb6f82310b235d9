/** `postwire sync`: keeps a copy of posts, bookmarks, followers and others up to date, as a file says. */
import * as Status from "@postwire/archive/copy/Status"
import * as Media from "@postwire/archive/media/Media"
import * as Mirror from "@postwire/archive/mirror/Mirror"
import { type KindName, kinds } from "@postwire/archive/sources/Kinds"
import * as SyncFile from "@postwire/archive/sources/SyncFile"
import * as Plan from "@postwire/archive/sync/Plan"
import * as Sync from "@postwire/archive/sync/Sync"
import * as Takeout from "@postwire/archive/takeout/Takeout"
import * as Prices from "@postwire/core/spend/Prices"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { dirname, join, resolve } from "node:path"
import * as Target from "../archive/Target.ts"
import * as Connection from "../connection/Connection.ts"
import { isLoopback } from "../connection/Loopback.ts"
import * as Spending from "../connection/Spending.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as GracefulStop from "../terminal/GracefulStop.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Progress from "../terminal/Progress.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"
import * as SyncClusterCommands from "./SyncClusterCommands.ts"

const flags = {
  file: Target.file,
  plan: Args.toggle("plan", "Show what the next run is expected to read and to cost, and read nothing"),
  media: Args.toggle("media", "Fetch photos, videos and GIFs, too, in this run"),
  watch: Args.toggle("watch", "Keep running: sync again after the time in the file"),
  json: Report.json,
  wire: Connection.wire,
  ...Spending.flags,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof flags>

/** The connection of a file: its account and its budget. A flag overrides either. */
const connectionOf = (flags: Flags, { account, budget = {} }: SyncFile.SyncFile): Connection.Flags => ({
  ...flags,
  account: Option.orElse(flags.account, () => Option.fromUndefinedOr(account)),
  maxSpend: Option.orElse(
    flags.maxSpend,
    () => Option.map(Option.fromUndefinedOr(budget.run), Prices.microsOf)
  ),
  usualLimits: { perDay: budget.day, perMonth: budget.month }
})

const run = Effect.fnUntraced(function*(flags: Flags) {
  const file = yield* Target.read(flags.file)
  const copy = Target.layer(flags.file, file)
  const connection = connectionOf(flags, file)
  if (flags.plan) {
    const planned = yield* Connection.use(
      connection,
      flags.wire,
      ({ userAuth }) => Plan.estimate(file.sources, userAuth)
    ).pipe(Effect.provide(copy))
    return yield* Report.print(flags.json, planned, () => planLines(planned))
  }
  const once = GracefulStop.run(
    (stop) =>
      Connection.use(
        connection,
        flags.wire,
        (speaker) => syncing(file, speaker, stop, Target.mediaOf(flags.file, file, flags.media))
      ).pipe(
        Effect.flatMap((summary) => mirrored(flags.file, file, summary)),
        Effect.provide(copy),
        ErrorReport.within({ resumable: "itself" })
      ),
    {
      finishing: "Finishing the pages that have come; Ctrl-C again stops immediately.",
      stopped: (summary) => Report.say(Text.oneLine(summaryLines(summary).join("; ")), "Run it again to continue.")
    }
  ).pipe(Effect.tap((summary) => Report.print(flags.json, plainOf(summary), () => summaryLines(summary))))
  const pause = SyncFile.millisOf(file.every ?? "1 day")
  if (flags.watch) return yield* Effect.forever(Effect.andThen(once, Effect.sleep(pause)))
  const { problems, status } = yield* once
  if (status === "partial") {
    return yield* new ErrorReport.PartialErrors({
      operation: "sync",
      errors: problems.length,
      advice: "Everything else is up to date."
    })
  }
})

/** Runs a sync with a bar. */
const syncing = Effect.fnUntraced(
  function*(
    { deletions, sources }: SyncFile.SyncFile,
    { userAuth, variables }: Connection.Speaker,
    stop: Effect.Effect<void>,
    media: Media.Options | undefined
  ) {
    const progress = yield* Progress.make({ elsewhere: "seldom" })
    let pages = 0
    const summary = yield* Sync.run({
      sources,
      deletions,
      userAuth,
      stop,
      onPage: ({ totals }) => progress.update({ ...unknown, posts: totals.items, noun: "items", pages: ++pages })
    })
    if (media === undefined || summary.status === "interrupted") {
      yield* progress.end
      return { ...summary, media: undefined }
    }
    const own = URL.parse(Variables.valueOf(variables, "POSTWIRE_BASE_URL") ?? "")
    const fetched = yield* Media.run({
      ...media,
      // The sandbox serves its media itself.
      hosts: [...media.hosts ?? Media.serviceHosts, ...own !== null && isLoopback(own.hostname) ? [own.host] : []],
      stop,
      onFile: ({ files }) => progress.update({ ...unknown, posts: files, noun: "media files", pages })
    })
    yield* progress.end
    return { ...summary, media: fetched, ...fetched.status === "interrupted" && { status: fetched.status } }
  },
  Effect.scoped
)

/** Brings the mirror of a copy up to date, if the file names one. */
const mirrored = (path: string, { parquet }: SyncFile.SyncFile, summary: Summary) =>
  parquet === undefined || summary.status === "interrupted"
    ? Effect.succeed(summary)
    : Effect.map(Mirror.refresh(resolve(dirname(path), parquet)), (parquet): Summary => ({ ...summary, parquet }))

const unknown = { done: undefined, remaining: undefined }

type Summary = Sync.Summary & {
  readonly media?: Media.Summary | undefined
  readonly parquet?: Mirror.Summary | undefined
}

const plainOf = ({ spent, ...summary }: Summary) => ({
  ...summary,
  dollars: spent === undefined ? undefined : Prices.dollarsOf(spent)
})

const summaryLines = (
  { added, changed, gone, items, media, parquet, problems, requests, spent = 0, status }: Summary
) => [
  `${status}: ${Text.quantity(added, "new rows")}, ${Text.quantity(changed, "changed rows")}; ${
    Text.quantity(items, "items")
  } in ${Text.quantity(requests, "requests")}, ${Text.dollars(spent)}`,
  ...goneLines(gone),
  ...status === "budget" ? ["The budget is used up. The next run continues."] : [],
  ...problems.map(({ reason, source }) => `${source}: ${reason}`),
  ...media === undefined ? [] : [
    `${Text.quantity(media.files, "media files")}, ${Text.size(media.bytes)}`,
    ...Object.entries(media.problems).map(([reason, count]) =>
      `${Text.quantity(count, "files")} not fetched: ${reason}`
    )
  ],
  ...parquet === undefined ? [] : [`${Text.quantity(parquet.files, "Parquet files")} written`]
]

const goneLines = (gone: Status.GoneCounts) =>
  Object.entries(gone).flatMap(([table, reasons]) => {
    const counts = Object.entries(reasons)
    return counts.length === 0
      ? []
      : [`${table} gone: ${counts.map(([reason, count]) => `${count} ${Text.oneLine(reason)}`).join(", ")}`]
  })

const planLines = (planned: ReadonlyArray<Plan.Expected>) => {
  const all = planned.reduce((sum, { micros }) => sum + micros, 0)
  const others = planned.reduce((sum, { microsOfOthers }) => sum + microsOfOthers, 0)
  return [
    ...planned.map(({ items, micros, source }) =>
      `${source}: ${
        items === undefined
          ? "as many as are new"
          : `${Text.quantity(items, "items")}, up to ${Text.dollars(micros)}`
      }`
    ),
    `In all up to ${Text.dollars(all)}, and up to ${
      Text.dollars(others)
    } for authors and referenced posts, each of which is bought once. A resource that was read today is free.`
  ]
}

const first = { kinds: ["posts", "mentions", "bookmarks", "likes"], perMonth: 10 }

const textOf = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

/** The answer to a question: the default for an empty line, and without a terminal. */
const answer = <A>(question: string, byDefault: A, read: (text: string) => A | undefined) =>
  Effect.gen(function*() {
    while (yield* Prompt.isPossible) {
      const text = yield* Prompt.line("an answer", question)
      const found = text === "" ? byDefault : read(text)
      if (found !== undefined) return found
    }
    return byDefault
  })

const isMeKind = (kind: string): boolean =>
  !Object.hasOwn(kinds, kind) || ["users", "me"].includes(kinds[kind as KindName].of)

const init = Command.make(
  "init",
  {
    file: Target.file,
    target: Args.text("target", "The SQLite file of the copy (default: postwire.sqlite)", "FILE"),
    force: OutputFile.force
  },
  ({ file, force, target }) =>
    Effect.gen(function*() {
      const possible = SyncFile.kindNames.filter(isMeKind)
      const chosen = yield* answer(
        `Sources (${possible.join(", ")}) [${first.kinds.join(" ")}]:`,
        first.kinds,
        (text) => {
          const named = text.split(/[\s,]+/)
          return named.every((name) => possible.some((kind) => kind === name))
            ? named
            : undefined
        }
      )
      const perMonth = yield* answer(
        `Dollars a month at most [${first.perMonth}]:`,
        first.perMonth,
        (text) => /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
      )
      const made = {
        $schema: "./postwire.sync.schema.json",
        target: Option.getOrElse(target, () => "postwire.sqlite"),
        every: "1 day",
        budget: { month: perMonth },
        sources: chosen.map((kind) => ({ kind }))
      }
      yield* OutputFile.write(file, textOf(made), force)
      yield* OutputFile.write(join(dirname(file), "postwire.sync.schema.json"), textOf(SyncFile.jsonSchema()), true)
      yield* Report.lines(
        `${file}: ${chosen.join(", ")}; at most ${Text.dollars(perMonth * 1e6)} a month`,
        "Change it as you like, then: postwire sync --plan"
      )
    })
).pipe(
  Args.help(
    "Write a file that says what to sync, with its JSON Schema beside it for editors. Asks on a terminal.",
    "Write a first file"
  )
)

const schema = Command.make("schema", {}, () => Report.data(JSON.stringify(SyncFile.jsonSchema(), undefined, 2))).pipe(
  Args.help("Print the JSON Schema of the file", "Print the JSON Schema of the file")
)

const status = Command.make(
  "status",
  { file: Target.file, json: Report.json },
  ({ file, json }) =>
    Effect.gen(function*() {
      const named = yield* Target.read(file)
      const found = yield* Effect.provide(Status.read, Target.layer(file, named))
      const { micros, ...plain } = found
      yield* Report.print(json, { ...plain, dollars: Prices.dollarsOf(micros) }, () => statusLines(found))
    })
).pipe(Args.help("Show what the copy has, and its last runs", "Show what the copy has"))

const imports = Command.make(
  "import",
  {
    archive: Argument.String("archive").pipe(Argument.withDescription("The ZIP file that the service gave you")),
    file: Target.file,
    json: Report.json
  },
  ({ archive, file, json }) =>
    Effect.gen(function*() {
      const named = yield* Target.read(file)
      const progress = yield* Progress.make({ elsewhere: "seldom" })
      let pages = 0
      const media = Target.mediaOf(file, named, false)
      const found = yield* Takeout.run(archive, {
        sources: named.sources,
        media: media !== undefined && (media.folder ?? true),
        onBatch: ({ items }) => progress.update({ ...unknown, posts: items, noun: "items", pages: ++pages })
      }).pipe(Effect.provide(Target.layer(file, named)), ErrorReport.within({ resumable: "itself" }))
      yield* progress.end
      yield* Report.print(json, found, () => [
        `@${Text.oneLine(found.username)}: ${Text.quantity(found.items, "items")}, ${
          Text.quantity(found.added, "new rows")
        }`,
        ...found.files === 0 ? [] : [Text.quantity(found.files, "media files")],
        ...found.problems.map(({ file, reason }) => Text.oneLine(`${file}: ${reason}`))
      ])
    }).pipe(Effect.scoped)
).pipe(Args.help(
  "Import the archive of your account that the service gives you. It costs nothing, and the next sync reads only what came later. " +
    "What the copy has already stays.",
  "Import your archive of the service",
  { "postwire sync import twitter.zip": "Import it" }
))

const statusLines = ({ gone, micros, progress, rows, runs }: Status.Status) => {
  const [last] = runs
  return [
    Object.entries(rows).map(([name, count]) => Text.quantity(count, name)).join(", ") || "Nothing yet.",
    ...goneLines(gone),
    ...progress.map(({ source, state }) => `${source}: ${readAt(state)}`),
    ...last === undefined ? [] : [
      `Last run: ${Text.minute(last.started_at)}, ${last.ended_at === null ? "not ended" : last.status}${
        last.reason === null ? "" : `: ${last.reason}`
      }`
    ],
    `Spent: ${Text.dollars(micros)}`
  ]
}

const readAt = (state: string): string => {
  const { doneAt, window } = JSON.parse(state) as { readonly doneAt?: number; readonly window?: object }
  const read = doneAt === undefined ? "never complete" : `read ${Text.minute(new Date(doneAt).toISOString())}`
  return window === undefined ? read : `${read}, in progress`
}

export const command = Command.make("sync", flags, run).pipe(
  Command.withSubcommands([init, imports, status, schema, SyncClusterCommands.start, SyncClusterCommands.stop]),
  Args.help(
    "Keep a copy of posts, mentions, bookmarks, likes, followers and others up to date, as a file says: only what is new is read, " +
      "each author and referenced post once. A run that is stopped or out of budget is continued by the next one.",
    lines.sync,
    {
      "postwire sync init": "Write a first file",
      "postwire sync --plan": "Show what the next run costs",
      "postwire sync": "Bring the copy up to date",
      "postwire sync --watch": "Keep it up to date"
    }
  )
)
