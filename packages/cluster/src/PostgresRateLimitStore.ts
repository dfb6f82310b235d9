/**
 * Rate limits of several machines, in the PostgreSQL database that they share anyway. While the database is away, requests
 * wait for it: there is nowhere to keep what they would bring.
 */
import * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as SharedTable from "./internal/sharedTable.ts"
import * as Steps from "./internal/steps.ts"

/** The database may be asked for so long; then it is asked again. */
const stepTimeoutMillis = 2_000

/** What is granted by the clock of the database is sent by other machines, some milliseconds later or earlier. */
const travelMillis = 250

/** The store, by the clock of the database. Its table is made when it is not there. */
export const layer: Layer.Layer<RateLimitStore.RateLimitStore, SqlError, SqlClient.SqlClient> = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* SharedTable.open(
      sql,
      ledgersTable,
      "key text PRIMARY KEY, ledger text NOT NULL, forget bigint NOT NULL",
      sql`DELETE FROM ${sql(ledgersTable)} WHERE forget < ${sql.literal(now)}`
    )
    return make(sql)
  })
)

// The number goes up when the form of a ledger changes.
const ledgersTable = "postwire_ledgers_2"

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const make = (sql: SqlClient.SqlClient): RateLimitStore.Store<never> => {
  const answered = <A>(step: Effect.Effect<A, SqlError>): Effect.Effect<A> =>
    Steps.within(sql, step, stepTimeoutMillis).pipe(Effect.retry(Schedule.spaced("250 millis")), Effect.orDie)

  /** One step on one ledger, which nobody else can make meanwhile. */
  const step = <A>(key: string, f: (ledger: Ledger.Ledger, now: number) => A) =>
    answered(Steps.transaction(
      sql,
      Effect.gen(function*() {
        yield* sql`INSERT INTO ${sql(ledgersTable)} VALUES (${key}, '', 0) ON CONFLICT DO NOTHING`
        const [row] = yield* sql<LedgerRow>`SELECT ledger FROM ${sql(ledgersTable)} WHERE key = ${key} FOR UPDATE`
        // Asked after the lock was had: an earlier time may be before that of another's step.
        const [clock] = yield* sql<ClockRow>`SELECT (${sql.literal(now)})::text AS now`
        const at = Number(clock?.now)
        const ledger = Ledger.fromText(row?.ledger ?? "", at)
        const result = f(ledger, at)
        const text = Ledger.toText(ledger)
        const forget = Math.ceil(Ledger.keepUntil(ledger))
        yield* sql`UPDATE ${sql(ledgersTable)} SET ledger = ${text}, forget = ${forget} WHERE key = ${key}`
        return result
      })
    ))

  return {
    reserve: (key, lease, pace, place) =>
      step(key, (ledger, now) => Ledger.reserve(ledger, now, lease, pace === 0 ? 0 : pace + travelMillis, place)),
    settle: (key, lease, report) => step(key, (ledger, now) => Ledger.settle(ledger, now, lease, report)),
    read: (key) =>
      Effect.map(
        answered(sql<LedgerRow & ClockRow>`
          SELECT ledger, (${sql.literal(now)})::text AS now FROM ${sql(ledgersTable)} WHERE key = ${key}`),
        ([row]) => {
          const now = Number(row?.now ?? 0)
          return Ledger.read(Ledger.fromText(row?.ledger ?? "", now), now)
        }
      )
  }
}

interface LedgerRow {
  readonly ledger: string
}

interface ClockRow {
  readonly now: string
}
