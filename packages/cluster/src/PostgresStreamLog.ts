/**
 * The log of a stream that processes on several machines share, in their PostgreSQL database.
 *
 * A commit within a transaction of the same client is part of it: the writes of a consumer and its position are both stored or
 * neither.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as SharedTable from "./internal/sharedTable.ts"
import * as Steps from "./internal/steps.ts"

/** The time limit of a step; after it, the database counts as unavailable. */
const stepTimeoutMillis = 5_000

/** The polling interval of a waiting reader that is not notified. */
const pollMillis = 1_000

// The number goes up when the columns change.
const extents = "postwire_stream_extents_2"
const entries = "postwire_stream_entries_2"
const seats = "postwire_stream_seats_2"

/** The channel of notifications about new entries. */
const channel = "postwire_stream_1"

/** The log, by the clock of the database. Its tables are created if they do not exist. */
export const layer: Layer.Layer<StreamLog.StreamLog, SqlError, PgClient.PgClient> = Layer.effect(
  StreamLog.StreamLog,
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* SharedTable.open(sql, extents, "stream text PRIMARY KEY, last bigint NOT NULL, until bigint")
    yield* SharedTable.open(
      sql,
      entries,
      "stream text, position bigint, follows bigint NOT NULL, at bigint NOT NULL, id text NOT NULL, body text NOT NULL, " +
        "PRIMARY KEY (stream, position)"
    )
    yield* SharedTable.open(
      sql,
      seats,
      "stream text, seat text, token bigint NOT NULL, holder text NOT NULL, ends bigint NOT NULL, " +
        "position bigint, at bigint, PRIMARY KEY (stream, seat)"
    )
    return { ...seatsIn(sql), ...entriesIn(sql, yield* listening(sql)) }
  })
)

/** Waits until an entry is added to a stream, or the interval ends. Its connection is opened at the first wait. */
const listening = Effect.fnUntraced(function*(sql: PgClient.PgClient) {
  const scope = yield* Effect.scope
  const waiting = new Map<string, Deferred.Deferred<void>>()
  let isListening = false
  const call = (stream: string) => {
    const called = waiting.get(stream)
    if (called === undefined) return
    waiting.delete(stream)
    Deferred.doneUnsafe(called, Effect.void)
  }
  const listen = Effect.acquireUseRelease(
    Scope.make(),
    Effect.fnUntraced(function*(own) {
      const calls = yield* Scope.provide(sql.listen(channel), own)
      // Notifications sent before do not arrive.
      for (const stream of waiting.keys()) call(stream)
      while (true) call((yield* Queue.take(calls)).payload)
    }),
    // A dead connection does not respond to `UNLISTEN`.
    (own, exit) => Effect.ignore(Effect.timeout(Scope.close(own, exit), stepTimeoutMillis))
  )
  // While there is no connection, waiting readers poll.
  const always = Effect.forever(Effect.andThen(Effect.ignore(listen), Effect.sleep(pollMillis)))
  return (stream: string, isThere: Effect.Effect<boolean, StreamLog.StreamLogUnavailable>) =>
    Effect.gen(function*() {
      let called = waiting.get(stream)
      if (called === undefined) waiting.set(stream, called = Deferred.makeUnsafe())
      if (!isListening) {
        isListening = true
        yield* Effect.forkIn(always, scope)
      }
      if (yield* isThere) return
      yield* Effect.raceFirst(Deferred.await(called), Effect.sleep(pollMillis))
    })
})

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
const micros = "floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

const answering = (sql: PgClient.PgClient) => <A>(step: Effect.Effect<A, SqlError>) =>
  Effect.mapError(Steps.within(sql, step, stepTimeoutMillis), (error) =>
    new StreamLog.StreamLogUnavailable({
      reason: error._tag === "TimeoutError" ? "the database takes too long" : error.message
    }))

