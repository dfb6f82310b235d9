/** What several machines spend, in the PostgreSQL database that they share anyway. */
import * as Bill from "@postwire/core/spend/Bill"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as SharedTable from "./internal/sharedTable.ts"
import * as Steps from "./internal/steps.ts"

/** The database may be asked for so long; then it counts as gone. */
const stepTimeoutMillis = 2_000

// The number goes up when the form of a bill changes.
const lines = "postwire_bill_lines_1"
const times = "postwire_bill_times_1"
const held = "postwire_bill_held_1"
const ids = "postwire_bill_ids_1"

/** The store, by the clock of the database. Its tables are made when they are not there. */
export const layer: Layer.Layer<SpendStore.SpendStore, SqlError, SqlClient.SqlClient> = Layer.effect(
  SpendStore.SpendStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* SharedTable.open(
      sql,
      lines,
      "bill text, day text COLLATE \"C\", operation text, account text, spent bigint NOT NULL, in_doubt bigint NOT NULL, " +
        "charged bigint NOT NULL, repeats bigint NOT NULL, PRIMARY KEY (bill, day, operation, account)"
    )
    yield* SharedTable.open(
      sql,
      times,
      "bill text, time text, spent bigint NOT NULL, in_doubt bigint NOT NULL, PRIMARY KEY (bill, time)"
    )
    yield* SharedTable.open(
      sql,
      held,
      "bill text, lease text, day text COLLATE \"C\" NOT NULL, operation text NOT NULL, account text NOT NULL, micros bigint NOT NULL, " +
        "at bigint NOT NULL, PRIMARY KEY (bill, lease)"
    )
    yield* SharedTable.open(
      sql,
      ids,
      "bill text, day text COLLATE \"C\", kind text, id text, PRIMARY KEY (bill, day, kind, id)"
    )
    return make(sql)
  })
)

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const make = (sql: SqlClient.SqlClient): SpendStore.Store => {
  const answered = <A>(step: Effect.Effect<A, SqlError>): Effect.Effect<A, SpendStore.SpendStoreUnavailable> =>
    Effect.mapError(Steps.within(sql, step, stepTimeoutMillis), (error) =>
      new SpendStore.SpendStoreUnavailable({
        reason: error._tag === "TimeoutError" ? "the database takes too long" : error.message
      }))

  /** One step on one bill, which nobody else can make meanwhile. */
  const step = <A>(bill: string, effect: Effect.Effect<A, SqlError>) =>
    answered(Steps.transaction(
      sql,
      Effect.andThen(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${lines} ${bill}`}, 0))`, effect)
    ))

  // Days and months are summed up beside the lines, of which there may be one for each of thousands of accounts.
  const amounts = Effect.fnUntraced(function*(bill: string, time: string) {
    const [done] = yield* sql<Pick<AmountsRow, "spent" | "in_doubt">>`
      SELECT spent::text, in_doubt::text FROM ${sql(times)} WHERE bill = ${bill} AND time = ${time}`
    const from = Bill.doubtfulSince(time)
    const [open] = yield* sql<Pick<AmountsRow, "in_doubt" | "reserved">>`
      SELECT COALESCE(SUM(micros) FILTER (WHERE ${isStale} AND day >= ${from} AND day <= ${`${time}~`}), 0)::text AS in_doubt,
        COALESCE(SUM(micros) FILTER (WHERE NOT ${isStale}), 0)::text AS reserved
      FROM ${sql(held)} WHERE bill = ${bill}`
    return {
      spent: Number(done?.spent ?? 0),
      inDoubt: Number(done?.in_doubt ?? 0) + Number(open?.in_doubt),
      reserved: Number(open?.reserved)
    }
  })

  const isStale = sql.literal(`(${now} - at > ${Bill.inFlightMillis})`)

  const add = Effect.fnUntraced(function*(bill: string, day: string, kind: string, found: ReadonlyArray<string>) {
    const before = Bill.rememberedSince(day)
    yield* sql`DELETE FROM ${sql(ids)} WHERE bill = ${bill} AND day < ${before}`
    const added = yield* sql<{ readonly id: string }>`
      INSERT INTO ${sql(ids)} (bill, day, kind, id)
      SELECT ${bill}, ${day}, ${kind}, value FROM json_array_elements_text(${JSON.stringify(found)}::json)
      ON CONFLICT DO NOTHING RETURNING id`
    return added.length
  })

  return {
    reserve: (bill, lease, { account, day, micros, operation }, limits) =>
      step(
        bill,
        Effect.gen(function*() {
          const ofDay = yield* amounts(bill, day)
          const ofMonth = yield* amounts(bill, Bill.monthOf(day))
          // Months sort before their days.
          const [last] = yield* sql<{ readonly time: string | null }>`
            SELECT MAX(time COLLATE "C") AS time FROM ${sql(times)} WHERE bill = ${bill}`
          const decision = { newest: last?.time ?? undefined, day: ofDay, month: ofMonth }
          const known = yield* sql`SELECT 1 FROM ${sql(held)} WHERE bill = ${bill} AND lease = ${lease}`
          if (known.length > 0) return { refused: undefined, ...decision }
          const refused = Bill.refusedBy(limits, micros, ofDay, ofMonth)
          if (refused === undefined) {
            yield* sql`INSERT INTO ${sql(held)} (bill, lease, day, operation, account, micros, at)
              VALUES (${bill}, ${lease}, ${day}, ${operation}, ${account}, ${micros}, ${sql.literal(now)})`
          }
          return { refused, ...decision }
        })
      ),
    settle: (bill, lease, charge) =>
      step(
        bill,
        Effect.gen(function*() {
          const released = yield* sql`DELETE FROM ${sql(held)} WHERE bill = ${bill} AND lease = ${lease} RETURNING 1`
          if (released.length === 0) return Bill.nothing
          const { account, day, inDoubt, operation, resources } = charge
          const added = new Map<string, number>()
          for (const { ids, kind } of resources) {
            if (ids.length > 0) added.set(kind, yield* add(bill, day, kind, ids))
          }
          const settled = Bill.settledOf(charge, ({ kind }) => added.get(kind) ?? 0)
          const { charged, micros, repeats } = settled
          if (micros + charged + repeats > 0) {
            const [spent, doubtful] = inDoubt ? [0, micros] : [micros, 0]
            yield* sql`INSERT INTO ${sql(times)} AS sums (bill, time, spent, in_doubt) VALUES
              (${bill}, ${day}, ${spent}, ${doubtful}), (${bill}, ${Bill.monthOf(day)}, ${spent}, ${doubtful})
              ON CONFLICT (bill, time) DO UPDATE SET spent = sums.spent + excluded.spent,
                in_doubt = sums.in_doubt + excluded.in_doubt`
            yield* sql`INSERT INTO ${sql(lines)} AS line
              (bill, day, operation, account, spent, in_doubt, charged, repeats) VALUES
              (${bill}, ${day}, ${operation}, ${account}, ${spent}, ${doubtful}, ${charged}, ${repeats})
              ON CONFLICT (bill, day, operation, account) DO UPDATE SET spent = line.spent + excluded.spent,
                in_doubt = line.in_doubt + excluded.in_doubt, charged = line.charged + excluded.charged,
                repeats = line.repeats + excluded.repeats`
          }
          return settled
        })
      ),
    read: (bill, from, to) =>
      Effect.map(
        answered(sql<LineRow>`
          SELECT day, operation, account, SUM(spent)::text AS spent, SUM(in_doubt)::text AS in_doubt,
            SUM(reserved)::text AS reserved, SUM(charged)::text AS charged, SUM(repeats)::text AS repeats
          FROM (
            SELECT day, operation, account, spent, in_doubt, 0 AS reserved, charged, repeats FROM ${sql(lines)}
            WHERE bill = ${bill} AND day >= ${from} AND day <= ${to}
            UNION ALL
            SELECT day, operation, account, 0, CASE WHEN ${isStale} THEN micros ELSE 0 END,
              CASE WHEN ${isStale} THEN 0 ELSE micros END, 0, 0
            FROM ${sql(held)} WHERE bill = ${bill} AND day >= ${from} AND day <= ${to}
          ) AS each GROUP BY day, operation, account
          ORDER BY day COLLATE "C", operation COLLATE "C", account COLLATE "C"`),
        (rows) =>
          rows.map(({ account, charged, day, in_doubt, operation, repeats, reserved, spent }) => ({
            day,
            operation,
            account,
            spent: Number(spent),
            inDoubt: Number(in_doubt),
            reserved: Number(reserved),
            charged: Number(charged),
            repeats: Number(repeats)
          }))
      )
  }
}

interface AmountsRow {
  readonly spent: string
  readonly in_doubt: string
  readonly reserved: string
}

interface LineRow extends AmountsRow {
  readonly day: string
  readonly operation: string
  readonly account: string
  readonly charged: string
  readonly repeats: string
}
