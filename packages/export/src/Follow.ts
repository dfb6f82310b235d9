/**
 * A stream into files: what it brings is written line by line, and what is written is on the disk within a second, together
 * with where the stream stands. Whatever ends a run (a failure, a full disk, kill -9), the next one goes on there: what came
 * meanwhile is fetched or told as a gap, and no item is written twice.
 *
 * ```ts
 * const posts = Follow.make(streamPosts, { post_fields: ["created_at"] })
 * const { files } = yield* Follow.run(posts, { sink: JsonLines.make("posts.jsonl"), rotate: { every: "1 hour" } })
 * ```
 */
import "@postwire/core/runtime/SupportedNode"
import type { Client } from "@postwire/core/client/Client"
import type { Arguments, SelectionOf } from "@postwire/core/client/Operation"
import type { ConflictingIdentifiers, InvalidParameters } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Result } from "@postwire/core/schema/Response"
import type { Selection } from "@postwire/core/schema/Selection"
import type * as StreamItem from "@postwire/core/schema/StreamItem"
import * as Spend from "@postwire/core/spend/Spend"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import * as Streaming from "@postwire/core/streams/Streaming"
import type { StreamOperation } from "@postwire/core/streams/StreamOperation"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ExportError } from "./files/ExportErrors.ts"
import * as archive from "./folders/Archive.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import type { Sink } from "./folders/Sink.ts"
import * as Table from "./rows/Table.ts"

/** A stream with its parameters. */
export interface Source<out E = Streaming.AnyStreamError, out R = Client> {
  readonly definition: Definition
  readonly parameters: Readonly<Record<string, unknown>>
  /** Everything that happens on it, from where an earlier run has ended (`resumeFrom`). */
  readonly events: (options: StreamOptions) => Stream.Stream<StreamEvent<StreamItem.AnyItem>, E, R>
}

/** A stream with its parameters. */
export const make = <P, R extends Result, Sel extends keyof Selection, E, const S extends SelectionOf<P, R, Sel>>(
  { definition }: StreamOperation<P, R, Sel, E>,
  ...[parameters]: Arguments<P, R, Sel, S, never>
): Source => fromDefinition(definition, { ...parameters })

/** As `make`, of parameters that are known only at run time: a mistake in them fails the run. */
export const fromDefinition = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>
): Source => ({ definition, parameters, events: (options) => Streaming.run(definition, parameters, options) })

/** When a file is complete and the next one begins. Files have the time of their first line in their name. */
export interface Rotation {
  /** At every multiple of it since 1970, in UTC: an hour ends on the hour, a day at midnight. */
  readonly every?: Duration.Input | undefined
  /** At so many bytes, as nearly as whole lines allow; of Parquet and SQLite, of the lines that are kept until then. */
  readonly size?: number | undefined
}

/** How to follow a stream. */
export interface Options<out S = never>
  extends Pick<StreamOptions, "recover" | "tags" | "slowConsumer" | "bufferSize" | "silence" | "reconnects">
{
  readonly sink: Sink
  /** Default: one file, which grows. */
  readonly rotate?: Rotation | undefined
  /** `resume` (the default) goes on where the last run ended, `force` begins anew. */
  readonly mode?: "resume" | "force" | undefined
  /** The number of items at which this run ends. Default: never. */
  readonly limit?: number | undefined
  /** After how long what has come is on the disk at the latest. Default a second. */
  readonly checkpoint?: Duration.Input | undefined
  /** When it completes, the stream is ended and the files are completed. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** Called with where the last run has ended, before the stream is opened. What it fails with ends the run. */
  readonly onStart?: ((standing: Standing) => Effect.Effect<unknown, S>) | undefined
  /** Called with everything that happens, before it is written. */
  readonly onEvent?: ((event: StreamEvent<StreamItem.AnyItem>) => void) | undefined
  /** Called with where the stream stands, whenever that is on the disk. */
  readonly onCheckpoint?: ((standing: Standing) => Effect.Effect<unknown>) | undefined
}

/** Where a stream stands: its last checkpoint. */
export type Standing = archive.Standing

/** A file that is complete. */
export type Written = archive.Written

/** How a run ended. */
export interface Summary {
  /** `done`: at the limit. `interrupted`: stopped on request. */
  readonly status: "done" | "interrupted"
  /** Of all runs. */
  readonly standing: Standing
  /** How many items this run has written. */
  readonly items: number
  /** The files that this run has completed. */
  readonly files: ReadonlyArray<Written>
}

/**
 * Writes what a stream brings, until it is stopped, has reached its limit, or fails for good. In each case the file under way
 * is completed. A line is a post as exports have it, with `matching_rules`, `includes` and `errors` as far as there are any;
 * in tables these are columns of JSON.
 */
export const run = <E, R, S = never>(
  source: Source<E, R>,
  options: Options<S>
): Effect.Effect<Summary, E | ExportError | InvalidParameters | ConflictingIdentifiers | S, R> =>
  Effect.scoped(follow(source, options))

