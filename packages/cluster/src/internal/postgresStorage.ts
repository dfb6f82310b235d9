/** A storage in a PostgreSQL database that several machines share, by the clock of the database. */
import type * as Storage from "@postwire/core/storage/Storage"
import { setMillis, StorageUnavailable } from "@postwire/core/storage/Storage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as DatabaseProblem from "../DatabaseProblem.ts"
import * as SharedTable from "./sharedTable.ts"
import * as Steps from "./steps.ts"

/** A step that takes longer fails: the database counts as unavailable. */
const stepTimeoutMillis = 2_000

// The number goes up when the columns change.
const shared = "postwire_texts_1"
const sets = "postwire_sets_1"
const members = "postwire_members_1"

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

/**
 * The storage. Its tables are created if they do not exist. Secret texts have a table of their own. A step joins no transaction of
 * the caller: it would hide and lock the texts until its end, and undo the step if it fails.
 */
export const make = Effect.fnUntraced(function*(
  texts = shared
): Effect.fn.Return<Storage.Storage, SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  yield* SharedTable.open(
    sql,
    texts,
    "key text PRIMARY KEY, text text NOT NULL, until double precision",
    // A user of the texts need not be permitted to change them.
    Effect.ignore(sql`DELETE FROM ${sql(texts)} WHERE until < ${sql.literal(now)}`)
  )
  yield* SharedTable.open(sql, sets, "key text PRIMARY KEY, until double precision NOT NULL")
  yield* SharedTable.open(sql, members, "key text, member text, PRIMARY KEY (key, member)")

  const list = (values: ReadonlyArray<string>) => sql`SELECT json_array_elements_text(${JSON.stringify(values)}::json)`

  const get = (keys: ReadonlyArray<string>): Effect.Effect<Storage.Snapshot, SqlError> =>
    Effect.map(
      sql<{ readonly now: string; readonly texts: string | null }>`
        SELECT (${sql.literal(now)})::text AS now, json_object_agg(key, text)::text AS texts
        FROM ${sql(texts)} WHERE key IN (${list(keys)})`,
      ([row]) => {
        const found: Record<string, string> = JSON.parse(row?.texts ?? "{}")
        return { now: Number(row?.now), texts: keys.map((key) => found[key]) }
      }
    )

  const absentOf = (key: string, found: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly member: string }>`
        SELECT member FROM (${list(found)} AS member) AS wanted
        WHERE NOT EXISTS (SELECT FROM ${sql(members)} AS held WHERE held.key = ${key} AND held.member = wanted.member)`,
      (rows) => new Set(rows.map(({ member }) => member))
    )

  const add = Effect.fnUntraced(function*(key: string, absent: ReadonlySet<string>, now: number) {
    yield* sql`DELETE FROM ${sql(members)} WHERE key IN (SELECT key FROM ${sql(sets)} WHERE until < ${now})`
    yield* sql`DELETE FROM ${sql(sets)} WHERE until < ${now}`
    yield* sql`INSERT INTO ${sql(sets)} VALUES (${key}, ${now + setMillis})
      ON CONFLICT (key) DO UPDATE SET until = excluded.until`
    yield* sql`INSERT INTO ${sql(members)} SELECT ${key}, member FROM (${list([...absent])} AS member) AS added`
  })

  const modify = Effect.fnUntraced(
    function*<A>(target: Storage.Target, f: (before: Storage.Before) => Storage.Step<A>) {
      // An acknowledged step is durable, whatever the setting of the database.
      yield* sql`SELECT set_config('synchronous_commit', 'on', true),
        pg_advisory_xact_lock(hashtextextended(${`${texts} ${target.texts[0]}`}, 0))`
      // Read after the lock was acquired: an earlier time may precede another's step.
      const snapshot = yield* get(target.texts)
      const absent = yield* Effect.forEach(target.sets ?? [], ({ key, members }) => absentOf(key, members))
      const step = f({ ...snapshot, absent })
      if (step.texts === undefined) return step.result
      const rows = target.texts.map((key, index) => ({ key, text: step.texts?.[index], until: step.until }))
      const removed = rows.filter(({ text }) => text === "").map(({ key }) => key)
      if (removed.length > 0) yield* sql`DELETE FROM ${sql(texts)} WHERE key IN (${list(removed)})`
      yield* sql`INSERT INTO ${sql(texts)}
        SELECT key, text, until FROM json_to_recordset(${JSON.stringify(rows)}::json)
          AS changed(key text, text text, until double precision) WHERE text <> ''
        ON CONFLICT (key) DO UPDATE SET text = excluded.text, until = excluded.until`
      for (const [index, { key }] of (target.sets ?? []).entries()) {
        yield* add(key, absent[index] ?? new Set(), snapshot.now)
      }
      return step.result
    }
  )

  const ended = <A>(step: Effect.Effect<A, SqlError>) =>
    Steps.within(sql, step, stepTimeoutMillis).pipe(
      Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context)),
      Effect.mapError((error) => {
        if (error._tag === "TimeoutError") return new StorageUnavailable({ reason: "the database takes too long" })
        const { fault, reason = error.reason.message } = DatabaseProblem.of(error) ?? {}
        return new StorageUnavailable({ fault, reason })
      })
    )

  return {
    get: (keys) => ended(get(keys)),
    modify: (target, f) => ended(Steps.transaction(sql, modify(target, f))),
    keys: (prefix) =>
      ended(Effect.map(
        sql<{ readonly key: string }>`SELECT key FROM ${sql(texts)} WHERE starts_with(key, ${prefix})`,
        (rows) => rows.map(({ key }) => key)
      ))
  }
})
