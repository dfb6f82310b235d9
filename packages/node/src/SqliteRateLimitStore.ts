/** Rate limits of several processes on one machine, in an SQLite file. */
import { InvalidSettings } from "@postwire/core/Errors"
import * as Ledger from "@postwire/core/Ledger"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { DatabaseSync } from "node:sqlite"

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

type Step = <A>(key: string, f: (ledger: Ledger.Ledger, now: number) => A, writes?: boolean) => A

interface Connection {
  readonly database: DatabaseSync
  readonly step: (now: () => number) => Step
}

/** A file that others keep locked for so long counts as gone. */
const lockTimeoutMillis = 2_000

const make = (path: string) => {
  let connection: Connection | undefined
  const close = () => {
    const { database } = connection ?? {}
    connection = undefined
    if (database?.isOpen === true) database.close()
  }
  const open = Clock.clockWith((clock) =>
    Effect.try({
      try: () => void (connection ??= connect(path, clock.currentTimeMillisUnsafe())),
      catch: (cause) => ({ isLocked: isBusy(cause), reason: reasonOf(cause) })
    })
  ).pipe(
    Effect.catchIf(({ isLocked }) => isLocked, () => Effect.void),
    Effect.mapError(({ reason }) =>
      new InvalidSettings({ setting: "rateLimitStore", rule: `is a file that cannot be used (${reason})` })
    )
  )
  const turns = Semaphore.makeUnsafe(1)
  let waiting = 0
  const atomically = <A>(use: (step: Step) => A): Effect.Effect<A, RateLimitStore.RateLimitStoreUnavailable> =>
    Clock.clockWith((clock) => {
      const now = () => clock.currentTimeMillisUnsafe()
      const once = Effect.try({
        try: () => use((connection ??= connect(path, now())).step(now)),
        catch: (cause) => {
          const isLocked = isBusy(cause)
          if (!isLocked) close()
          return { isLocked, reason: reasonOf(cause) }
        }
      })
      // Who finds the file locked tries again, one at a time and without blocking the thread; who comes later waits too.
      const patiently = Effect.suspend(() => {
        waiting++
        return turns.withPermit(Effect.retry(once, { while: ({ isLocked }) => isLocked, schedule: betweenAttempts }))
          .pipe(
            Effect.timeoutOrElse({
              duration: lockTimeoutMillis,
              orElse: () => Effect.fail({ isLocked: true, reason: "the file stays locked" })
            }),
            Effect.ensuring(Effect.sync(() => waiting--))
          )
      })
      return waiting > 0 ? patiently : Effect.catchIf(once, ({ isLocked }) => isLocked, () => patiently)
    }).pipe(Effect.mapError(({ reason }) => new RateLimitStore.RateLimitStoreUnavailable({ reason })))
  const store: RateLimitStore.Store = {
    reserve: (key, lease, pace, place) =>
      atomically((step) => step(key, (ledger, now) => Ledger.reserve(ledger, now, lease, pace, place))),
    settle: (key, lease, report) =>
      atomically((step) => step(key, (ledger, now) => Ledger.settle(ledger, now, lease, report))),
    read: (key) => atomically((step) => step(key, Ledger.read, false))
  }
  return { store, open, close }
}

const betweenAttempts = Schedule.min([Schedule.exponential("5 millis", 1.5), Schedule.spaced("100 millis")])

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message : "node:sqlite failed"

const isBusy = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "errcode" in cause && (Number(cause.errcode) & 0xff) === 5

// The number goes up when the form of a ledger changes: processes of two versions may share the file.
const ledgersTable = "postwire_ledgers_2"

const connect = (path: string, now: number): Connection => {
  // Not imported: a program that keeps its budgets elsewhere does not load it, and does not read that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // Waiting inside of SQLite blocks the thread. A step of another process takes microseconds.
  const database = new DatabaseSync(path, { timeout: 2 })
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
    CREATE TABLE IF NOT EXISTS ${ledgersTable} (key TEXT PRIMARY KEY, ledger TEXT NOT NULL, forget INTEGER NOT NULL) WITHOUT ROWID;
  `)
  database.prepare(`DELETE FROM ${ledgersTable} WHERE forget < ?`).run(now)
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const rollback = database.prepare("ROLLBACK")
  const select = database.prepare(`SELECT ledger FROM ${ledgersTable} WHERE key = ?`)
  const upsert = database.prepare(
    `INSERT INTO ${ledgersTable} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ledger = excluded.ledger, forget = excluded.forget`
  )
  const ledgerOf = (key: string, now: number): Ledger.Ledger =>
    Ledger.fromText(String(select.get(key)?.["ledger"] ?? ""), now)
  return {
    database,
    step: (clock) => (key, f, writes = true) => {
      if (!writes) return f(ledgerOf(key, clock()), clock())
      begin.run()
      try {
        // The time after the lock was had: an earlier one may be before that of another process's step.
        const now = clock()
        const ledger = ledgerOf(key, now)
        const result = f(ledger, now)
        upsert.run(key, Ledger.toText(ledger), Ledger.keepUntil(ledger))
        commit.run()
        return result
      } catch (cause) {
        rollback.run()
        throw cause
      }
    }
  }
}
