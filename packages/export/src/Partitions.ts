/**
 * A long search as spans of time that are exported on their own, at the same time or by many machines, under the one
 * budget of their client, and put together newest first, as a single run would have written it.
 *
 * `planPartitions` and `exportPartition` are all that a queue needs: a job is a partition and a cursor, both plain JSON.
 * A job that is done twice writes the same pages under the same numbers.
 */
import type { Client } from "@postwire/core/Client"
import type { AnyError } from "@postwire/core/Errors"
import type { CountBucket } from "@postwire/core/models/CountBucket"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as Checkpoint from "./Checkpoint.ts"
import * as Export from "./Export.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "./ExportErrors.ts"
import * as disk from "./internal/disk.ts"
import { linesOf } from "./internal/lines.ts"
import * as Manifest from "./Manifest.ts"
import { NotPlannable } from "./Plan.ts"
import type { Sink } from "./Sink.ts"
import * as Files from "./sinks/Files.ts"
import * as Source from "./Source.ts"

/** A part of a search: parameters that take the place of the search's own. */
export const Partition = Schema.Struct({
  /** From 0, newest first. */
  index: Schema.Int,
  start_time: Schema.optionalKey(Schema.String),
  end_time: Schema.String,
  since_id: Schema.optionalKey(Schema.String),
  until_id: Schema.optionalKey(Schema.String),
  /** How many posts were counted in it. */
  posts: Schema.Int
})

/** A part of a search. */
export interface Partition extends Schema.Schema.Type<typeof Partition> {}

/**
 * Cuts a search into at most `parts` spans of about as many posts each. `buckets` are its counts (`Plan.estimate`),
 * newest first and without gaps; no span is shorter than one of them.
 */
export const planPartitions = (
  { definition, parameters }: Source.Source,
  buckets: ReadonlyArray<CountBucket>,
  parts: number
): ReadonlyArray<Partition> | NotPlannable => {
  const refuse = (reason: string) => new NotPlannable({ operation: definition.name, reason })
  if (!("start_time" in (definition.query ?? {})) || buckets.length === 0) return refuse("it has no counts over time")
  if ((parameters["sort_order"] ?? "recency") !== "recency") return refuse("only the newest-first order can be cut")
  const total = buckets.reduce((sum, { post_count }) => sum + post_count, 0)
  const spans: Array<{ start: string; end: string; posts: number }> = []
  let done = 0
  for (const { end, post_count, start } of buckets) {
    const last = spans.at(-1)
    // A span ends where its share of all posts is reached.
    if (last === undefined || (spans.length < parts && done >= total * spans.length / parts)) {
      spans.push({ start, end, posts: post_count })
    } else Object.assign(last, { start, posts: last.posts + post_count })
    done += post_count
  }
  // The recent search begins seven days ago by itself; the same instant would be too early when it is asked for.
  const isOpen = definition.name === "searchRecentPosts" && parameters["start_time"] === undefined
  const ids = { since_id: idOf(parameters["since_id"]), until_id: idOf(parameters["until_id"]) }
  return spans.map(({ end, posts, start }, index): Partition => ({
    index,
    // The service takes no notice of a start beside `since_id`; the counts begin there.
    ...(index < spans.length - 1 || (ids.since_id === undefined && !isOpen)
      ? { start_time: toSeconds(start) }
      : ids.since_id === undefined
      ? {}
      : { since_id: ids.since_id }),
    end_time: toSeconds(end),
    ...(index === 0 && ids.until_id !== undefined ? { until_id: ids.until_id } : {}),
    posts
  }))
}

const idOf = (id: unknown): string | undefined => id === undefined || id === null ? undefined : String(id)

const toSeconds = (time: string): string => `${new Date(time).toISOString().slice(0, 19)}Z`

/** The pages of one part of a search. */
export const sourceOf = ({ definition, parameters }: Source.Source, partition: Partition): Source.Source => {
  const { index: _index, posts: _posts, ...own } = partition
  const { end_time: _end, since_id: _since, start_time: _start, until_id: _until, ...rest } = parameters
  return Source.fromDefinition(definition, { ...rest, ...own })
}

/** Where a partition stands: plain JSON, to be kept by whoever keeps the jobs. */
export const Cursor = Schema.Struct({
  /** Pages that were written. */
  pages: Schema.Int,
  items: Schema.Int,
  /** Partial errors. */
  errors: Schema.Int,
  next: Schema.optionalKey(Schema.String),
  complete: Schema.Boolean
})

/** Where a partition stands. */
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

/** Where every partition begins. */
export const beginning: Cursor = { pages: 0, items: 0, errors: 0, complete: false }

/** The place of a page: the same page has the same one whenever it is fetched. */
export interface Place {
  readonly partition: number
  readonly page: number
}