const follow = Effect.fnUntraced(function*<E, R, S>(
  { definition, events, parameters }: Source<E, R>,
  options: Options<S>
): Effect.fn.Return<
  Summary,
  E | ExportError | InvalidParameters | ConflictingIdentifiers | S,
  R | Scope.Scope
> {
  const { limit = Infinity, mode = "resume", rotate = {}, sink, tags } = options
  const every = rotate.every === undefined ? Infinity : Duration.toMillis(rotate.every)
  const size = rotate.size ?? Infinity
  const isRotated = every < Infinity || size < Infinity
  const asked = Checkpoint.parametersOf({ definition, parameters })
  if (asked instanceof Error) return yield* asked
  const opening: archive.Options = {
    job: {
      fingerprint: {
        operation: definition.name,
        ...asked,
        ...tags === undefined ? {} : { tags: [...tags].sort().join(",") },
        format: sink.format,
        rotation: isRotated ? "yes" : "no"
      },
      items: tableOf(definition, parameters),
      included: (bucket) => Table.included(bucket, parameters),
      expected: []
    },
    isRotated,
    isForced: mode === "force",
    start: { ids: "", items: 0, gaps: 0, lost: 0, files: 0, runs: 0, startedAt: isoOf(yield* Clock.currentTimeMillis) }
  }
  const files = yield* sink.path === undefined ? archive.ofStream(sink, opening) : archive.open(sink, opening)
  const total = yield* Effect.serviceOption(Spend.Total)
  const before = files.standing
  const clock = yield* Clock.Clock

  let rows: Array<object> = []
  let gaps: Array<object> = []
  let { gaps: missing, lost, until } = before
  const reached = Date.parse(before.until ?? "")
  const since = reached - precision
  /** By how much the service's clock is ahead. */
  let ahead = 0
  const recent = new Recent(before.ids, options.recover === "recovery" ? minutesBefore : secondsBefore)
  let items = 0
  /** When the first of the rows came that are not written yet. */
  let firstAt = 0
  let savedAt = clock.currentTimeMillisUnsafe()
  let standing: Standing = { ...before, runs: before.runs + 1 }

  let isBroken = false
  // After a failure a sink is of no more use.
  const onDisk = Effect.tapError<ExportError, void, never, never>(() => Effect.sync(() => isBroken = true))
  const close = Effect.gen(function*() {
    yield* files.close
    standing = { ...standing, files: files.standing.files }
  })
  const save = Effect.fnUntraced(function*(isLast: boolean) {
    const now = clock.currentTimeMillisUnsafe()
    const [someRows, someGaps] = [rows, gaps]
    rows = []
    gaps = []
    const next: Standing = {
      ...standing,
      ...until === undefined ? {} : { until },
      ids: recent.since(until),
      items: standing.items + someRows.length,
      gaps: missing,
      lost,
      ...total._tag === "None" ? {} : { spent: Math.round(total.value.spent) }
    }
    // A gap that is told twice does no harm; one that is not told does.
    yield* files.note(someGaps)
    yield* files.commit(someRows, next, firstAt)
    standing = { ...next, files: files.standing.files }
    savedAt = now
    if (options.onCheckpoint !== undefined) yield* options.onCheckpoint(standing)
    const { current } = files
    if (current === undefined) return
    if (isLast || current.size > size - lengthOf(current) / 2 || isOver(current, now)) yield* close
  })
  // One after the other, and none by halves.
  const alone = Semaphore.makeUnsafe(1).withPermits(1)
  const saved = alone(Effect.uninterruptible(onDisk(save(false))))
  const completed = alone(Effect.uninterruptible(onDisk(save(true))))

  const isOver = ({ from }: { readonly from: number }, now: number): boolean => now >= endOf(from, every)
  const isDue = (): boolean => rows.length > 0 || gaps.length > 0

  /** How many rows may wait until they are written: no row is known to be as long as others. */
  const most = (): number => {
    if (size === Infinity) return mostRows
    const current = files.current ?? { rows: 0, size: 0 }
    return Math.max(1, Math.min(mostRows, Math.floor((size - current.size) / lengthOf(current) / 2)))
  }

  const take = (event: StreamEvent<StreamItem.AnyItem>): void => {
    options.onEvent?.(event)
    switch (event._tag) {
      case "Delivered":
        // Most items do not state their time. All were made before they came.
        recent.add(Streaming.idOf(event.item), Math.max(Streaming.timeOf(event.item) ?? 0, event.at.getTime() + ahead))
        if (rows.push(rowOf(event.item)) === 1) firstAt = event.at.getTime()
        items++
        break
      case "Watermark":
        // Every run resumes a little early: a watermark there must not move the next run further back.
        until = since <= event.until.getTime() && event.until.getTime() < reached
          ? before.until
          : event.until.toISOString()
        ahead = event.serviceAt.getTime() - event.at.getTime()
        break
      case "Gap": {
        const { at, filledBy, from, to, why } = event
        gaps.push({ from, to, filledBy, why, at })
        if (filledBy === undefined) missing++
        break
      }
      case "Dropped":
        gaps.push({ dropped: event.count, at: event.at })
        lost += event.count
        break
      case "Unreadable":
        gaps.push({ unreadable: event.reason, at: event.at })
        lost++
    }
  }

  /** Takes what has come together; whether there may be more. */
  const taking = Effect.fnUntraced(function*(events: ReadonlyArray<StreamEvent<StreamItem.AnyItem>>) {
    for (const event of events) {
      const from = files.current?.from ?? (rows.length > 0 ? firstAt : Infinity)
      if (isOver({ from }, event.at.getTime())) yield* completed
      const isFirst = until === undefined
      take(event)
      // From here on a later run can go on.
      if (isFirst && until !== undefined) yield* saved
      if (items === limit) return false
      if (rows.length >= most()) yield* saved
    }
    if (sink.path === undefined && isDue()) yield* saved
    return true
  })

  const pause = Duration.toMillis(options.checkpoint ?? "1 second")
  const saving = Effect.forever(Effect.gen(function*() {
    yield* Effect.sleep(pause)
    const now = clock.currentTimeMillisUnsafe()
    const { current } = files
    // Where nothing comes, how far the stream is may be a minute old: what came since then is known by its id.
    const isStale = until !== standing.until && now - savedAt >= quiet
    if (isDue() || isStale || (current !== undefined && isOver(current, now))) yield* saved
  }))

  if (options.onStart !== undefined) {
    yield* Effect.tapError(options.onStart(before), () => Effect.ignore(files.abandon))
  }
  const { bufferSize, reconnects, recover, silence, slowConsumer } = options
  const happening = events({
    bufferSize,
    reconnects,
    recover,
    silence,
    slowConsumer,
    tags,
    ...before.until === undefined
      ? {}
      : { resumeFrom: { at: new Date(since), ids: recent.ids } }
  })
  const isStopped = yield* Effect.raceFirst(
    Effect.as(Stream.runForEachWhile(Stream.chunks(happening), taking), false),
    Effect.raceFirst(Effect.as(options.stop ?? Effect.never, true), saving)
  ).pipe(
    Effect.onExit(() =>
      Effect.gen(function*() {
        if (isBroken) return
        if (isDue() || until !== standing.until) yield* completed
        else yield* onDisk(close)
        yield* files.abandon
      })
    )
  )
  return { status: isStopped ? "interrupted" : "done", standing, items, files: files.files }
})