const ifAny = (seat: StreamLog.Seat) => (rows: ReadonlyArray<unknown>) =>
  rows.length > 0 ? Effect.void : Effect.fail(new StreamLog.LeaseLost({ stream: seat.stream, consumer: seat.consumer }))

const of = (sql: PgClient.PgClient, seat: StreamLog.Seat) =>
  sql`stream = ${seat.stream} AND seat = ${StreamLog.seatName(seat)}`

/** The steps of leases and cursors. */
const seatsIn = (sql: PgClient.PgClient) => {
  const answered = answering(sql)
  const clock = sql.literal(now)
  return {
    acquire: (seat, holder, millis) =>
      answered(Steps.transaction(
        sql,
        Effect.gen(function*() {
          const { stream } = seat
          yield* sql`INSERT INTO ${sql(seats)} (stream, seat, token, holder, ends)
          VALUES (${stream}, ${StreamLog.seatName(seat)}, 0, '', 0) ON CONFLICT DO NOTHING`
          yield* sql`INSERT INTO ${sql(extents)} (stream, last) VALUES (${stream}, 0) ON CONFLICT DO NOTHING`
          const [seated] = yield* sql<{ readonly token: string }>`
          UPDATE ${sql(seats)} SET
            token = CASE WHEN ends > ${clock} THEN token ELSE GREATEST(token + 1, ${sql.literal(micros)}) END,
            holder = ${holder}, ends = ${clock} + ${Math.ceil(millis)}
          WHERE ${of(sql, seat)} AND (ends <= ${clock} OR holder = ${holder}) RETURNING token::text`
          if (seated !== undefined) return { _tag: "Held", token: Number(seated.token) } as const
          const [other] = yield* sql<{ readonly left: string }>`
          SELECT GREATEST(0, ends - ${clock})::text AS left FROM ${sql(seats)} WHERE ${of(sql, seat)}`
          return { _tag: "Taken", millis: Number(other?.left ?? 0) } as const
        })
      )),
    prolong: (seat, token, millis) =>
      Effect.flatMap(
        answered(sql`UPDATE ${sql(seats)} SET ends = ${clock} + ${Math.ceil(millis)}
          WHERE ${of(sql, seat)} AND token = ${token} RETURNING 1`),
        ifAny(seat)
      ),
    release: (seat, token) =>
      Effect.asVoid(answered(sql`UPDATE ${sql(seats)} SET ends = 0 WHERE ${of(sql, seat)} AND token = ${token}`)),
    cursor: (stream, consumer) =>
      Effect.map(
        answered(sql<{ readonly position: string; readonly at: string }>`
          SELECT position::text, at::text FROM ${sql(seats)} WHERE ${
          of(sql, { stream, consumer })
        } AND position IS NOT NULL`),
        ([row]) => row === undefined ? undefined : { position: Number(row.position), at: Number(row.at) }
      ),
    commit: (stream, consumer, token, { at, position }) =>
      Effect.flatMap(
        answered(sql`
          UPDATE ${sql(seats)} SET at = CASE WHEN position > ${position} THEN at ELSE ${at} END,
            position = GREATEST(position, ${position})
          WHERE ${of(sql, { stream, consumer })} AND token = ${token} RETURNING 1`),
        ifAny({ stream, consumer })
      ),
    forget: (stream, consumer) =>
      Effect.asVoid(answered(sql`
        WITH unheld AS (DELETE FROM ${sql(seats)} WHERE ${of(sql, { stream, consumer })} AND ends <= ${clock})
        UPDATE ${sql(seats)} SET position = NULL, at = NULL WHERE ${
        of(sql, { stream, consumer })
      } AND ends > ${clock}`))
  } satisfies Partial<StreamLog.Store>
}