/**
 * Fetches the page at a cursor, hands it to `write`, and returns the cursor after it. Keep that cursor, then call again,
 * until it is `complete`. Who crashes in between calls with the old cursor: the same page is written to the same place, so
 * `write` must replace what is there (rows by their id, an object or file named after the place).
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
      (before, page) =>
        Effect.as(write(page, { partition: partition.index, page: before.pages }), {
          pages: before.pages + 1,
          items: before.items + page.items.length,
          errors: before.errors + page.errors.length,
          ...(page.next === undefined ? {} : { next: page.next }),
          complete: page.next === undefined
        })
    )
  )
}

/** How to run a partitioned export. */
export interface Options extends Omit<Export.Options, "limit"> {
  readonly partitions: ReadonlyArray<Partition>
  /** Where the pages of the parts are kept until all are there. */
  readonly folder: string
  /** How many are fetched at the same time. Default 4. */
  readonly concurrency?: number | undefined
}

/**
 * Fetches every part into a file of its own, then writes them into the sink in their order. Both can be interrupted and
 * resumed; a run that resumes keeps to the partitions of the first one.
 */
export const run = Effect.fnUntraced(function*(
  source: Source.Source,
  options: Options
): Effect.fn.Return<Export.Summary, AnyError | ExportError, Client> {
  const { concurrency = 4, folder, mode = "new", sink } = options
  const before = mode === "resume" && sink.manifest !== undefined ? yield* Manifest.read(sink.manifest) : undefined
  const isComplete = before?.status === "done" || before?.status === "partial"
  const partitions = isComplete ? [] : yield* keep(folder, options)
  const spools = partitions.map(({ index }) => join(folder, `${String(index).padStart(4, "0")}.pages`))
  const progresses = partitions.map(() => Checkpoint.start(""))
  const parts = yield* Effect.forEach(
    partitions,
    (partition) =>
      Export.run(sourceOf(source, partition), {
        ...options,
        sink: spool(spools[partition.index] as string),
        mode: "resume",
        onPage: (report) => {
          progresses[partition.index] = report.progress
          return options.onPage?.({ ...report, progress: sum(progresses) }) ?? Effect.void
        }
      }),
    { concurrency }
  )
  const stopped = parts.find(({ status }) => status === "interrupted")
  if (stopped !== undefined) return { ...stopped, progress: sum(progresses) }
  const { requests } = sum(parts.map(({ progress }) => progress))
  const summary = yield* Export.run(merged(source, spools, requests), { ...options, onPage: undefined })
  if (summary.status !== "interrupted") {
    yield* disk.attempt(folder, () => fs.rm(folder, { recursive: true, force: true }))
  }
  return summary
})

/** What parts have done together. */
const sum = (parts: ReadonlyArray<Checkpoint.Progress>): Checkpoint.Progress =>
  parts.reduce((all, part) => ({
    ...all,
    items: all.items + part.items,
    pages: all.pages + part.pages,
    requests: all.requests + part.requests
  }), Checkpoint.start(""))

const Kept = Schema.fromJsonString(Schema.Array(Partition))

/** The partitions of the run that began it, or these. */
const keep = Effect.fnUntraced(function*(folder: string, { mode = "new", partitions }: Options) {
  const path = join(folder, "plan.json")
  if (mode === "force") yield* disk.attempt(folder, () => fs.rm(folder, { recursive: true, force: true }))
  const text = yield* disk.read(path)
  if (text === undefined) {
    yield* disk.attempt(folder, () => fs.mkdir(folder, { recursive: true }))
    yield* disk.replace(path, JSON.stringify(partitions))
    return partitions
  }
  if (mode === "new") return yield* new FileExists({ path: folder })
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(Kept)(text),
    () => new CheckpointUnusable({ path, reason: "it is no plan" })
  )
})

/** A sink whose rows are whole pages. */
const spool = (path: string): Sink => {
  const files = Files.make(path, { name: "pages", encoder: () => ({ header: "", rows: Files.lines }) }, "gzip")
  return {
    ...files,
    open: (job) =>
      Effect.map(files.open({ ...job, expected: [] }), (writer) => ({
        ...writer,
        get progress() {
          return writer.progress
        },
        commit: ({ errors, includes, items, ...page }, progress) =>
          writer.commit({ ...page, items: [{ items, includes, errors }], includes: {}, errors: [] }, progress)
      }))
  }
}

/** The pages in spools, one after the other. The place of a page is its spool and its line. */
const merged = (source: Source.Source, spools: ReadonlyArray<string>, requests: number): Source.Source => ({
  definition: source.definition,
  parameters: source.parameters,
  fingerprint: { partitions: "yes" },
  requests,
  pages: (cursor = "0:0") => {
    const [first, line] = cursor.split(":").map(Number) as [number, number]
    const pages = async function*(): AsyncGenerator<Source.Page> {
      for (let number = first; number < spools.length; number++) {
        let at = 0
        let held: Source.Page | undefined
        for await (const text of linesOf(spools[number] as string, { gzip: true })) {
          if (held !== undefined) yield held
          held = undefined
          at++
          if (number === first && at <= line) continue
          held = { ...JSON.parse(text) as Source.Page, next: `${number}:${at}`, rateLimit: undefined }
        }
        const isLast = number === spools.length - 1
        const next = isLast ? undefined : `${number + 1}:0`
        yield { ...held ?? nothing, next }
      }
    }
    return Stream.fromAsyncIterable(pages(), (cause) => disk.failureOf(spools[first] ?? "", cause))
  }
})

const nothing = { items: [], includes: {}, errors: [], rateLimit: undefined }