/** So many rows are written together at most. */
const mostRows = 2_000

/** Where nothing comes, a checkpoint is written after so many milliseconds. */
const quiet = 60_000

/** How long a row is, as far as one knows. */
const lengthOf = ({ rows, size }: { readonly rows: number; readonly size: number }): number =>
  rows === 0 ? 1_000 : size / rows

const endOf = (from: number, every: number): number =>
  every === Infinity || from === Infinity ? Infinity : (Math.floor(from / every) + 1) * every

const isoOf = (millis: number): string => new Date(millis).toISOString()

/** A line: the post, or the event, with what came along. */
const rowOf = (item: StreamItem.AnyItem): object => {
  const { data, ...rest } = item.body
  return { ...Object(data), ...rest }
}

/** The columns of a line. */
const tableOf = (definition: Definition, parameters: Source["parameters"]): Table.Table => {
  const table = Table.items(definition, parameters)
  const along: ReadonlyArray<Table.Column> = ["matching_rules", "includes"].map((name) => ({
    name,
    path: [name],
    type: "json"
  }))
  return { ...table, columns: [...table.columns.slice(0, -1), ...along, ...table.columns.slice(-1)] }
}

/** The precision with which the service's clock is known, in milliseconds. */
const precision = 2_000

/**
 * The milliseconds before `until` whose ids are kept. A later run begins there by the precision, and by the rest of a second
 * or of two minutes; the times of ids have that precision too.
 */
const secondsBefore = 6_000
const minutesBefore = 130_000

/** So many ids are kept at most. */
const mostIds = 1_000_000

/** What came of late, by id and time: a stream that goes on from a time must know what it has of the time after that. */
class Recent {
  readonly #times = new Map<string, number>()
  readonly #margin: number

  constructor(text: string, margin: number) {
    this.#margin = margin
    for (const entry of text === "" ? [] : text.split(" ")) {
      const [id = "", time = ""] = entry.split(":")
      this.#times.set(id, Number.parseInt(time, 36))
    }
  }

  add(id: string, time: number): void {
    this.#times.set(id, time)
    if (this.#times.size <= mostIds) return
    for (const oldest of this.#times.keys()) {
      this.#times.delete(oldest)
      break
    }
  }

  get ids(): ReadonlyArray<string> {
    return [...this.#times.keys()]
  }

  /** What is of a time or later, and a little before, as a text; the rest is forgotten. */
  since(time: string | undefined): string {
    const since = time === undefined ? -Infinity : Date.parse(time) - this.#margin
    const entries: Array<string> = []
    for (const [id, time] of this.#times) {
      if (time < since) this.#times.delete(id)
      else entries.push(`${id}:${time.toString(36)}`)
    }
    return entries.join(" ")
  }
}
