/**
 * Writes a stream into files, line by line. Items and the stream's progress are on the disk within a second. After a failure, a
 * full disk or `kill -9`, the next run continues from the last checkpoint: missed items are fetched or recorded as a gap, and no item is written
 * twice.
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
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ExportError } from "./files/ExportErrors.ts"
import * as Archive from "./folders/Archive.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import type { Sink } from "./folders/Sink.ts"
import * as Table from "./rows/Table.ts"

/** A stream with its parameters. */
export interface Source<out E = Streaming.AnyStreamError, out R = Client> {
  readonly definition: Definition
  readonly parameters: Readonly<Record<string, unknown>>
  /** The events of the stream, from the end of an earlier run (`resumeFrom`). */
  readonly events: (options: StreamOptions) => Stream.Stream<StreamEvent<StreamItem.AnyItem>, E, R>
}

export const make = <P, R extends Result, Sel extends keyof Selection, E, const S extends SelectionOf<P, R, Sel>>(
  { definition }: StreamOperation<P, R, Sel, E>,
  ...[parameters]: Arguments<P, R, Sel, S, never>
): Source => fromDefinition(definition, { ...parameters })

/** As `make`, for parameters known only at run time: invalid ones fail the run. */
export const fromDefinition = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>
): Source => ({ definition, parameters, events: (options) => Streaming.run(definition, parameters, options) })

/** When to begin the next file. The names of files have the time of their first line. */
export interface Rotation {
  /** At every multiple of this duration since 1970, in UTC: an hour ends on the hour, a day at midnight. */
  readonly every?: Duration.Input | undefined
  /** At this size in bytes, as nearly as whole lines allow. For Parquet and SQLite: the size of the buffered lines, not of the finished file. */
  readonly size?: number | undefined
}

/** How to follow a stream. */
export interface Options<out OnStartError = never>
  extends Pick<StreamOptions, "recover" | "tags" | "slowConsumer" | "bufferSize" | "silence" | "reconnects">
{
  readonly sink: Sink
  /** Default: one file, which grows. */
  readonly rotate?: Rotation | undefined
  /** `resume` (the default) continues after the last run, `force` starts over. */
  readonly mode?: "resume" | "force" | undefined
  /** The number of items at which this run ends. Default: never. */
  readonly limit?: number | undefined
  /** The longest time until an item is on the disk. Default 1 second. */
  readonly checkpoint?: Duration.Input | undefined
  /** When it completes, the stream ends and the open file is completed. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** Called with the progress of earlier runs before the stream is opened. A failure ends the run. */
  readonly onStart?: ((progress: Progress) => Effect.Effect<unknown, OnStartError>) | undefined
  /** Called with every event, before it is written. */
  readonly onEvent?: ((event: StreamEvent<StreamItem.AnyItem>) => void) | undefined
  /** Called with the progress after each save. */
  readonly onCheckpoint?: ((progress: Progress) => Effect.Effect<unknown>) | undefined
}

export type Progress = Archive.Progress

export type Written = Archive.Written

/** How a run ended. */
export interface Summary {
  /** `done`: the stream ended or reached the limit. `interrupted`: stopped on request. */
  readonly status: "done" | "interrupted"
  /** Of all runs. */
  readonly progress: Progress
  /** The items written by this run. */
  readonly items: number
  /** The files that this run has completed. */
  readonly files: ReadonlyArray<Written>
}

/**
 * Writes the items of a stream until it ends, is stopped, reaches its limit, or fails permanently. The open file is then completed. A
 * line is a post as exports write it, with `matching_rules`, `includes` and `errors` where there are any; in tables these are
 * columns of JSON.
 */
export const run = <E, R, S = never>(
  source: Source<E, R>,
  options: Options<S>
): Effect.Effect<Summary, E | ExportError | InvalidParameters | ConflictingIdentifiers | S, R> =>
  Effect.scoped(follow(source, options))

