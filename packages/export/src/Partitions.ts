/**
 * Splits a long search into spans of time, which are exported concurrently or by many machines, under the rate limit of one client,
 * and merged newest first, into the result of a single run.
 *
 * A queue needs only `planPartitions` and `exportPartition`: a job is a partition and a cursor, both plain JSON. Running a job
 * twice writes the same pages under the same numbers.
 */
import { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as Export from "./Export.ts"
import * as disk from "./files/Disk.ts"
import type { ExportError } from "./files/ExportErrors.ts"
import * as sealed from "./files/Sealed.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import type { FileSink } from "./folders/Sink.ts"
import * as workspace from "./folders/Workspace.ts"
import { sumOf } from "./rows/Page.ts"
import { merged, spool } from "./sinks/Spools.ts"
import { NotPlannable } from "./sources/Plan.ts"
import * as Source from "./sources/Source.ts"

/** A part of a search: parameters that replace those of the search. */
export const Partition = Schema.Struct({
  /** From 0, newest first. */
  index: Schema.Int,
  start_time: Schema.optionalKey(Schema.String),
  end_time: Schema.String,
  since_id: Schema.optionalKey(Schema.String),
  until_id: Schema.optionalKey(Schema.String),
  /** The planned start, if there is no `start_time`. */
  begins: Schema.optionalKey(Schema.String),
  /** The counted posts. */
  posts: Schema.Int
})

export interface Partition extends Schema.Schema.Type<typeof Partition> {}

/**
 * Splits a search into at most `parts` spans with about the same number of posts. `buckets` are its counts (`Plan.estimate`),
 * newest first and without gaps; no span is shorter than one of them. With a `limit`, the time of that many newest posts is
 * split; all older posts are one more part, in case the counts were too high.
 */
export const planPartitions = (
  source: Source.Source,
  buckets: ReadonlyArray<CountBucket>,
  parts: number,
  limit = Infinity
): ReadonlyArray<Partition> | NotPlannable => {
  const { definition, parameters } = source
  const refused = refusalOf(source)
  if (refused !== undefined) return refused
  if (buckets.length === 0) return withoutCounts(source)
  const total = buckets.reduce((sum, { post_count }) => sum + post_count, 0)
  const wanted = Math.min(total, limit)
  const most = wanted < total ? parts + 1 : parts
  const spans: Array<{ start: string; end: string; posts: number }> = []
  let done = 0
  for (const { end, post_count, start } of buckets) {
    const last = spans.at(-1)
    // A span ends where its share of the posts is reached.
    if (last === undefined || (spans.length < most && done >= wanted * spans.length / parts)) {
      spans.push({ start, end, posts: post_count })
    } else Object.assign(last, { start, posts: last.posts + post_count })
    done += post_count
  }
  // A search without a start begins as far back as it can by itself; that instant would be too early for a later request.
  const { reach } = definition
  const isOpen = reach !== undefined && reach.isDefault !== true && parameters["start_time"] === undefined
  const ids = { since_id: idOf(parameters["since_id"]), until_id: idOf(parameters["until_id"]) }
  return spans.map(({ end, posts, start }, index): Partition => ({
    index,
    // The service ignores a start beside `since_id`; the counts begin at that id.
    ...(index < spans.length - 1 || (ids.since_id === undefined && !isOpen)
      ? { start_time: toSeconds(start) }
      : ids.since_id === undefined
      ? { begins: toSeconds(start) }
      : { since_id: ids.since_id }),
    end_time: toSeconds(end),
    ...(index === 0 && ids.until_id !== undefined ? { until_id: ids.until_id } : {}),
    posts
  }))
}

/** The reason why a search cannot be split, if it is known before counting. */
export const refusalOf = (source: Source.Source): NotPlannable | undefined =>
  !("start_time" in (source.definition.query ?? {}))
    ? withoutCounts(source)
    : (source.parameters["sort_order"] ?? "recency") === "recency"
    ? undefined
    : new NotPlannable({ operation: source.definition.name, reason: "only the newest-first order can be cut" })

const withoutCounts = ({ definition }: Source.Source): NotPlannable =>
  new NotPlannable({ operation: definition.name, reason: "it has no counts over time" })

const idOf = (id: unknown): string | undefined => id === undefined || id === null ? undefined : String(id)

const toSeconds = (time: string): string => `${new Date(time).toISOString().slice(0, 19)}Z`

/** The pages of one part of a search. */
export const sourceOf = ({ definition, parameters }: Source.Source, partition: Partition): Source.Source => {
  const { begins, index: _index, posts: _posts, ...own } = partition
  const { end_time: _end, since_id: _since, start_time: _start, until_id: _until, ...rest } = parameters
  return Source.fromDefinition(definition, { ...rest, ...own }, begins ?? own.start_time)
}

/** The progress of a partition: plain JSON, kept with the job. */
export const Cursor = Schema.Struct({
  /** The pages written. */
  pages: Schema.Int,
  items: Schema.Int,
  /** Partial errors. */
  errors: Schema.Int,
  /** The malformed or missing members, by their place in the responses; absent if there are none. */
  anomalies: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
  next: Schema.optionalKey(Schema.String),
  complete: Schema.Boolean
})

export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

/** The progress before the first page. */
export const beginning: Cursor = { pages: 0, items: 0, errors: 0, complete: false }

/** The place of a page: the same for every fetch of that page. */
export interface Place {
  readonly partition: number
  readonly page: number
}

/**
 * Fetches the page at a cursor, passes it to `write`, and returns the next cursor. Keep that cursor and call again until it is
 * `complete`. After a crash, call with the old cursor: the same page is written to the same place, so `write` must replace what is
 * there (rows by their id, an object or file named after the place).
 */
export const exportPartition = <E, R>(
  source: Source.Source,
  partition: Partition,
  options: {
    readonly cursor?: Cursor | undefined
    readonly write: (page: Source.Page, place: Place) => Effect.Effect<unknown, E, R>
  }
): Effect.Effect<Cursor, AnyError | ExportError | E, Client | R> => {
  const { cursor = beginning, write } = options
  if (cursor.complete) return Effect.succeed(cursor)
  return sourceOf(source, partition).pages(cursor.next).pipe(
    Stream.take(1),
    Stream.runFoldEffect(
      () => cursor,
      (before, page) => {
        const anomalies = sumOf(before.anomalies, page.anomalies)
        return Effect.as(write(page, { partition: partition.index, page: before.pages }), {
          pages: before.pages + 1,
          items: before.items + page.items.length,
          errors: before.errors + page.errors.length,
          ...(anomalies === undefined ? {} : { anomalies }),
          ...(page.next === undefined ? {} : { next: page.next }),
          complete: page.next === undefined
        })
      }
    )
  )
}

/** How to run a partitioned export. */
export interface Options<out E = never> extends Omit<Export.Options<E>, "sink"> {
  readonly sink: FileSink
  /** Plans the parts, once all local checks have passed. A resumed export keeps its plan. */
  readonly partitions: Effect.Effect<ReadonlyArray<Partition>, E, Client>
  /** How many parts are fetched at the same time. Default 4. */
  readonly concurrency?: number | undefined
}

/**
 * Fetches every part into a file in the folder of the export, then writes the parts into the sink in order. Both steps can be
 * interrupted and resumed; a resumed run keeps the partitions of the first one. With a `limit`, that many newest items are written,
 * and parts that are not needed for them are not fetched.
 */
export const run = Effect.fnUntraced(function*<E extends Error = never>(
  source: Source.Source,
  options: Options<E>
): Effect.fn.Return<Export.Summary, AnyError | ExportError | NotPlannable | E, Client> {
  const refused = refusalOf(source)
  if (refused !== undefined) return yield* refused
  const folder = join(workspace.workOf(options.sink.path), "parts")
  // Parts count their own requests: a resumed run would not know them otherwise.
  const client = yield* Client
  let progresses: ReadonlyArray<Checkpoint.Progress> = []
  const fetched = Effect.gen(function*() {
    const partitions = yield* keep(folder, options.partitions)
    const known = partitions.map(() => Checkpoint.start(""))
    progresses = known
    const fetchPart = Effect.fnUntraced(function*(partition: Partition, limit?: number) {
      const path = join(folder, `${String(partition.index).padStart(4, "0")}.pages`)
      const { progress, status } = yield* Export.run(sourceOf(source, partition), {
        ...options,
        sink: spool(path),
        limit,
        mode: "resume",
        onStart: undefined,
        onPage: (report) => {
          known[partition.index] = report.progress
          return options.onPage?.({ ...report, progress: sum(known) }) ?? Effect.void
        }
      })
      known[partition.index] = progress
      return { path, status }
    })
    const { concurrency = 4, limit = Infinity } = options
    // First the parts that are needed in full, according to the counts, concurrently; then one by one until there are enough items.
    let counted = 0
    const whole = partitions.filter(({ posts }) => (counted += posts) <= limit)
    const parts = yield* Effect.forEach(whole, (partition) => fetchPart(partition), { concurrency })
    for (const partition of partitions.slice(whole.length)) {
      const missing = limit - sum(known).items
      if (missing <= 0 || parts.some(isInterrupted)) break
      parts.push(yield* fetchPart(partition, missing))
    }
    return parts
  })
  const parts: Source.Source<E> = {
    definition: source.definition,
    parameters: source.parameters,
    fingerprint: { partitions: "yes" },
    hasKept: Effect.promise(() => fs.readdir(folder).then((names) => names.length > 1, () => false)),
    pages: (cursor) =>
      Stream.unwrap(
        Effect.map(Effect.provideService(fetched, Client, client), (parts) =>
          parts.some(isInterrupted)
            ? Stream.empty
            : merged(parts.map(({ path }) => path), fetchedBy(sum(progresses)), cursor))
      )
  }
  const summary = yield* Export.run(parts, { ...options, onPage: undefined })
  return summary.progress.pages === 0 && progresses.length > 0 ? { ...summary, progress: sum(progresses) } : summary
})

const isInterrupted = ({ status }: Pick<Export.Summary, "status">): boolean => status === "interrupted"

const sum = (parts: ReadonlyArray<Checkpoint.Progress>): Checkpoint.Progress =>
  parts.reduce((all, part) => {
    const anomalies = sumOf(all.anomalies, part.anomalies)
    return {
      ...all,
      ...(anomalies === undefined ? {} : { anomalies }),
      items: all.items + part.items,
      pages: all.pages + part.pages,
      requests: all.requests + part.requests,
      ...(all.spent === undefined && part.spent === undefined ? {} : { spent: (all.spent ?? 0) + (part.spent ?? 0) })
    }
  }, Checkpoint.start(""))

const fetchedBy = ({ requests, spent }: Checkpoint.Progress) => ({ requests, ...spent !== undefined && { spent } })

const plans = sealed.file(Schema.Struct({ partitions: Schema.Array(Partition) }))

/** The partitions of an earlier run, or new ones. */
const keep = Effect.fnUntraced(function*<E>(
  folder: string,
  plan: Effect.Effect<ReadonlyArray<Partition>, E, Client>
): Effect.fn.Return<ReadonlyArray<Partition>, ExportError | E, Client> {
  const path = join(folder, "plan.json")
  const kept = yield* plans.read(path)
  if (kept !== undefined) return kept.partitions
  const partitions = yield* plan
  yield* disk.attempt(folder, () => fs.mkdir(folder, { recursive: true }))
  yield* plans.write(path, { partitions })
  return partitions
})
