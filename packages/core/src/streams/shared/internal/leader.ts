/** The line of a shared stream: one process follows it and writes what comes to the log; the others wait for its place. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AnyItem } from "../../../schema/StreamItem.ts"
import type { StreamEvent } from "../../StreamEvents.ts"
import type { ResumeFrom } from "../../StreamOptions.ts"
import { type Entry, LeaseLost, type StreamLogUnavailable } from "../StreamLog.ts"
import * as Lease from "./lease.ts"
import * as LogEntry from "./logEntry.ts"

/** The clocks of the service and of the machines may differ by so much. */
const skewMillis = 120_000

/** So often it is looked at what of the log can go. */
const trimMillis = 5_000

/** A step writes so many entries at most, and stops at so many characters. */
const maxEntries = 1_000
const maxLength = 2_000_000

/** What holding a line takes. */
export interface Line<E, R> extends Lease.Patience {
  readonly stream: string
  /** The place of the last entry when this process opened the stream. */
  readonly opened: number
  /** Whether its items are posts. */
  readonly isPost: boolean
  /** How long a holder may be silent, in milliseconds. */
  readonly lease: number
  readonly keep: { readonly age: number; readonly items: number }
  /** Where an earlier run ended that had no log. */
  readonly resumeFrom: ResumeFrom | undefined
  readonly events: (resumeFrom: ResumeFrom | undefined) => Stream.Stream<StreamEvent<AnyItem>, E, R>
  /** Called when the line is had, with the time until when the log has everything, and when it is lost. */
  readonly onHolding: (at: Date, until: Date | undefined) => void
  readonly onLost: (at: Date) => void
}

/** Holds the line whenever no other process does. Ends when the stream has ended, here or elsewhere, or fails for good. */
export const hold = <E, R>(line: Line<E, R>): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const { lease, log, stream } = line
    const holder = globalThis.crypto.randomUUID()
    const seat = { stream }
    // The log may lose it.
    let known: number | undefined
    const turn = Effect.gen(function*() {
      const seated = yield* Lease.take(line, seat, holder, lease)
      const following = follow(line, seated.token, known, (until) => {
        known = until
      })
      const hasEnded = yield* Effect.raceFirst(
        Effect.raceFirst(Effect.as(following, true), Effect.as(Lease.keep(line, seat, seated, lease), false)),
        tidy(line, () => known)
      ).pipe(
        Effect.catchTag("LeaseLost", () => Effect.succeed(false)),
        Effect.ensuring(Effect.ignore(log.release(seat, seated.token)))
      )
      if (!hasEnded) line.onLost(new Date(yield* Clock.currentTimeMillis))
      return hasEnded
    })
    return Effect.asVoid(Effect.repeat(turn, { until: (hasEnded) => hasEnded }))
  })

/** Writes what comes, and the end. */
const follow = Effect.fnUntraced(function*<E, R>(
  line: Line<E, R>,
  token: number,
  known: number | undefined,
  onUntil: (until: number) => void
) {
  const { log, stream } = line
  const ask = <A>(step: Effect.Effect<A, StreamLogUnavailable>) => Lease.patiently(line, step)
  const extent = yield* ask(log.extent(stream))
  let { last } = extent
  if (last > line.opened) {
    const [latest] = yield* ask(log.read(stream, last - 1, 1))
    const logged = latest && LogEntry.read(line.isPost, latest.text)
    if (logged !== undefined && "ended" in logged) return
  }
  // A log that went back lacks what came after its own mark, however far this process has been.
  let until = extent.until ?? known
  if (until !== undefined) onUntil(until)
  const resumeFrom = until === undefined ? line.resumeFrom : {
    at: new Date(until),
    ids: (yield* ask(log.idsSince(stream, until - skewMillis))).map(LogEntry.idFrom)
  }
  line.onHolding(new Date(yield* Clock.currentTimeMillis), until === undefined ? undefined : new Date(until))

  const append = Effect.fnUntraced(function*(entries: ReadonlyArray<Entry>, mark: number | undefined) {
    const added = yield* Lease.ifHeld(line, log.append(stream, token, last, entries, mark))
    if (added === undefined) return yield* new LeaseLost({ stream, consumer: undefined })
    last = added
  })
  yield* Stream.runForEachArray(
    line.events(resumeFrom),
    Effect.fnUntraced(function*(events) {
      let isMarked = false
      const entries: Array<Entry> = []
      for (const event of events) {
        const mark = markOf(event, until)
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
        // What was before the mark is there with the last batch.
        const mark = index === batches.length - 1 ? until : undefined
        yield* append(batch, mark)
      }
      if (isMarked && until !== undefined) onUntil(until)
    })
  )
  yield* append([LogEntry.endOf(yield* Clock.currentTimeMillis)], undefined)
})

/** Until when everything has come with an event, in milliseconds; `undefined` of one that says nothing new. */
const markOf = (event: StreamEvent<AnyItem>, until: number | undefined): number | undefined =>
  event._tag === "Watermark"
    ? latest(event.until.getTime(), until)
    // Whoever takes over before the first mark begins where this process did.
    : event._tag === "Connected" && until === undefined
    ? event.at.getTime() - skewMillis
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

/** Drops what nobody needs any more: neither a consumer, nor a holder who has to know what has come. */
const tidy = <E, R>({ keep, log, stream }: Line<E, R>, until: () => number | undefined) =>
  Effect.forever(Effect.delay(
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.ignore(log.trim(stream, {
        before: now - keep.age,
        keep: keep.items,
        readBefore: Math.min(until() ?? now, now) - skewMillis
      }))),
    trimMillis
  ))
