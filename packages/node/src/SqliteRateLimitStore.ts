/** Rate limits of several processes on one machine, in an SQLite file. */
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { DatabaseSync } from "node:sqlite"

/** Settings of the store. */
export interface Options {
  /** The file, made when it is not there. All processes of one machine that name it share their budgets. */
  readonly path: string
}

/** The store in a file, by the machine's clock. The file is opened at the first request and closed with the scope. */
export const layer = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore> =>
  Layer.effect(
    RateLimitStore.RateLimitStore,
    Effect.map(
      Effect.acquireRelease(Effect.sync(() => make(options.path)), ({ close }) => Effect.sync(close)),
      ({ store }) => store
    )
  )

type Step = <A>(key: string, f: (ledger: RateLimitStore.Ledger, now: number) => A, writes?: boolean) => A

interface Connection {
  readonly database: DatabaseSync
  readonly step: (now: () => number) => Step
}

const make = (path: string) => {
  let connection: Connection | undefined
  const close = () => {
    const { database } = connection ?? {}
    connection = undefined
    if (database?.isOpen === true) database.close()
  }
  const atomically = <A>(use: (step: Step) => A): Effect.Effect<A, RateLimitStore.RateLimitStoreUnavailable> =>
    Clock.clockWith((clock) => {
      const now = () => clock.currentTimeMillisUnsafe()
      return Effect.try({
        try: () => use((connection ??= connect(path, now())).step(now)),
        catch: (cause) => {
          const isOpening = connection === undefined
          close()
          return { isOpening, cause }
        }
      })
    }).pipe(
      // The first process to open a file locks out the others for a moment, for which SQLite itself does not wait.
      Effect.retry({ while: ({ cause, isOpening }) => isOpening && isBusy(cause), schedule: brief }),
      Effect.mapError(({ cause }) =>
        new RateLimitStore.RateLimitStoreUnavailable({
          reason: cause instanceof Error ? cause.message : "node:sqlite failed"
        })
      )
    )
  const store: RateLimitStore.Store = {
    reserve: (key, lease, pace) =>
      atomically((step) => step(key, (ledger, now) => RateLimitStore.reserve(ledger, now, lease, pace))),
    settle: (key, lease, report) =>
      atomically((step) => step(key, (ledger, now) => RateLimitStore.settle(ledger, now, lease, report))),
    read: (key) => atomically((step) => step(key, RateLimitStore.read, false))
  }
  return { store, close }
}

const brief = Schedule.upTo(Schedule.spaced("20 millis"), { times: 100 })

const isBusy = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "errcode" in cause && (Number(cause.errcode) & 0xff) === 5

// The number goes up when the form of a ledger changes: processes of two versions may share the file.
const table = "postwire_ledgers_1"

const connect = (path: string, now: number): Connection => {
  // Not imported: a program that keeps its budgets elsewhere does not load it, and does not read that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // A process that finds the file locked waits a second for it, which blocks its thread; a step takes microseconds.
  const database = new DatabaseSync(path, { timeout: 1_000 })
  try {
    return prepared(database, now)
  } catch (cause) {
    database.close()
    throw cause
  }
}

const prepared = (database: DatabaseSync, now: number): Connection => {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, ledger TEXT NOT NULL, forget INTEGER NOT NULL) WITHOUT ROWID;
  `)
  database.prepare(`DELETE FROM ${table} WHERE forget < ?`).run(now)
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const rollback = database.prepare("ROLLBACK")
  const select = database.prepare(`SELECT ledger FROM ${table} WHERE key = ?`)
  const upsert = database.prepare(
    `INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ledger = excluded.ledger, forget = excluded.forget`
  )
  const ledgerOf = (key: string): RateLimitStore.Ledger => {
    const row = select.get(key)
    if (row === undefined) return RateLimitStore.empty()
    const { leases, ...rest } = JSON.parse(String(row["ledger"]))
    return { ...RateLimitStore.empty(), ...rest, leases: new Map(leases) }
  }
  return {
    database,
    step: (clock) => (key, f, writes = true) => {
      if (!writes) return f(ledgerOf(key), clock())
      begin.run()
      try {
        const ledger = ledgerOf(key)
        // The time after the lock was had: an earlier one may be before that of another process's step.
        const result = f(ledger, clock())
        const { end, leases, next, refusedUntil } = ledger
        upsert.run(
          key,
          JSON.stringify({ ...ledger, leases: [...leases] }),
          Math.max(clock() + 60_000, end, next, refusedUntil)
        )
        commit.run()
        return result
      } catch (cause) {
        rollback.run()
        throw cause
      }
    }
  }
}
