/**
 * Where processes that share a stream keep what they share: who holds the line, what has come over it, and how far each
 * consumer has read. `SharedStream` reads and writes it; `@postwire/node` has one in Redis, `@postwire/cluster` one in
 * PostgreSQL.
 *
 * A lease carries a fencing token: a number that goes up whenever a lease changes hands. What is written with an earlier
 * number is refused, so that a process that was held up (stopped, swapped out, cut off) cannot write over its successor.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The log did not answer. */
export class StreamLogUnavailable extends /*#__PURE__*/ Data.TaggedError("StreamLogUnavailable")<{
  readonly reason: string
}> {
  override get message(): string {
    return `The log of the shared stream does not answer: ${this.reason}`
  }
}

/**
 * The seat is not held any more: another process has taken over, or the log has gone back to an earlier state, as after a
 * restore. Nothing was written.
 */
export class LeaseLost extends /*#__PURE__*/ Data.TaggedError("LeaseLost")<{
  readonly stream: string
  /** Whose place was lost; `undefined` for the line. */
  readonly consumer: string | undefined
}> {
  override get message(): string {
    return this.consumer === undefined
      ? `This process does not hold the line of the shared stream ${this.stream} any more`
      : `This process does not read the shared stream ${this.stream} as ${this.consumer} any more`
  }
}

/** What one process at a time has: the line of a stream, or the place of one of its consumers. */
export interface Seat {
  readonly stream: string
  /** Left out for the line. */
  readonly consumer?: string | undefined
}

/** The name of a seat among those of its stream. */
export const seatName = ({ consumer }: Seat): string => consumer === undefined ? "line" : JSON.stringify(consumer)

/** Whether a seat was had. */
export type Lease =
  | {
    readonly _tag: "Held"
    /**
     * The fencing token: the microseconds of the store's clock when the seat changed hands, or one more than the token
     * before, whichever is higher. So a log that has gone back gives no token twice.
     */
    readonly token: number
  }
  | { readonly _tag: "Taken"; /** When it lapses at the earliest, in milliseconds from now. */ readonly millis: number }

/** What is added to a log. */
export interface Entry {
  /** When it came, in milliseconds. */
  readonly at: number
  /** By which it is known when it comes again; `""` where it has none. Well-formed Unicode without U+0000. */
  readonly id: string
  /** JSON: there is no U+0000 in it. */
  readonly text: string
}

/**
 * An entry at its place. Places only go up. The first entry of a holder is at its token, or behind the last entry if that is
 * higher: a log that was lost or restored gives no place twice.
 */
export interface Placed extends Entry {
  readonly position: number
  /** The place of the entry before it; 0 for the first entry of the log. */
  readonly follows: number
}

/** How far a log goes. */
export interface Extent {
  /** The place of the last entry that was ever added; 0 before the first. */
  readonly last: number
  /** Until when it has everything that came, in milliseconds; `undefined` before anything was added. */
  readonly until: number | undefined
}

/** How far a consumer has read. */
export interface Cursor {
  readonly position: number
  /** When the entry at this place came, in milliseconds. */
  readonly at: number
}

/** What may go. Times are in milliseconds. */
export interface Trim {
  /** What came before this goes, read or not. */
  readonly before: number
  /** So many of the last entries are kept, read or not. */
  readonly keep: number
  /** Of what came before this, what every consumer has read goes too. */
  readonly readBefore: number
}

/** Keeps logs. Every step is atomic, for all who share the store; leases run by its clock. */
export interface Store<E = StreamLogUnavailable> {
  /** Gives a seat to a holder for so long, if nobody has it. Asked again, one who has it still gets the same token. */
  readonly acquire: (seat: Seat, holder: string, millis: number) => Effect.Effect<Lease, E>
  /** Keeps a seat for so long from now, also one that has lapsed, if nobody has had it since. */
  readonly prolong: (seat: Seat, token: number, millis: number) => Effect.Effect<void, E | LeaseLost>
  /** Gives a seat back. Nothing happens when somebody else has it. */
  readonly release: (seat: Seat, token: number) => Effect.Effect<void, E>
  /**
   * Adds entries after a place, which is the last, and notes until when the log has everything, where that is known. Gives the
   * place of the last entry. Repeated after a lost answer, it adds nothing. Fails with `LeaseLost` also when
   * the log ends before this place.
   */
  readonly append: (
    stream: string,
    token: number,
    after: number,
    entries: ReadonlyArray<Entry>,
    until: number | undefined
  ) => Effect.Effect<number, E | LeaseLost>
  readonly extent: (stream: string) => Effect.Effect<Extent, E>
  /** The entries after a place that are still there, in their order, so many at most. */
  readonly read: (stream: string, after: number, limit: number) => Effect.Effect<ReadonlyArray<Placed>, E>
  /** Ends soon after there is an entry behind this place. It may end before: whoever waits reads, and waits again. */
  readonly wait: (stream: string, after: number) => Effect.Effect<void, E>
  /** The ids of what came since a time, in milliseconds, in any order. */
  readonly idsSince: (stream: string, since: number) => Effect.Effect<ReadonlyArray<string>, E>
  /** `undefined` of a consumer that has committed nothing. */
  readonly cursor: (stream: string, consumer: string) => Effect.Effect<Cursor | undefined, E>
  /** Moves a cursor forward; never back. */
  readonly commit: (
    stream: string,
    consumer: string,
    token: number,
    cursor: Cursor
  ) => Effect.Effect<void, E | LeaseLost>
  /** Forgets a consumer, so that what it has not read can go, and its seat unless it is held. */
  readonly forget: (stream: string, consumer: string) => Effect.Effect<void, E>
  readonly trim: (stream: string, trim: Trim) => Effect.Effect<void, E>
}

/** The store in force. */
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

/** A store for one process. */
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

  /** A step of the one who has a seat. */
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
        // A seat may be given, forgotten and given again within one millisecond.
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
        if (log.last !== after || entries.length === 0) return Effect.succeed(log.last)
        for (const entry of entries) {
          const follows = log.last
          log.last = Math.max(follows + 1, token)
          log.entries.push({ ...entry, position: log.last, follows })
        }
        const { added } = log
        log.added = Deferred.makeUnsafe()
        Deferred.doneUnsafe(added, Effect.void)
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
    trim: (stream, { before, keep, readBefore }) =>
      Effect.sync(() => {
        const log = logOf(stream)
        const read = Math.min(...[...log.cursors.values()].map(({ position }) => position))
        const kept = log.entries.findIndex(({ at, position }, index) =>
          at >= before && index >= log.entries.length - keep &&
          !(Number.isFinite(read) && position <= read && at < readBefore)
        )
        log.entries = kept === -1 ? [] : log.entries.slice(kept)
      })
  }
}

/** A store for the streams of one process. */
export const layerMemory: Layer.Layer<StreamLog> = /*#__PURE__*/ Layer.sync(StreamLog, makeMemory)
