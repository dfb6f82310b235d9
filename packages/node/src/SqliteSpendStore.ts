/** What several processes on one machine spend, in an SQLite file. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Bill from "@postwire/core/spend/Bill"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DatabaseSync } from "node:sqlite"
import * as SqliteFile from "./internal/sqliteFile.ts"

/** Settings of the store. */
export interface Options {
  /** The file, made when it is not there. All processes of one machine that name it share their bills. */
  readonly path: string
}

/**
 * The store in a file; closed with the scope. Fails when the file cannot be opened; that it is locked, or breaks later,
 * fails nothing.
 */
export const layer = (options: Options): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  Layer.effect(
    SpendStore.SpendStore,
    Effect.acquireRelease(Effect.sync(() => make(options.path)), ({ close }) => Effect.sync(close)).pipe(
      Effect.tap(({ open }) => open),
      Effect.map(({ store }) => store)
    )
  )

const make = (path: string) => {
  const { atomically, close, open } = SqliteFile.make(path, {
    setting: "spendStore",
    prepare,
    unavailable: (reason) => new SpendStore.SpendStoreUnavailable({ reason })
  })
  const store: SpendStore.Store = {
    reserve: (bill, lease, reservation, limits) =>
      atomically((steps) => steps.reserve(bill, lease, reservation, limits)),
    settle: (bill, lease, charge) => atomically((steps) => steps.settle(bill, lease, charge)),
    read: (bill, from, to) => atomically((steps) => steps.read(bill, from, to))
  }
  return { store, open, close }
}

/** Milliseconds since this machine started: the same for all of its processes, whatever their clocks say. */
const sinceStart = () => Number(process.hrtime.bigint() / 1_000_000n)

/** A reservation of before the machine was restarted may have been made at any time. */
const isStale = `(at < :now - ${Bill.inFlightMillis} OR at > :now)`

/** A lease begins with the process that holds it. */
const nameOf = (lease: string): string => `${process.pid} ${lease}`

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return typeof cause === "object" && cause !== null && "code" in cause && cause.code !== "ESRCH"
  }
}

// The number goes up when the form of a bill changes: processes of two versions may share the file.
const names = "postwire_bills_1"
const lines = "postwire_bill_lines_1"
const times = "postwire_bill_times_1"
const held = "postwire_bill_held_1"
const sets = "postwire_bill_sets_1"
const ids = "postwire_bill_ids_1"

