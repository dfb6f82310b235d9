/** A storage in an SQLite file that processes of one machine share. Its steps are transactions. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type * as Storage from "@postwire/core/storage/Storage"
import { setMillis, StorageUnavailable } from "@postwire/core/storage/Storage"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { DatabaseSync } from "node:sqlite"
import { isBusy, makePrivate } from "./sqliteFile.ts"

/** Options of a storage. */
export interface Options {
  readonly path: string
  /** The setting that holds the path. */
  readonly setting: string
  /** Durability in a power loss: with `NORMAL` the last commits may be lost, with `OFF` the file may be damaged. */
  readonly synchronous: "OFF" | "NORMAL"
}

/** A file that others keep locked for longer counts as unavailable. */
const lockTimeoutMillis = 2_000

/** The pauses between attempts while the file is locked, in milliseconds. Each is half as long again as the one before. */
const pauses = { first: 5, last: 100 }

/** A step that found the file locked. */
interface Waiting {
  /** The time until which it waits. */
  readonly until: number
  /** Runs it; false if the file is locked. */
  readonly attempt: () => boolean
  readonly giveUp: () => void
}

interface Failure {
  readonly isLocked: boolean
  readonly reason: string
}

/** The storage in a file, by the machine's clock; closed with the scope. Fails only when the file cannot be opened. */
export const make = Effect.fnUntraced(function*(
  { path, setting, synchronous }: Options
): Effect.fn.Return<Storage.Storage, InvalidSettings, Scope.Scope> {
  let opened: ReturnType<typeof open> | undefined
  const steps = () => opened ??= open(path, synchronous)
  const close = () => {
    opened?.close()
    opened = undefined
  }
  const attempt = <A>(use: (own: ReturnType<typeof open>) => A): Result.Result<A, Failure> => {
    try {
      return Result.succeed(use(steps()))
    } catch (cause) {
      const isLocked = isBusy(cause)
      if (!isLocked) close()
      return Result.fail({ isLocked, reason: cause instanceof Error ? cause.message : "node:sqlite failed" })
    }
  }
  const queue = new Set<Waiting>()
  let isServed = false
  // Serves the queue without blocking the thread. One that has the file serves all that wait: their steps take microseconds, and
  // timers and fibers of their own would cost each of them many times as much.
  const serve = Effect.gen(function*() {
    let pause = pauses.first
    while (queue.size > 0) {
      const now = yield* Monotonic.millis
      for (const waiting of queue) {
        if (waiting.attempt()) pause = pauses.first
        else if (waiting.until <= now) waiting.giveUp()
        else {
          yield* Effect.sleep(Math.min(pause, waiting.until - now))
          pause = Math.min(pause * 1.5, pauses.last)
          break
        }
      }
    }
  }).pipe(Effect.ensuring(Effect.sync(() => isServed = false)))
  const patiently = <A>(use: (own: ReturnType<typeof open>) => A): Effect.Effect<A, Failure> =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.callback((resume) => {
        const end = (result: Result.Result<A, Failure>) => {
          queue.delete(waiting)
          resume(Effect.fromResult(result))
        }
        const waiting: Waiting = {
          until: Monotonic.millisUnsafe(Context.get(context, Clock.Clock)) + lockTimeoutMillis,
          attempt: () => {
            const result = attempt(use)
            if (Result.isFailure(result) && result.failure.isLocked) return false
            end(result)
            return true
          },
          giveUp: () => end(Result.fail({ isLocked: true, reason: "the file stays locked" }))
        }
        queue.add(waiting)
        if (!isServed) {
          isServed = true
          Effect.runForkWith(context)(serve)
        }
        return Effect.sync(() => queue.delete(waiting))
      })
    )
  const atomically = <A>(use: (own: ReturnType<typeof open>) => A): Effect.Effect<A, StorageUnavailable> =>
    Effect.suspend(() => {
      // Later steps wait behind those that wait.
      const result = queue.size > 0 ? undefined : attempt(use)
      return result === undefined || (Result.isFailure(result) && result.failure.isLocked)
        ? patiently(use)
        : Effect.fromResult(result)
    }).pipe(Effect.mapError(({ reason }) => new StorageUnavailable({ reason })))
  yield* Effect.addFinalizer(() => Effect.sync(close))
  const first = attempt(() => {})
  if (Result.isFailure(first) && !first.failure.isLocked) {
    return yield* new InvalidSettings({ setting, rule: `is a file that cannot be used (${first.failure.reason})` })
  }
  return {
    get: (keys) => atomically(({ get }) => get(keys)),
    modify: (target, f) => atomically(({ modify }) => modify(target, f)),
    keys: (prefix) => atomically(({ keys }) => keys(prefix))
  }
})

