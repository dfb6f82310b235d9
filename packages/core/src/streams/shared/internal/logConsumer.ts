/** One consumer of a shared stream: it reads the log from its cursor on, and moves the cursor as it goes. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Monotonic from "../../../runtime/Monotonic.ts"
import type { AnyItem } from "../../../schema/StreamItem.ts"
import type { Gap } from "../../StreamEvents.ts"
import type { Cursor, LeaseLost, Placed, StreamLogUnavailable } from "../StreamLog.ts"
import * as Lease from "./lease.ts"
import * as LogEntry from "./logEntry.ts"

/** So many entries are read in a step. */
const pageSize = 200

/** While a page is worked through, the cursor is moved so often. */
const commitMillis = 1_000

/** An item, and its place in the log. */
export interface SharedItem<out Item> {
  readonly item: Item
  /** Its place in the log, below 2^53: a consumer that keeps it with its own work begins after it, with `from`. */
  readonly position: number
  /**
   * Notes that this item and all before it are done. With a log in PostgreSQL, within a transaction of the same client, it is a
   * part of that transaction.
   */
  readonly commit: Effect.Effect<void, LeaseLost | StreamLogUnavailable>
}

/** What a consumer takes. */
export interface Consumer extends Lease.Patience {
  readonly stream: string
  /** The place of the last entry when this process opened the stream. */
  readonly opened: number
  readonly lease: number
  readonly isPost: boolean
  readonly consumer: string
  readonly tags: ReadonlySet<string> | undefined
  readonly from: number | "oldest" | "newest"
  readonly acknowledges: boolean
  readonly onMissed: (missed: LogEntry.Missed) => void
}

/** A consumer that reads. */
export interface Opened {
  /** Gives one item at a time, so that the next one is only asked for when this one is done. */
  readonly next: Pull.Pull<Arr.NonEmptyReadonlyArray<SharedItem<AnyItem>>>
}

/** Begins to read; it ends with the scope. */
export const open = Effect.fnUntraced(function*(
  own: Consumer
): Effect.fn.Return<Opened, never, Scope.Scope> {
  const { acknowledges, consumer, isPost, lease, log, onMissed, stream, tags } = own
  const ask = <A>(step: Effect.Effect<A, StreamLogUnavailable>) => Lease.patiently(own, step)
  const scope = yield* Effect.scope
  const holder = globalThis.crypto.randomUUID()
  const seat = { stream, consumer }

  let seated: Lease.Seated | undefined
  let page: ReadonlyArray<Placed> = []
  let at = 0
  /** The last entry that was read. */
  let read: Cursor = { position: 0, at: 0 }
  /** The last entry that was passed, if it is not the one that was given last. */
  let passed: Cursor | undefined
  let committed = 0
  let committedSince = 0
  /** What was given, and is not done yet. */
  let given: Cursor | undefined

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      if (seated === undefined) return Effect.void
      const { token } = seated
      const last = passed !== undefined && passed.position > committed
        ? log.commit(stream, consumer, token, passed)
        : Effect.void
      return Effect.ignore(Effect.andThen(last, log.release(seat, token)))
    })
  )

  /** Takes the place of whoever was this consumer before. */
  const enter = Effect.gen(function*() {
    const taken = yield* Lease.take(own, seat, holder, lease)
    const cursor = yield* ask(log.cursor(stream, consumer))
    const { last } = yield* ask(log.extent(stream))
    const now = yield* Clock.currentTimeMillis
    const start = startOf(own, cursor, read, { position: last, at: now })
    // A log that ends before this place went back: all that it has was read.
    read = start.position > last ? { position: last, at: start.at } : start
    if (start.position > 0 && last === 0) onMissed(gap(now, start.at, now, isLost))
    if (cursor === undefined && read.position === 0) {
      // A new consumer has missed nothing of what the log had dropped before.
      const [first] = yield* ask(log.read(stream, 0, 1))
      read = first === undefined ? { position: last, at: now } : { position: first.follows, at: first.at }
    }
    page = []
    at = 0
    given = undefined
    passed = undefined
    committed = cursor?.position ?? -1
    // A new consumer has a place from the start, so that it misses nothing that comes before its first item is done.
    if (cursor === undefined) passed = read
    seated = taken
    yield* Effect.forkIn(
      Effect.andThen(
        Lease.keep(own, seat, taken, lease),
        Effect.sync(() => {
          if (seated === taken) seated = undefined
        })
      ),
      scope
    )
    return taken
  })

  /** Notes what was passed, if it is time to. `false` where the place is not ours any more. */
  const settle = Effect.fnUntraced(function*(token: number, isPageOver: boolean) {
    if (passed === undefined || passed.position <= committed) return true
    const now = yield* Monotonic.millis
    if (!isPageOver && now - committedSince < commitMillis) return true
    const { position } = passed
    const done = Effect.as(log.commit(stream, consumer, token, passed), true)
    if ((yield* Lease.ifHeld(own, done)) === undefined) return false
    committed = position
    committedSince = now
    return true
  })

  const next = Effect.gen(function*() {
    if (given !== undefined && acknowledges) passed = given
    given = undefined
    while (true) {
      const { token } = seated ?? (yield* enter)
      const entry = page[at]
      if (!(yield* settle(token, entry === undefined))) {
        seated = undefined
        continue
      }
      if (entry === undefined) {
        page = yield* ask(log.read(stream, read.position, pageSize))
        at = 0
        if (page.length === 0) yield* ask(log.wait(stream, read.position))
        continue
      }
      at++
      const why = whyMissing(entry, read.position)
      if (why !== undefined) onMissed(gap(yield* Clock.currentTimeMillis, read.at, entry.at, why))
      read = { position: entry.position, at: entry.at }
      const logged = LogEntry.read(isPost, entry.text)
      if (logged !== undefined && "item" in logged && isWanted(logged.item, tags)) {
        const cursor = given = read
        return Arr.of({
          item: logged.item,
          position: cursor.position,
          commit: log.commit(stream, consumer, token, cursor)
        })
      }
      if (logged !== undefined && "missed" in logged) onMissed(logged.missed)
      if (acknowledges) passed = read
      // An end from before was that of an earlier run.
      if (logged !== undefined && "ended" in logged && read.position > own.opened) return yield* Cause.done()
    }
  })
  return { next }
})

const startOf = ({ from }: Consumer, cursor: Cursor | undefined, read: Cursor, end: Cursor): Cursor =>
  read.position > 0
    // It goes on, though where another process has been meanwhile.
    ? cursor !== undefined && cursor.position > read.position ? cursor : read
    : typeof from === "number"
    ? { position: from, at: cursor?.at ?? end.at }
    : cursor ?? (from === "newest" ? end : { position: 0, at: end.at })

const isLost = "the log was lost"

/** Why a consumer has missed what was before an entry; `undefined` where it has missed nothing. */
const whyMissing = ({ follows }: Placed, read: number): string | undefined =>
  follows === 0 && read > 0
    ? isLost
    : follows > read
    ? "the log does not have it any more"
    : undefined

const isWanted = ({ matchingRules }: AnyItem, tags: ReadonlySet<string> | undefined): boolean =>
  tags === undefined || matchingRules.some(({ tag }) => tag !== undefined && tags.has(tag))

const gap = (now: number, from: number, to: number, why: string): Gap => ({
  _tag: "Gap",
  at: new Date(now),
  // A program that keeps its place itself does not say when it read that far.
  from: new Date(Math.min(from, to)),
  to: new Date(to),
  filledBy: undefined,
  why
})
