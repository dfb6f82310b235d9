/** Rate limits of several processes on one machine, in an SQLite file. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DatabaseSync } from "node:sqlite"
import * as SqliteFile from "./internal/sqliteFile.ts"

/** Settings of the store. */
export interface Options {
  /** The file, made when it is not there. All processes of one machine that name it share their budgets. */
  readonly path: string
}

/**
 * The store in a file, by the machine's clock; closed with the scope. Fails when the file cannot be opened; that it is
 * locked, or breaks later, fails nothing.
 */
export const layer = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  Layer.effect(
    RateLimitStore.RateLimitStore,
    Effect.acquireRelease(Effect.sync(() => make(options.path)), ({ close }) => Effect.sync(close)).pipe(
      Effect.tap(({ open }) => open),
      Effect.map(({ store }) => store)
    )
  )

const make = (path: string) => {
  const { atomically, close, open } = SqliteFile.make(path, {
    setting: "rateLimitStore",
    prepare,
    unavailable: (reason) => new RateLimitStore.RateLimitStoreUnavailable({ reason })
  })
  const store: RateLimitStore.Store = {
    reserve: (key, lease, pace, place) =>
      atomically((step) => step(key, (ledger, now) => Ledger.reserve(ledger, now, lease, pace, place))),
    settle: (key, lease, report) =>
      atomically((step) => step(key, (ledger, now) => Ledger.settle(ledger, now, lease, report))),
    read: (key) => atomically((step) => step(key, Ledger.read, false))
  }
  return { store, open, close }
}

// The number goes up when the form of a ledger changes: processes of two versions may share the file.
const ledgersTable = "postwire_ledgers_2"

const prepare = (database: DatabaseSync) => {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS ${ledgersTable} (key TEXT PRIMARY KEY, ledger TEXT NOT NULL, forget INTEGER NOT NULL) WITHOUT ROWID;
  `)
  // The clock of the system is the same for all processes, whatever one of them makes of its own.
  const time = database.prepare("SELECT unixepoch('subsec') * 1000 AS now")
  const clock = () => Math.floor(Number(time.get()?.["now"]))
  database.prepare(`DELETE FROM ${ledgersTable} WHERE forget < ?`).run(clock())
  const transact = SqliteFile.transactions(database)
  const select = database.prepare(`SELECT ledger FROM ${ledgersTable} WHERE key = ?`)
  const upsert = database.prepare(
    `INSERT INTO ${ledgersTable} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ledger = excluded.ledger, forget = excluded.forget`
  )
  const ledgerOf = (key: string, now: number): Ledger.Ledger =>
    Ledger.fromText(String(select.get(key)?.["ledger"] ?? ""), now)
  return <A>(key: string, f: (ledger: Ledger.Ledger, now: number) => A, writes = true): A => {
    if (!writes) return f(ledgerOf(key, clock()), clock())
    return transact(() => {
      // The time after the lock was had: an earlier one may be before that of another process's step.
      const now = clock()
      const ledger = ledgerOf(key, now)
      const result = f(ledger, now)
      upsert.run(key, Ledger.toText(ledger), Ledger.keepUntil(ledger))
      return result
    })
  }
}