const follow = Effect.fnUntraced(function*<E, R, S>(
  source: Source<E, R>,
  options: Options<S>
): Effect.fn.Return<
  Summary,
  E | ExportError | InvalidParameters | ConflictingIdentifiers | S,
  R | Scope.Scope
> {
  const { onStart, sink, stop = Effect.never } = options
  const opening = yield* openingOf(source, options)
  const archive = yield* sink.path === undefined ? Archive.ofStream(sink, opening) : Archive.open(sink, opening)
  const spend = yield* Effect.serviceOption(Spend.Total)
  const following = new Following(archive, options, yield* Clock.Clock, Option.getOrUndefined(spend))
  if (onStart !== undefined) yield* Effect.onError(onStart(archive.progress), () => Effect.ignore(archive.abandon))
  const events = Stream.chunks(source.events(following.streamOptions))
  const isStopped = yield* Effect.raceFirst(
    Effect.as(Stream.runForEachWhile(events, (some) => following.take(some)), false),
    Effect.raceFirst(Effect.as(stop, true), following.saving)
  ).pipe(Effect.onExit(() => following.end))
  return { status: isStopped ? "interrupted" : "done", ...following.totals, files: archive.completed }
})

const everyOf = ({ every }: Rotation): number => every === undefined ? Infinity : Duration.toMillis(every)
const sizeOf = ({ size = Infinity }: Rotation): number => size