/** The steps of entries. */
const entriesIn = (sql: PgClient.PgClient, waitFor: Effect.Success<ReturnType<typeof listening>>) => {
  const answered = answering(sql)
  const extent = (stream: string): Effect.Effect<StreamLog.Extent, SqlError> =>
    Effect.map(
      sql<{ readonly last: string; readonly until: string | null }>`
        SELECT last::text, until::text FROM ${sql(extents)} WHERE stream = ${stream}`,
      ([extent]) => ({
        last: Number(extent?.last ?? 0),
        until: extent === undefined || extent.until === null ? undefined : Number(extent.until)
      })
    )

  return {
    append: Effect.fnUntraced(function*(stream, token, after, added, until) {
      const last = yield* answered(Steps.transaction(
        sql,
        Effect.gen(function*() {
          // The row lock keeps the lease until the end of the transaction.
          const held = yield* sql`
          SELECT 1 FROM ${sql(seats)} WHERE ${of(sql, { stream })} AND token = ${token} FOR UPDATE`
          const { last } = yield* extent(stream)
          if (held.length === 0 || last < after) return undefined
          const first = Math.max(last + 1, token)
          const end = last === after && added.length > 0 ? first + added.length - 1 : last
          yield* sql`UPDATE ${sql(extents)} SET last = ${end}, until = GREATEST(until, ${until ?? null}::bigint)
          WHERE stream = ${stream}`
          if (end === last) return last
          yield* sql`INSERT INTO ${sql(entries)} (stream, position, follows, at, id, body)
          SELECT ${stream}, ${first} + place - 1, CASE place WHEN 1 THEN ${after} ELSE ${first} + place - 2 END,
            (entry->>'at')::bigint, entry->>'id', entry->>'text'
          FROM json_array_elements(${JSON.stringify(added)}::json) WITH ORDINALITY AS each (entry, place)`
          yield* sql`SELECT pg_notify(${channel}, ${stream})`
          return end
        })
      ))
      return last ?? (yield* new StreamLog.LeaseLost({ stream, consumer: undefined }))
    }),
    extent: (stream) => answered(extent(stream)),
    read: (stream, after, limit) =>
      Effect.map(
        answered(sql<EntryRow>`
          SELECT position::text, follows::text, at::text, id, body FROM ${sql(entries)} AS entry
          WHERE stream = ${stream} AND entry.position > ${after} ORDER BY entry.position LIMIT ${limit}`),
        (rows) =>
          rows.map(({ at, body, follows, id, position }) => ({
            position: Number(position),
            follows: Number(follows),
            at: Number(at),
            id,
            text: body
          }))
      ),
    wait: (stream, after) => waitFor(stream, Effect.map(answered(extent(stream)), ({ last }) => last > after)),
    idsSince: (stream, since) =>
      Effect.map(
        answered(sql<{ readonly id: string }>`
          SELECT id FROM ${sql(entries)} WHERE stream = ${stream} AND at >= ${since} AND id <> ''`),
        (rows) => rows.map(({ id }) => id)
      ),
    trim: (stream, { before, keep, readBefore }) =>
      Effect.asVoid(answered(sql`
        DELETE FROM ${sql(entries)} WHERE stream = ${stream} AND position < (
          SELECT COALESCE(
            (
              SELECT MIN(position) FROM ${sql(entries)}, (
                SELECT
                  (
                    SELECT position FROM ${sql(entries)} WHERE stream = ${stream}
                    ORDER BY position DESC OFFSET ${keep} LIMIT 1
                  ) AS cut,
                  (SELECT MIN(position) FROM ${sql(seats)} WHERE stream = ${stream} AND position IS NOT NULL) AS read
              ) AS bounds
              WHERE stream = ${stream} AND at >= ${before} AND (cut IS NULL OR position > cut)
                AND (read IS NULL OR position > read OR at >= ${readBefore})
            ),
            (SELECT last + 1 FROM ${sql(extents)} WHERE stream = ${stream})
          )
        )`))
  } satisfies Partial<StreamLog.Store>
}

interface EntryRow {
  readonly position: string
  readonly follows: string
  readonly at: string
  readonly id: string
  readonly body: string
}