const prepare = (database: DatabaseSync) => {
  // What was committed outlives the process; a machine that loses its power may lose the last of it, but not the file.
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS ${names} (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS ${lines} (
      bill INTEGER NOT NULL, day TEXT NOT NULL, operation TEXT NOT NULL, account TEXT NOT NULL,
      spent INTEGER NOT NULL, in_doubt INTEGER NOT NULL, charged INTEGER NOT NULL, repeats INTEGER NOT NULL,
      PRIMARY KEY (bill, day, operation, account)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${times} (
      bill INTEGER NOT NULL, time TEXT NOT NULL, spent INTEGER NOT NULL, in_doubt INTEGER NOT NULL,
      PRIMARY KEY (bill, time)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${held} (
      bill INTEGER NOT NULL, lease TEXT NOT NULL, day TEXT NOT NULL, operation TEXT NOT NULL, account TEXT NOT NULL,
      micros INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (bill, lease)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${sets} (
      id INTEGER PRIMARY KEY, bill INTEGER NOT NULL, day TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (bill, day, kind)
    );
    CREATE TABLE IF NOT EXISTS ${ids} (of INTEGER NOT NULL, id NOT NULL, PRIMARY KEY (of, id)) WITHOUT ROWID;
  `)
  const transact = SqliteFile.transactions(database)
  const named = database.prepare(`SELECT id FROM ${names} WHERE name = ?`)
  const name = database.prepare(`INSERT INTO ${names} (name) VALUES (?)`)
  const billOf = (text: string): number => {
    const known = named.get(text)?.["id"]
    return known === undefined ? Number(name.run(text).lastInsertRowid) : Number(known)
  }

  // Days and months are summed up beside the lines, of which there may be one for each of thousands of accounts.
  const settled = database.prepare(`SELECT spent, in_doubt FROM ${times} WHERE bill = ? AND time = ?`)
  const addTime = database.prepare(
    `INSERT INTO ${times} VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       spent = spent + excluded.spent, in_doubt = in_doubt + excluded.in_doubt`
  )
  const inFlight = database.prepare(
    `SELECT COALESCE(SUM(micros) FILTER (WHERE ${isStale} AND day BETWEEN :from AND :to), 0) AS in_doubt,
       COALESCE(SUM(micros) FILTER (WHERE NOT ${isStale}), 0) AS reserved
     FROM ${held} WHERE bill = :bill`
  )
  const amounts = (bill: number, time: string, now: number): Bill.Amounts => {
    const done = settled.get(bill, time)
    const open = inFlight.get({ bill, now, from: Bill.doubtfulSince(time), to: `${time}~` })
    return {
      spent: Number(done?.["spent"] ?? 0),
      inDoubt: Number(done?.["in_doubt"] ?? 0) + Number(open?.["in_doubt"]),
      reserved: Number(open?.["reserved"])
    }
  }

  // Months sort before their days.
  const newestTime = database.prepare(`SELECT MAX(time) AS time FROM ${times} WHERE bill = ?`)
  const newestDay = (bill: number): string | undefined => {
    const time = newestTime.get(bill)?.["time"]
    return typeof time === "string" ? time : undefined
  }

  // Leases of older versions do not begin with a process.
  const isNamed = "bill = ? AND instr(lease, ' ') > 0"
  const others = database.prepare(`SELECT DISTINCT CAST(lease AS INTEGER) AS pid FROM ${held} WHERE ${isNamed}`)
  const abandon = database.prepare(
    `UPDATE ${held} SET at = ${Number.MAX_SAFE_INTEGER} WHERE ${isNamed} AND CAST(lease AS INTEGER) = ?`
  )
  /** Puts in doubt what processes of this machine have reserved that are gone. */
  const abandonOf = (bill: number): void => {
    for (const { pid } of others.all(bill)) if (!isRunning(Number(pid))) abandon.run(bill, Number(pid))
  }

  const keepStale = database.prepare(
    `UPDATE ${held} SET at = ${Number.MAX_SAFE_INTEGER}
     WHERE bill = :bill AND at < ${Number.MAX_SAFE_INTEGER} AND ${isStale}`
  )

  const find = database.prepare(`SELECT 1 AS there FROM ${held} WHERE bill = ? AND lease = ?`)
  const hold = database.prepare(`INSERT INTO ${held} VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const release = database.prepare(`DELETE FROM ${held} WHERE bill = ? AND lease = ?`)

  const setOf = database.prepare(`SELECT id FROM ${sets} WHERE bill = ? AND day = ? AND kind = ?`)
  const newSet = database.prepare(`INSERT INTO ${sets} (bill, day, kind) VALUES (?, ?, ?)`)
  const forgetIds = database.prepare(
    `DELETE FROM ${ids} WHERE of IN (SELECT id FROM ${sets} WHERE bill = ? AND day < ?)`
  )
  const forgetSets = database.prepare(`DELETE FROM ${sets} WHERE bill = ? AND day < ?`)
  const addId = database.prepare(`INSERT OR IGNORE INTO ${ids} VALUES (?, ?)`)
  const setIn = (bill: number, day: string, kind: string): number => {
    const found = setOf.get(bill, day, kind)?.["id"]
    if (found !== undefined) return Number(found)
    const before = Bill.rememberedSince(day)
    forgetIds.run(bill, before)
    forgetSets.run(bill, before)
    return Number(newSet.run(bill, day, kind).lastInsertRowid)
  }

  const addLine = database.prepare(
    `INSERT INTO ${lines} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       spent = spent + excluded.spent, in_doubt = in_doubt + excluded.in_doubt,
       charged = charged + excluded.charged, repeats = repeats + excluded.repeats`
  )

  const linesBetween = database.prepare(
    `SELECT day, operation, account, SUM(spent) AS spent, SUM(in_doubt) AS in_doubt, SUM(reserved) AS reserved,
       SUM(charged) AS charged, SUM(repeats) AS repeats
     FROM (
       SELECT day, operation, account, spent, in_doubt, 0 AS reserved, charged, repeats FROM ${lines}
       WHERE bill = :bill AND day BETWEEN :from AND :to
       UNION ALL
       SELECT day, operation, account, 0, CASE WHEN ${isStale} THEN micros ELSE 0 END,
         CASE WHEN ${isStale} THEN 0 ELSE micros END, 0, 0
       FROM ${held} WHERE bill = :bill AND day BETWEEN :from AND :to
     ) GROUP BY day, operation, account ORDER BY day, operation, account`
  )

  return {
    reserve: (
      name: string,
      lease: string,
      { account, day, micros, operation }: Bill.Reservation,
      limits: Bill.Limits
    ): Bill.Decision =>
      transact(() => {
        const bill = billOf(name)
        const now = sinceStart()
        // After a restart of the machine it would be in flight again.
        keepStale.run({ bill, now })
        const decide = () => {
          const sums = { day: amounts(bill, day, now), month: amounts(bill, Bill.monthOf(day), now) }
          return { refused: Bill.refusedBy(limits, micros, sums.day, sums.month), newest: newestDay(bill), ...sums }
        }
        let decision = decide()
        if (find.get(bill, nameOf(lease)) !== undefined) return { ...decision, refused: undefined }
        if (decision.refused !== undefined && decision.day.reserved > 0) {
          abandonOf(bill)
          decision = decide()
        }
        if (decision.refused === undefined) hold.run(bill, nameOf(lease), day, operation, account, micros, now)
        return decision
      }),
    settle: (name: string, lease: string, charge: Bill.Charge): Bill.Settled =>
      transact(() => {
        const bill = billOf(name)
        if (release.run(bill, nameOf(lease)).changes === 0) return Bill.nothing
        const { account, day, inDoubt, operation } = charge
        const settled = Bill.settledOf(charge, ({ ids, kind }) => {
          const set = setIn(bill, day, kind)
          let added = 0
          for (const id of ids) added += Number(addId.run(set, shortOf(id)).changes)
          return added
        })
        const { charged, micros, repeats } = settled
        if (micros + charged + repeats > 0) {
          const [spent, doubtful] = inDoubt ? [0, micros] : [micros, 0]
          addLine.run(bill, day, operation, account, spent, doubtful, charged, repeats)
          for (const time of [day, Bill.monthOf(day)]) addTime.run(bill, time, spent, doubtful)
        }
        return settled
      }),
    read: (name: string, from: string, to: string): ReadonlyArray<Bill.Entry> => {
      const bill = Number(named.get(name)?.["id"] ?? -1)
      return linesBetween.all({ bill, from, to, now: sinceStart() }).map((row) => ({
        day: String(row["day"]),
        operation: String(row["operation"]),
        account: String(row["account"]),
        spent: Number(row["spent"]),
        inDoubt: Number(row["in_doubt"]),
        reserved: Number(row["reserved"]),
        charged: Number(row["charged"]),
        repeats: Number(row["repeats"])
      }))
    }
  }
}

/** A number takes less room than its digits. */
const shortOf = (id: string): bigint | string => /^[1-9]\d{0,17}$/.test(id) ? BigInt(id) : id
