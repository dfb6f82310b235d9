/**
 * The state of a shared stream: which process holds the connection, the items, and the cursor of each consumer. `SharedStream`
 * reads and writes it. `@postwire/node` stores it in Redis, `@postwire/cluster` in PostgreSQL.
 *
 * A lease has a fencing token, a number that increases whenever the lease changes hands. Writes with an earlier token are refused,
 * so that a process that was stopped, swapped out or disconnected cannot overwrite its successor's work.
 *
 * @stability experimental
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The log of a shared stream did not respond, and a write to it may have happened. The stream tries again by itself: only its start
 * and `forget` fail with it.
 */
export class StreamLogUnavailable extends /*#__PURE__*/ Data.TaggedError("StreamLogUnavailable")<{
  readonly reason: string
}> {
  override get message(): string {
    return `The log of the shared stream does not respond: ${this.reason}`
  }
}

/**
 * This process has lost its seat in a shared stream: another one has taken over, or the log was restored to an earlier state. Nothing was
 * written. Items that were not committed are delivered again, to the process that has the seat.
 */
export class LeaseLost extends /*#__PURE__*/ Data.TaggedError("LeaseLost")<{
  readonly stream: string
  /** The consumer whose seat was lost; `undefined` for the connection. */
  readonly consumer: string | undefined
}> {
  override get message(): string {
    return this.consumer === undefined
      ? `This process no longer holds the connection of the shared stream ${this.stream}`
      : `This process no longer reads the shared stream ${this.stream} as ${this.consumer}`
  }
}

/** A role that one process at a time has: holding the connection of a stream, or reading as one of its consumers. */
export interface Seat {
  readonly stream: string
  /** Omitted for the connection. */
  readonly consumer?: string | undefined
}

/** The name of a seat within its stream. */
export const seatName = ({ consumer }: Seat): string => consumer === undefined ? "line" : JSON.stringify(consumer)

/** The result of a request for a seat. */
export type Lease =
  | {
    readonly _tag: "Held"
    /**
     * The fencing token: the microseconds of the store's clock when the seat changed hands, or the previous token plus one,
     * whichever is higher. So a restored log issues no token twice.
     */
    readonly token: number
  }
  | { readonly _tag: "Taken"; /** When its lease may expire, in milliseconds from now. */ readonly millis: number }

/** An entry of a log. */
export interface Entry {
  /** When it arrived, in milliseconds. */
  readonly at: number
  /** Identifies the item if it arrives again; `""` if it has no id. Well-formed Unicode without U+0000. */
  readonly id: string
  /** JSON, without U+0000. */
  readonly text: string
}

/**
 * An entry with its place. Places only increase. The first entry of a holder is at its token, or after the last entry if that is
 * higher, so that a log that was lost or restored uses no place twice.
 */
export interface Placed extends Entry {
  readonly position: number
  /** The place of the entry before it; 0 for the first entry of the log. */
  readonly follows: number
}

/** The end of a log. */
export interface Extent {
  /** The place of the last entry; 0 before the first. */
  readonly last: number
  /** The time up to which the log is complete, in milliseconds; `undefined` before anything was added. */
  readonly until: number | undefined
}

/** The position of a consumer. */
export interface Cursor {
  readonly position: number
  /** When the entry at this place arrived, in milliseconds. */
  readonly at: number
}

/** Which entries to delete. Times are in milliseconds. */
export interface Trim {
  /** Entries from before this time are deleted, read or not. */
  readonly before: number
  /** At most this many entries are kept, read or not. */
  readonly keep: number
  /** Entries from before this time are deleted if every consumer has read them. */
  readonly readBefore: number
}

/** Stores logs. Each operation is atomic across all processes. Leases expire by the store's clock. */
export interface Store<E = StreamLogUnavailable> {
  /** Gives a free seat to a holder for this long. A holder that still has the seat gets the same token. */
  readonly acquire: (seat: Seat, holder: string, millis: number) => Effect.Effect<Lease, E>
  /** Extends a lease to this long from now, even an expired one if no other holder had the seat since. */
  readonly prolong: (seat: Seat, token: number, millis: number) => Effect.Effect<void, E | LeaseLost>
  /** Releases a seat. Does nothing if another holder has it. */
  readonly release: (seat: Seat, token: number) => Effect.Effect<void, E>
  /**
   * Adds entries after the last place, and notes the time up to which the log is complete, if known. Returns the place of the last
   * entry. Adds nothing when repeated after a lost response. Also fails with `LeaseLost` if the log ends before this place.
   */
  readonly append: (
    stream: string,
    token: number,
    after: number,
    entries: ReadonlyArray<Entry>,
    until: number | undefined
  ) => Effect.Effect<number, E | LeaseLost>
  readonly extent: (stream: string) => Effect.Effect<Extent, E>
  /** The remaining entries after a place, in order, up to a limit. */
  readonly read: (stream: string, after: number, limit: number) => Effect.Effect<ReadonlyArray<Placed>, E>
  /** Ends soon after there is an entry after this place. It may also end earlier, so callers read and wait again. */
  readonly wait: (stream: string, after: number) => Effect.Effect<void, E>
  /** The ids of entries since a time in milliseconds, in any order. */
  readonly idsSince: (stream: string, since: number) => Effect.Effect<ReadonlyArray<string>, E>
  /** The cursor of a consumer; `undefined` if it has committed nothing. */
  readonly cursor: (stream: string, consumer: string) => Effect.Effect<Cursor | undefined, E>
  /** Moves a cursor forward, never back. */
  readonly commit: (
    stream: string,
    consumer: string,
    token: number,
    cursor: Cursor
  ) => Effect.Effect<void, E | LeaseLost>
  /** Deletes a consumer's cursor, so that its unread entries can be deleted, and its seat unless it is held. */
  readonly forget: (stream: string, consumer: string) => Effect.Effect<void, E>
  readonly trim: (stream: string, trim: Trim) => Effect.Effect<void, E>
}

