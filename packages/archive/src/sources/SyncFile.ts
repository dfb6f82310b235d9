/** The file that says what to sync: sources, the target, how often, and the most to spend. */
import * as Codecs from "@postwire/core/schema/Codecs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type KindName, kinds } from "./Kinds.ts"

const names = Object.keys(kinds) as Array<KindName>

const Duration = Schema.String.check(
  Schema.isPattern(/^\d{1,4} (minute|hour|day|week)s?$/, { expected: "a duration, as 1 hour or 7 days" })
)

/** The kinds that no single list has. */
const looked = ["spaces", "conversations", "analytics"] as const

/** Every kind of source. */
export const kindNames = [...names, ...looked]

/** A user: `me`, a username with `@`, or an id. */
const Subject = Schema.String.check(
  Schema.isPattern(/^(me|@[A-Za-z0-9_]{1,15}|\d{1,19})$/, { expected: "me, a username with @, or an id" })
)

/** A source. */
export const Source = Schema.Struct({
  kind: Schema.Literals(kindNames).annotate({
    description: "What to read."
  }),
  of: Schema.optionalKey(Schema.Union([Subject, Schema.Array(Subject)])).annotate({
    description: "Whose: me (the default), usernames with @, or ids; of lists, their ids."
  }),
  query: Schema.optionalKey(Schema.String).annotate({ description: "The query of a search." }),
  name: Schema.optionalKey(Schema.String).annotate({
    description: "A name for reports. Default: the kind, and whose. A source keeps its progress under it."
  }),
  every: Schema.optionalKey(Duration).annotate({ description: "How often to read it. Default: with every run." }),
  full: Schema.optionalKey(Duration).annotate({
    description:
      "How often to read the whole list, to see what was removed. Default: 7 days. Lists that only grow are never reread."
  })
})

export interface Source extends Schema.Schema.Type<typeof Source> {}

const Dollars = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** How to find out what is gone. */
export const Deletions = Schema.Struct({
  every: Duration.annotate({ description: "How often to check whether what the copy has is still shown." }),
  by: Schema.Literals(["compliance", "lookup"]).annotate({
    description:
      "compliance: by jobs of the service, which are free and need the bearer token of the app. lookup: as the account sees it, at the price of reading everything again."
  })
})

export interface Deletions extends Schema.Schema.Type<typeof Deletions> {}

/** The file of a sync. */
export const SyncFile = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  target: Schema.String.annotate({
    description:
      "The SQLite file of the copy, beside this file unless absolute, or the address of a PostgreSQL database, with its schema in options=-csearch_path%3DNAME."
  }),
  account: Schema.optionalKey(Schema.String).annotate({
    description: "The account that reads. Default: the default one."
  }),
  every: Schema.optionalKey(Duration).annotate({ description: "The time between runs with --watch. Default: 1 day." }),
  budget: Schema.optionalKey(
    Schema.Struct({
      run: Schema.optionalKey(Dollars),
      day: Schema.optionalKey(Dollars),
      month: Schema.optionalKey(Dollars)
    })
  ).annotate({
    description: "The most to spend, in dollars. A run that would pass it stops, and the next one continues."
  }),
  deletions: Schema.optionalKey(Deletions).annotate({
    description: "Whether to remove what was deleted or hidden since it was read. Default: only what a run meets."
  }),
  media: Schema.optionalKey(Schema.Union([
    Schema.Boolean,
    Schema.Struct({
      folder: Schema.optionalKey(Schema.String).annotate({
        description:
          "The folder of the files, beside this file unless absolute. Default: the target with .media at its end."
      }),
      hosts: Schema.optionalKey(Schema.Array(Schema.String)).annotate({
        description: "The hosts from which media may be fetched. Default: those of the service."
      })
    })
  ])).annotate({ description: "Whether to fetch photos, videos and GIFs, too. Default: false." }),
  parquet: Schema.optionalKey(Schema.String).annotate({
    description: "A folder for a mirror of the copy as Parquet files, beside this file unless absolute. Default: none."
  }),
  sources: Schema.Array(Source).check(Schema.isMinLength(1))
})

export interface SyncFile extends Schema.Schema.Type<typeof SyncFile> {}

const millis = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const

/** A duration of the file in milliseconds. */
export const millisOf = (duration: string): number => {
  const [count, unit = ""] = duration.split(" ")
  return Number(count) * millis[unit.replace(/s$/, "") as keyof typeof millis]
}

/**
 * Checks whether a time has passed since a run ended. Runs begin at a time of the day and end some time after it: a tenth, or an hour,
 * may be missing, or "1 day" would be every other day.
 */
export const isDue = (endedAt: number, every: number, now: number): boolean =>
  now >= endedAt + every - Math.min(every / 10, millis.hour)

/** Whose items a source reads. */
export const subjectsOf = ({ of = "me", query }: Source): ReadonlyArray<string> =>
  query !== undefined ? [query] : typeof of === "string" ? [of] : of

/** The name of a source: that in the file, or its kind and its subjects. */
export const nameOf = (source: Source): string => source.name ?? [source.kind, ...subjectsOf(source)].join(" ")

const isId = (text: string): boolean => Codecs.idPattern.test(text)

/** Problems of a file that its schema does not see, by their place. */
export const problemsOf = ({ sources }: Pick<SyncFile, "sources">): ReadonlyArray<string> => [
  ...sources.flatMap((source, index) => {
    const at = `sources[${index}]`
    const { kind, of, query } = source
    const wanted = kind in kinds ? kinds[kind as KindName].of : kind === "conversations" ? "kept" : "users"
    if (wanted === "query") return query === undefined ? [`${at}: a ${kind} needs a query`] : []
    if (query !== undefined) return [`${at}: ${kind} have no query`]
    if (wanted === "lists" && !(of !== undefined && subjectsOf(source).every(isId))) {
      return [`${at}: ${kind} need the ids of lists in of`]
    }
    if (wanted === "me" && of !== undefined && of !== "me") return [`${at}: ${kind} are those of the account: of is me`]
    return []
  }),
  ...sources.flatMap((source, index) =>
    sources.findIndex((other) => nameOf(other) === nameOf(source)) < index
      ? [`sources[${index}]: another source has the name ${nameOf(source)}; set a name`]
      : []
  )
]

/** The address itself, which may have a password, is not shown. */
const problemsOfTarget = ({ target }: SyncFile): ReadonlyArray<string> =>
  /^postgres(ql)?:\/\//.test(target) && !URL.canParse(target)
    ? ["target: it is not the address of a database"]
    : []

/** The JSON Schema of the file, for editors. */
export const jsonSchema = (): object => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(SyncFile)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "postwire.sync.json",
    ...schema,
    $defs: definitions
  }
}

/** The file of a text, or what is wrong with it, one line for each problem. */
export const parse = (text: string): SyncFile | ReadonlyArray<string> => {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ""))
  } catch (error) {
    return [`it is not JSON: ${String(error).replace(/^SyntaxError: /, "")}`]
  }
  const read = Schema.decodeUnknownResult(SyncFile)(json, { errors: "all", onExcessProperty: "error" })
  if (Result.isFailure(read)) return String(read.failure).split("\n")
  const problems = [...problemsOfTarget(read.success), ...problemsOf(read.success)]
  return problems.length > 0 ? problems : read.success
}
