/** A consumer of a shared stream: reads the log from its cursor on, and moves the cursor. */
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

/** The number of entries that are read in a step. */
const pageSize = 200

/** How often the cursor is moved while a page is processed. */
const commitMillis = 1_000

/** An item, and its place in the log. */
export interface SharedItem<out Item> {
  readonly item: Item
  /** Its place in the log, below 2^53. A consumer that stores it with its own work continues after it with `from`. */
  readonly position: number
  /**
   * Marks this item and all before it as done. With a log in PostgreSQL, in a transaction of the same client, it is a part of that
   * transaction.
   */
  readonly commit: Effect.Effect<void, LeaseLost | StreamLogUnavailable>
}

/** The settings of a consumer. */
export interface Settings extends Lease.Patience {
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

/**
 * Opens a consumer, which ends with the scope. It takes one item at a time, so that a request for the next acknowledges this one.
 */
export const open = (
  settings: Settings
): Effect.Effect<Pull.Pull<Arr.NonEmptyReadonlyArray<SharedItem<AnyItem>>>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const consumer = new Consumer(settings, yield* Effect.scope)
    yield* Effect.addFinalizer(() => consumer.close)
    return consumer.next
  })

class Consumer {
  readonly #settings: Settings
  readonly #scope: Scope.Scope
  readonly #holder = globalThis.crypto.randomUUID()
  #seated: Lease.Seated | undefined
  #page: ReadonlyArray<Placed> = []
  /** The index of the next entry in the page. */
  #next = 0
  /** The last entry that was read. */
  #read: Cursor = { position: 0, at: 0 }
  /** The last entry that is done, and may still have to be committed. */
  #done: Cursor | undefined
  #committed = 0
  #committedAt = 0
  /** The item that was delivered last, until it is done. */
  #delivered: Cursor | undefined

  constructor(settings: Settings, scope: Scope.Scope) {
    this.#settings = settings
    this.#scope = scope
  }