export class StreamLog
  extends /*#__PURE__*/ Context.Service<StreamLog, Store>()("@postwire/core/streams/shared/StreamLog")
{}

interface Tenure {
  token: number
  holder: string
  ends: number
}

interface Log {
  entries: Array<Placed>
  last: number
  until: number | undefined
  readonly seats: Map<string, Tenure>
  readonly cursors: Map<string, Cursor>
  added: Deferred.Deferred<void>
}

/** A store in memory, for one process. */
export const makeMemory = (): Store<never> => {
  const logs = new Map<string, Log>()
  let newest = 0
  const logOf = (stream: string): Log => {
    let log = logs.get(stream)
    if (log === undefined) {
      log = {
        entries: [],
        last: 0,
        until: undefined,
        seats: new Map(),
        cursors: new Map(),
        added: Deferred.makeUnsafe()
      }
      logs.set(stream, log)
    }
    return log
  }
  const tenureOf = (seat: Seat) => logOf(seat.stream).seats.get(seatName(seat))

  const lost = ({ consumer, stream }: Seat) => Effect.fail(new LeaseLost({ stream, consumer }))

  /** Runs a step of the seat's holder. */
  const held = <A>(seat: Seat, token: number, f: (log: Log, tenure: Tenure) => A) =>
    Effect.suspend(() => {
      const tenure = tenureOf(seat)
      return tenure?.token === token ? Effect.succeed(f(logOf(seat.stream), tenure)) : lost(seat)
    })

  return {
    acquire: (seat, holder, millis) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const tenure = tenureOf(seat)
        const isTaken = tenure !== undefined && tenure.ends > now
        if (isTaken && tenure.holder !== holder) return { _tag: "Taken", millis: tenure.ends - now }
        // A seat may be acquired, forgotten and acquired again within one millisecond.
        const token = isTaken ? tenure.token : Math.max(newest + 1, now * 1_000)
        newest = Math.max(newest, token)
        logOf(seat.stream).seats.set(seatName(seat), { token, holder, ends: now + millis })
        return { _tag: "Held", token }
      }),
    prolong: (seat, token, millis) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        held(seat, token, (_, tenure) => {
          tenure.ends = now + millis
        })),
    release: (seat, token) =>
      Effect.ignore(held(seat, token, (_, tenure) => {
        tenure.ends = 0
      })),
    append: (stream, token, after, entries, until) =>
      Effect.suspend(() => {
        const log = logOf(stream)
        if (tenureOf({ stream })?.token !== token || log.last < after) return lost({ stream })
        if (until !== undefined) log.until = Math.max(log.until ?? until, until)
        if (log.last === after && entries.length > 0) append(log, token, entries)
        return Effect.succeed(log.last)
      }),
    extent: (stream) =>
      Effect.sync(() => {
        const { last, until } = logOf(stream)
        return { last, until }
      }),
    read: (stream, after, limit) =>
      Effect.sync(() => {
        const { entries } = logOf(stream)
        const start = entries.findLastIndex(({ position }) => position <= after) + 1
        return entries.slice(start, start + limit)
      }),
    wait: (stream, after) =>
      Effect.suspend(() => {
        const { added, last } = logOf(stream)
        return last > after ? Effect.void : Deferred.await(added)
      }),
    idsSince: (stream, since) =>
      Effect.sync(() => logOf(stream).entries.filter(({ at, id }) => id !== "" && at >= since).map(({ id }) => id)),
    cursor: (stream, consumer) => Effect.sync(() => logOf(stream).cursors.get(consumer)),
    commit: (stream, consumer, token, cursor) =>
      held({ stream, consumer }, token, ({ cursors }) => {
        const before = cursors.get(consumer)
        if (before === undefined || before.position < cursor.position) cursors.set(consumer, cursor)
      }),
    forget: (stream, consumer) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { cursors, seats } = logOf(stream)
        cursors.delete(consumer)
        const name = seatName({ stream, consumer })
        if ((seats.get(name)?.ends ?? 0) <= now) seats.delete(name)
      }),
    trim: (stream, limits) =>
      Effect.sync(() => {
        const log = logOf(stream)
        log.entries = trimmed(log, limits)
      })
  }
}

const append = (log: Log, token: number, entries: ReadonlyArray<Entry>): void => {
  for (const entry of entries) {
    const follows = log.last
    log.last = Math.max(follows + 1, token)
    log.entries.push({ ...entry, position: log.last, follows })
  }
  const { added } = log
  log.added = Deferred.makeUnsafe()
  Deferred.doneUnsafe(added, Effect.void)
}

const trimmed = ({ cursors, entries }: Log, { before, keep, readBefore }: Trim): Array<Placed> => {
  const read = Math.min(...[...cursors.values()].map(({ position }) => position))
  const kept = entries.findIndex(({ at, position }, index) =>
    at >= before && index >= entries.length - keep && !(Number.isFinite(read) && position <= read && at < readBefore)
  )
  return kept === -1 ? [] : entries.slice(kept)
}

/** A store in memory, for the streams of one process. */
export const layerMemory: Layer.Layer<StreamLog> = /*#__PURE__*/ Layer.sync(StreamLog, makeMemory)