const openingOf = Effect.fnUntraced(function*(
  { definition, parameters }: Source<unknown, unknown>,
  { mode, rotate = {}, sink, tags }: Options<unknown>
): Effect.fn.Return<Archive.Options, InvalidParameters | ConflictingIdentifiers> {
  const query = Checkpoint.parametersOf({ definition, parameters })
  if (query instanceof Error) return yield* query
  const isRotated = everyOf(rotate) < Infinity || sizeOf(rotate) < Infinity
  const startedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  return {
    job: {
      fingerprint: {
        operation: definition.name,
        ...query,
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
    start: { ids: "", items: 0, gaps: 0, lost: 0, files: 0, runs: 0, startedAt }
  }
})

type Event = StreamEvent<StreamItem.AnyItem>

/** One run: the events that were received, and those of them that are written. */
class Following<S> {
  readonly #archive: Archive.Archive
  readonly #options: Options<S>
  readonly #clock: Clock.Clock
  readonly #spend: Spend.Total["Service"] | undefined
  readonly #before: Progress
  readonly #recent: Recent
  readonly #every: number
  readonly #size: number
  /** The rows and gaps that are not written yet. */
  #rows: Array<object> = []
  #gaps: Array<object> = []
  /** When the first of these rows came, and the first of those being saved, in milliseconds. */
  #firstAt = Infinity
  #savedFrom = Infinity
  /** The offset of the service's clock, in milliseconds. */
  #ahead = 0
  #items = 0
  #missing: number
  #lost: number
  #until: string | undefined
  #progress: Progress
  #savedAt: number
  /** A sink cannot be used after a failure. */
  #isBroken = false
  /** One save at a time. */
  readonly #alone = Semaphore.makeUnsafe(1).withPermits(1)

  constructor(
    archive: Archive.Archive,
    options: Options<S>,
    clock: Clock.Clock,
    spend: Spend.Total["Service"] | undefined
  ) {
    this.#archive = archive
    this.#options = options
    this.#clock = clock
    this.#spend = spend
    this.#every = everyOf(options.rotate ?? {})
    this.#size = sizeOf(options.rotate ?? {})
    this.#before = archive.progress
    const { gaps, ids, lost, runs, until } = this.#before
    this.#missing = gaps
    this.#lost = lost
    this.#until = until
    this.#progress = { ...this.#before, runs: runs + 1 }
    this.#recent = new Recent(ids, options.recover === "recovery" ? minutesBefore : secondsBefore)
    this.#savedAt = clock.currentTimeMillisUnsafe()
  }

  get totals(): Pick<Summary, "progress" | "items"> {
    return { progress: this.#progress, items: this.#items }
  }

  /** The stream's options, with the place of the last run. */
  get streamOptions(): StreamOptions {
    const { bufferSize, reconnects, recover, silence, slowConsumer, tags } = this.#options
    const { ids } = this.#recent
    return {
      bufferSize,
      reconnects,
      recover,
      silence,
      slowConsumer,
      tags,
      ...this.#before.until === undefined
        ? {}
        : {
          resumeFrom: { at: new Date(this.#resumedAt), ids },
          duplicates: { size: Math.max(200_000, 2 * ids.length) }
        }
    }
  }

  /** Processes events; returns whether more are wanted. */
  take(events: ReadonlyArray<Event>): Effect.Effect<boolean, ExportError> {
    const { limit = Infinity, sink } = this.#options
    return Effect.gen({ self: this }, function*() {
      for (const event of events) {
        const from = this.#archive.current?.from ?? Math.min(this.#savedFrom, this.#firstAt)
        if (this.#isOver(from, event.at.getTime())) yield* this.#save(true)
        const isFirst = this.#until === undefined
        this.#receive(event)
        // From here on a later run can resume.
        if (isFirst && this.#until !== undefined) yield* this.#save(false)
        if (this.#items === limit) return false
        if (this.#rows.length >= this.#maxWaiting) yield* this.#save(false)
      }
      if (sink.path === undefined && this.#isPending) yield* this.#save(false)
      return true
    })
  }

  /** Saves regularly, forever. */
  get saving(): Effect.Effect<never, ExportError> {
    const pause = Duration.toMillis(this.#options.checkpoint ?? "1 second")
    return Effect.forever(Effect.gen({ self: this }, function*() {
      yield* Effect.sleep(pause)
      const now = this.#clock.currentTimeMillisUnsafe()
      const { current } = this.#archive
      // With nothing to write, the checkpoint is refreshed once a minute; its ids keep older items from being written again.
      const isStale = this.#until !== this.#progress.until && now - this.#savedAt >= quietMillis
      if (this.#isPending || isStale || (current !== undefined && this.#isOver(current.from, now))) {
        yield* this.#save(false)
      }
    }))
  }

  /** Saves what is pending and completes the open file. */
  get end(): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      if (this.#isBroken) return
      if (this.#isPending || this.#until !== this.#progress.until) yield* this.#save(true)
      else yield* this.#onDisk(this.#close)
      yield* this.#archive.abandon
    })
  }

  get #isPending(): boolean {
    return this.#rows.length > 0 || this.#gaps.length > 0
  }

  /** The time from which this run resumes: a little before the end of the last one. */
  get #resumedAt(): number {
    return Date.parse(this.#before.until ?? "") - precisionMillis
  }

  #isOver(from: number, now: number): boolean {
    return now >= endOf(from, this.#every)
  }

  /** The number of rows that may wait for the next save: few where the file is nearly full, as row lengths vary. */
  get #maxWaiting(): number {
    if (this.#size === Infinity) return maxRows
    const current = this.#archive.current ?? { rows: 0, size: 0 }
    return Math.max(1, Math.min(maxRows, Math.floor((this.#size - current.size) / lengthOf(current) / 2)))
  }

  #receive(event: Event): void {
    this.#options.onEvent?.(event)
    switch (event._tag) {
      case "Delivered": {
        const at = event.at.getTime()
        // Most items have no time of their own, but all were created before they came.
        this.#recent.add(
          Streaming.idOf(event.item),
          Math.max(Streaming.timeOf(event.item) ?? 0, at + this.#ahead)
        )
        if (this.#rows.push(rowOf(event.item)) === 1) this.#firstAt = at
        this.#items++
        break
      }
      case "Watermark":
        this.#until = this.#untilOf(event.until)
        this.#ahead = event.serviceAt.getTime() - event.at.getTime()
        break
      case "Gap": {
        const { at, filledBy, from, to, why } = event
        this.#gaps.push({ from, to, filledBy, why, at })
        if (filledBy === undefined) this.#missing++
        break
      }
      case "Dropped":
        this.#gaps.push({ dropped: event.count, at: event.at })
        this.#lost += event.count
        break
      case "Unreadable":
        this.#gaps.push({ unreadable: event.reason, at: event.at })
        this.#lost++
    }
  }

  /**
   * Runs resume slightly before the last `until`. A watermark from that overlap must not move `until` back, or every restart would
   * start earlier.
   */
  #untilOf(watermark: Date): string | undefined {
    const at = watermark.getTime()
    const { until } = this.#before
    return this.#resumedAt <= at && at < Date.parse(until ?? "") ? until : watermark.toISOString()
  }

  #save(isLast: boolean): Effect.Effect<void, ExportError> {
    return this.#alone(Effect.uninterruptible(this.#onDisk(this.#write(isLast))))
  }

  #write(isLast: boolean): Effect.Effect<void, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const now = this.#clock.currentTimeMillisUnsafe()
      const [rows, gaps, from] = [this.#rows, this.#gaps, this.#firstAt]
      this.#rows = []
      this.#gaps = []
      this.#firstAt = Infinity
      this.#savedFrom = from
      const next: Progress = {
        ...this.#progress,
        ...this.#until === undefined ? {} : { until: this.#until },
        ids: this.#recent.pruneAndEncode(this.#until),
        items: this.#progress.items + rows.length,
        gaps: this.#missing,
        lost: this.#lost,
        ...this.#spend === undefined ? {} : { spent: Math.round(this.#spend.spent) }
      }
      // In this order: a gap noted twice does no harm, a missing one does.
      yield* this.#archive.note(gaps)
      yield* this.#archive.commit(rows, next, from)
      this.#savedFrom = Infinity
      this.#progress = { ...next, files: this.#archive.progress.files }
      this.#savedAt = now
      yield* this.#options.onCheckpoint?.(this.#progress) ?? Effect.void
      if (isLast || this.#isFull(now)) yield* this.#close
    })
  }

  /** Checks whether the open file has reached its size, as nearly as whole rows allow, or the end of its time. */
  #isFull(now: number): boolean {
    const { current } = this.#archive
    return current !== undefined &&
      (current.size > this.#size - lengthOf(current) / 2 || this.#isOver(current.from, now))
  }

  get #close(): Effect.Effect<void, ExportError> {
    return Effect.tap(
      this.#archive.close,
      Effect.sync(() => this.#progress = { ...this.#progress, files: this.#archive.progress.files })
    )
  }

  #onDisk(effect: Effect.Effect<void, ExportError>): Effect.Effect<void, ExportError> {
    return Effect.tapError(effect, () => Effect.sync(() => this.#isBroken = true))
  }
}

/** The most rows written together. */
const maxRows = 2_000

/** The interval of checkpoints on a quiet stream, in milliseconds. */
const quietMillis = 60_000

/** The estimated length of a row, in bytes. */
const lengthOf = ({ rows, size }: { readonly rows: number; readonly size: number }): number =>
  rows === 0 ? 1_000 : size / rows

const endOf = (from: number, every: number): number =>
  every === Infinity || from === Infinity ? Infinity : (Math.floor(from / every) + 1) * every

/** A line: the post or the event, with the other members of its body. */
const rowOf = (item: StreamItem.AnyItem): object => {
  const { data, ...rest } = item.body
  return { ...Object(data), ...rest }
}

const tableOf = (definition: Definition, parameters: Source["parameters"]): Table.Table => {
  const table = Table.items(definition, parameters)
  const jsonColumns: ReadonlyArray<Table.Column> = ["matching_rules", "includes"].map((name) => ({
    name,
    path: [name],
    type: "json"
  }))
  return { ...table, columns: [...table.columns.slice(0, -1), ...jsonColumns, ...table.columns.slice(-1)] }
}

/** The precision of the service's clock, in milliseconds. */
const precisionMillis = 2_000

/**
 * How long before `until` ids are kept, in milliseconds: a later run resumes early by the precision, and the service then
 * starts at a whole second, or with recovery two minutes, before. The times of ids have that precision, too.
 */
const secondsBefore = 6_000
const minutesBefore = 130_000

/** The most ids kept. */
const maxIds = 1_000_000

/** The recent ids with their times: a stream that resumes at a time must know which later items it has already. */
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
    if (this.#times.size <= maxIds) return
    for (const oldest of this.#times.keys()) {
      this.#times.delete(oldest)
      break
    }
  }

  get ids(): ReadonlyArray<string> {
    return [...this.#times.keys()]
  }

  /** The ids since a little before `until`, as text; older ones are forgotten. */
  pruneAndEncode(until: string | undefined): string {
    const cutoff = until === undefined ? -Infinity : Date.parse(until) - this.#margin
    const entries: Array<string> = []
    for (const [id, addedAt] of this.#times) {
      if (addedAt < cutoff) this.#times.delete(id)
      else entries.push(`${id}:${addedAt.toString(36)}`)
    }
    return entries.join(" ")
  }
}