const open = (path: string, synchronous: Options["synchronous"]) => {
  // Not imported: a program without such a file does not load it, and does not see the warning that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  makePrivate(path)
  // Waiting inside SQLite blocks the thread. A step of another process takes microseconds.
  const database = new DatabaseSync(path, { timeout: 2 })
  const close = () => {
    if (database.isOpen) database.close()
  }
  try {
    return { ...stepsIn(database, synchronous), close }
  } catch (cause) {
    close()
    throw cause
  }
}

// The number goes up when the columns change: processes of two versions may share the file.
const texts = "postwire_texts_1"
const sets = "postwire_sets_1"
const members = "postwire_members_1"

const stepsIn = (database: DatabaseSync, synchronous: Options["synchronous"]) => {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    CREATE TABLE IF NOT EXISTS ${texts} (key TEXT PRIMARY KEY, text TEXT NOT NULL, until REAL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${sets} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, until REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS ${members} (of INTEGER NOT NULL, member NOT NULL, PRIMARY KEY (of, member)) WITHOUT ROWID;
  `)
  // The clock of the system is the same for all processes, whatever a program does to its own.
  const time = database.prepare("SELECT unixepoch('subsec') * 1000 AS now")
  const clock = () => Math.floor(Number(time.get()?.["now"]))
  database.prepare(`DELETE FROM ${texts} WHERE until < ?`).run(clock())
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const rollback = database.prepare("ROLLBACK")
  const transact = <A>(step: () => A): A => {
    begin.run()
    try {
      const result = step()
      commit.run()
      return result
    } catch (cause) {
      rollback.run()
      throw cause
    }
  }
  const select = database.prepare(`SELECT text FROM ${texts} WHERE key = ?`)
  const upsert = database.prepare(
    `INSERT INTO ${texts} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text, until = excluded.until`
  )
  const remove = database.prepare(`DELETE FROM ${texts} WHERE key = ?`)
  const list = database.prepare(`SELECT key FROM ${texts} WHERE substr(key, 1, length(?1)) = ?1`)
  const setOf = database.prepare(
    `INSERT INTO ${sets} (key, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until RETURNING id`
  )
  const forgetMembers = database.prepare(`DELETE FROM ${members} WHERE of IN (SELECT id FROM ${sets} WHERE until < ?)`)
  const forgetSets = database.prepare(`DELETE FROM ${sets} WHERE until < ?`)
  const isMember = database.prepare(
    `SELECT 1 FROM ${members} WHERE of = (SELECT id FROM ${sets} WHERE key = ?) AND member = ?`
  )
  const addMember = database.prepare(`INSERT INTO ${members} VALUES (?, ?)`)
  const textOf = (key: string): string | undefined => {
    const text = select.get(key)?.["text"]
    return typeof text === "string" ? text : undefined
  }
  return {
    keys: (prefix: string) => list.all(prefix).map(({ key }) => String(key)),
    get: (keys: ReadonlyArray<string>): Storage.Snapshot => ({ texts: keys.map(textOf), now: clock() }),
    modify: <A>(target: Storage.Target, f: (before: Storage.Before) => Storage.Step<A>): A =>
      transact(() => {
        // Read after the transaction began: an earlier time may precede the step of another process.
        const now = clock()
        const absent = (target.sets ?? []).map(({ key, members }) =>
          new Set(members.filter((member) => isMember.get(key, shortOf(member)) === undefined))
        )
        const { result, texts, until } = f({ texts: target.texts.map(textOf), now, absent })
        if (texts === undefined) return result
        texts.forEach((text, index) => {
          const key = target.texts[index] ?? ""
          if (text === "") remove.run(key)
          else if (text !== undefined) upsert.run(key, text, until ?? null)
        })
        target.sets?.forEach(({ key }, index) => {
          forgetMembers.run(now)
          forgetSets.run(now)
          const id = Number(setOf.get(key, now + setMillis)?.["id"])
          for (const member of absent[index] ?? []) addMember.run(id, shortOf(member))
        })
        return result
      })
  }
}

/** A number takes less room than its digits. */
const shortOf = (member: string): bigint | string => /^[1-9]\d{0,17}$/.test(member) ? BigInt(member) : member