  /** Commits what is done, and releases the place. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#seated === undefined) return Effect.void
    const { consumer, log, stream } = this.#settings
    const { token } = this.#seated
    const last = this.#done !== undefined && this.#done.position > this.#committed
      ? log.commit(stream, consumer, token, this.#done)
      : Effect.void
    return Effect.ignore(Effect.andThen(last, log.release({ stream, consumer }, token)))
  })

  /** Waits for the place of this consumer, and finds out where to continue. */
  readonly #enter = Effect.fnUntraced(function*(this: Consumer) {
    const { consumer, lease, log, onMissed, stream } = this.#settings
    const seat = { stream, consumer }
    const seated = yield* Lease.take(this.#settings, seat, this.#holder, lease)
    const cursor = yield* this.#patiently(log.cursor(stream, consumer))
    const { last } = yield* this.#patiently(log.extent(stream))
    const now = yield* Clock.currentTimeMillis
    const start = startOf(this.#settings, cursor, this.#read, { position: last, at: now })
    // A log that ends before this place was restored to an earlier state: all of it was read.
    this.#read = start.position > last ? { position: last, at: start.at } : start
    if (start.position > 0 && last === 0) onMissed(gap(now, start.at, now, isLost))
    if (cursor === undefined && this.#read.position === 0) {
      // A new consumer does not miss entries that the log had dropped before.
      const [first] = yield* this.#patiently(log.read(stream, 0, 1))
      this.#read = first === undefined ? { position: last, at: now } : { position: first.follows, at: first.at }
    }
    this.#page = []
    this.#next = 0
    this.#delivered = undefined
    this.#committed = cursor?.position ?? -1
    // A new consumer gets a cursor right away, so that the log keeps entries that arrive before its first item is done.
    this.#done = cursor === undefined ? this.#read : undefined
    this.#seated = seated
    const kept = Effect.map(Lease.keep(this.#settings, seat, seated, lease), () => {
      if (this.#seated === seated) this.#seated = undefined
    })
    yield* Effect.forkIn(kept, this.#scope)
    return seated
  })

  /** Commits what is done if it is time. Returns false if another process has the place. */
  readonly #settle = Effect.fnUntraced(function*(this: Consumer, token: number, isPageOver: boolean) {
    const { consumer, log, stream } = this.#settings
    if (this.#done === undefined || this.#done.position <= this.#committed) return true
    const now = yield* Monotonic.millis
    if (!isPageOver && now - this.#committedAt < commitMillis) return true
    const { position } = this.#done
    const committed = Effect.as(log.commit(stream, consumer, token, this.#done), true)
    if ((yield* Lease.ifHeld(this.#settings, committed)) === undefined) return false
    this.#committed = position
    this.#committedAt = now
    return true
  })

  /** The next item. */
  readonly next: Pull.Pull<Arr.NonEmptyReadonlyArray<SharedItem<AnyItem>>> = Effect.gen({ self: this }, function*() {
    const { acknowledges, log, stream } = this.#settings
    if (this.#delivered !== undefined && acknowledges) this.#done = this.#delivered
    this.#delivered = undefined
    while (true) {
      const { token } = this.#seated ?? (yield* this.#enter())
      const entry = this.#page[this.#next]
      if (!(yield* this.#settle(token, entry === undefined))) {
        this.#seated = undefined
        continue
      }
      if (entry === undefined) {
        this.#page = yield* this.#patiently(log.read(stream, this.#read.position, pageSize))
        this.#next = 0
        if (this.#page.length === 0) yield* this.#patiently(log.wait(stream, this.#read.position))
        continue
      }
      this.#next++
      const item = yield* this.#itemOf(entry, token)
      if (item !== undefined) return Arr.of(item)
    }
  })

  /** Reads an entry, and returns its item if this consumer wants it. */
  readonly #itemOf = Effect.fnUntraced(function*(this: Consumer, entry: Placed, token: number) {
    const { acknowledges, consumer, isPost, log, onMissed, opened, stream, tags } = this.#settings
    const why = whyMissing(entry, this.#read.position)
    if (why !== undefined) onMissed(gap(yield* Clock.currentTimeMillis, this.#read.at, entry.at, why))
    const read = this.#read = { position: entry.position, at: entry.at }
    const logged = LogEntry.read(isPost, entry.text)
    if (logged !== undefined && "item" in logged && isWanted(logged.item, tags)) {
      this.#delivered = read
      const { item } = logged
      return { item, position: read.position, commit: log.commit(stream, consumer, token, read) }
    }
    if (logged !== undefined && "missed" in logged) onMissed(logged.missed)
    if (acknowledges) this.#done = read
    // An earlier end belongs to an earlier run.
    if (logged !== undefined && "ended" in logged && read.position > opened) return yield* Cause.done()
  })

  #patiently<A>(step: Effect.Effect<A, StreamLogUnavailable>): Effect.Effect<A> {
    return Lease.patiently(this.#settings, step)
  }
}

const startOf = ({ from }: Settings, cursor: Cursor | undefined, read: Cursor, end: Cursor): Cursor =>
  read.position > 0
    // It continues, after what another process has read meanwhile.
    ? cursor !== undefined && cursor.position > read.position ? cursor : read
    : typeof from === "number"
    ? { position: from, at: cursor?.at ?? end.at }
    : cursor ?? (from === "newest" ? end : { position: 0, at: end.at })

const isLost = "the log was lost"

/** Why a consumer has missed entries before this one; `undefined` if it has not. */
const whyMissing = ({ follows }: Placed, read: number): string | undefined =>
  follows === 0 && read > 0 ? isLost : follows > read ? "the log no longer has the items" : undefined

const isWanted = ({ matchingRules }: AnyItem, tags: ReadonlySet<string> | undefined): boolean =>
  tags === undefined || matchingRules.some(({ tag }) => tag !== undefined && tags.has(tag))

const gap = (now: number, from: number, to: number, why: string): Gap => ({
  _tag: "Gap",
  at: new Date(now),
  // The time of a position that the program stored itself is not known.
  from: new Date(Math.min(from, to)),
  to: new Date(to),
  filledBy: undefined,
  why
})
