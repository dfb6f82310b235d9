/** Keeps the connection of a shared stream in one process, which writes the items to the log. Other processes wait for its seat. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AnyItem } from "../../../schema/StreamItem.ts"
import type { StreamEvent } from "../../StreamEvents.ts"
import type { ResumeFrom } from "../../StreamOptions.ts"
import { type Entry, LeaseLost, type StreamLogUnavailable } from "../StreamLog.ts"
import * as Lease from "./lease.ts"
import * as LogEntry from "./logEntry.ts"

/** The largest difference between the clocks of the service and the machines. */
const skewMillis = 120_000

/** How often the log is trimmed. */
const trimMillis = 5_000

/** The limits of one write, in entries and characters. */
const maxEntries = 1_000
const maxLength = 2_000_000

/** The settings of a process that may hold the connection. */
export interface Settings<E, R> extends Lease.Patience {
  readonly stream: string
  /** The place of the last entry when this process opened the stream. */
  readonly opened: number
  readonly isPost: boolean
  /** How long the holder may be silent, in milliseconds. */
  readonly lease: number
  readonly keep: { readonly age: number; readonly items: number }
  /** The end of an earlier run without a log. */
  readonly resumeFrom: ResumeFrom | undefined
  readonly events: (resumeFrom: ResumeFrom | undefined) => Stream.Stream<StreamEvent<AnyItem>, E, R>
  /** Called when this process starts to hold the connection, with the time up to which the log is complete. */
  readonly onHolding: (at: Date, until: Date | undefined) => void
  readonly onLost: (at: Date) => void
}

/** Holds the connection whenever no other process does. Ends when the stream has ended, here or elsewhere, or fails permanently. */
export const hold = <E, R>(settings: Settings<E, R>): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const { lease, log, stream } = settings
    const holder = globalThis.crypto.randomUUID()
    const seat = { stream }
    // Remembered here because the log may lose it.
    let known: number | undefined
    const turn = Effect.gen(function*() {
      const seated = yield* Lease.take(settings, seat, holder, lease)
      const following = follow(settings, seated.token, known, (until) => {
        known = until
      })
      const hasEnded = yield* Effect.raceFirst(
        Effect.raceFirst(Effect.as(following, true), Effect.as(Lease.keep(settings, seat, seated, lease), false)),
        tidy(settings, () => known)
      ).pipe(
        Effect.catchTag("LeaseLost", () => Effect.succeed(false)),
        Effect.ensuring(Effect.ignore(log.release(seat, seated.token)))
      )
      if (!hasEnded) settings.onLost(new Date(yield* Clock.currentTimeMillis))
      return hasEnded
    })
    return Effect.asVoid(Effect.repeat(turn, { until: (hasEnded) => hasEnded }))
  })

/** Writes the events to the log, and the end. */
const follow = Effect.fnUntraced(function*<E, R>(
  settings: Settings<E, R>,
  token: number,
  known: number | undefined,
  onUntil: (until: number) => void
) {
  const { log, stream } = settings
  const patiently = <A>(step: Effect.Effect<A, StreamLogUnavailable>) => Lease.patiently(settings, step)
  const extent = yield* patiently(log.extent(stream))
  let { last } = extent
  if (last > settings.opened) {
    const [latest] = yield* patiently(log.read(stream, last - 1, 1))
    const logged = latest && LogEntry.read(settings.isPost, latest.text)
    if (logged !== undefined && "ended" in logged) return
  }
  // A log that was restored to an earlier state lacks everything after its own mark, whatever this process has seen.
  let until = extent.until ?? known
  if (until !== undefined) onUntil(until)
  const resumeFrom = until === undefined ? settings.resumeFrom : {
    at: new Date(until),
    ids: (yield* patiently(log.idsSince(stream, until - skewMillis))).map(LogEntry.idFrom)
  }
  settings.onHolding(new Date(yield* Clock.currentTimeMillis), until === undefined ? undefined : new Date(until))

  const append = Effect.fnUntraced(function*(entries: ReadonlyArray<Entry>, mark: number | undefined) {
    const added = yield* Lease.ifHeld(settings, log.append(stream, token, last, entries, mark))
    if (added === undefined) return yield* new LeaseLost({ stream, consumer: undefined })
    last = added
  })
  yield* Stream.runForEachArray(
    settings.events(resumeFrom),
    Effect.fnUntraced(function*(events) {
      let isMarked = false
      const entries: Array<Entry> = []
      for (const event of events) {
        const mark = markOf(event, until, token)
        if (mark !== undefined) {
          isMarked = true
          until = mark
        }
        const entry = LogEntry.entryOf(event)
        if (entry !== undefined) entries.push(entry)
      }
      const batches = [...batchesOf(entries)]
      if (batches.length === 0 && isMarked) batches.push([])
      for (const [index, batch] of batches.entries()) {
        // Everything before the mark is written with the last batch.
        const mark = index === batches.length - 1 ? until : undefined
        yield* append(batch, mark)
      }
      if (isMarked && until !== undefined) onUntil(until)
    })
  )
  yield* append([LogEntry.endOf(yield* Clock.currentTimeMillis)], undefined)
})

/** The time up to which the stream is complete with an event, in milliseconds; `undefined` if the event does not change it. */
const markOf = (event: StreamEvent<AnyItem>, until: number | undefined, token: number): number | undefined =>
  event._tag === "Watermark"
    ? latest(event.until.getTime(), until)
    // A process that takes over before the first watermark starts where this one did. The token is a time of the log's clock: by a
    // clock of this machine that is ahead, the log would be complete up to a time to come.
    : event._tag === "Connected" && until === undefined
    ? Math.min(event.at.getTime(), token / 1_000) - skewMillis
    : undefined

const latest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? one ?? other : Math.max(one, other)

function* batchesOf(entries: ReadonlyArray<Entry>): Generator<ReadonlyArray<Entry>> {
  let batch: Array<Entry> = []
  let length = 0
  for (const entry of entries) {
    batch.push(entry)
    length += entry.text.length
    if (batch.length < maxEntries && length < maxLength) continue
    yield batch
    batch = []
    length = 0
  }
  if (batch.length > 0) yield batch
}

/** Trims entries that no consumer needs, and no holder needs to recognize duplicates. */
const tidy = <E, R>({ keep, log, stream }: Settings<E, R>, until: () => number | undefined) =>
  Effect.forever(Effect.delay(
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.ignore(log.trim(stream, {
        before: now - keep.age,
        keep: keep.items,
        readBefore: Math.min(until() ?? now, now) - skewMillis
      }))),
    trimMillis
  ))
