/** An SQLite file that processes of one machine share, whose steps are transactions. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { DatabaseSync } from "node:sqlite"

/** An open file and its steps. */
export interface Connection<out S> {
  readonly database: DatabaseSync
  readonly steps: S
}

/** Creates the tables of a file, and its steps. */
export type Prepare<S> = (database: DatabaseSync) => S

/** The names under which errors of a file are reported. */
export interface Names<out E> {
  /** The setting that holds the path. */
  readonly setting: string
  readonly unavailable: (reason: string) => E
}

/** A file that others keep locked for longer counts as unavailable. */
const lockTimeoutMillis = 2_000

/** A file by its path, opened on demand. */
export const make = <S, E>(
  path: string,
  { prepare, setting, unavailable }: Names<E> & { readonly prepare: Prepare<S> }
) => {
  let connection: Connection<S> | undefined
  const close = () => {
    const { database } = connection ?? {}
    connection = undefined
    if (database?.isOpen === true) database.close()
  }
  /** Fails if the file cannot be opened, but not if it is locked. */
  const open: Effect.Effect<void, InvalidSettings> = Effect.try({
    try: () => void (connection ??= connect(path, prepare)),
    catch: (cause) => ({ isLocked: isBusy(cause), reason: reasonOf(cause) })
  }).pipe(
    Effect.catchIf(({ isLocked }) => isLocked, () => Effect.void),
    Effect.mapError(({ reason }) => new InvalidSettings({ setting, rule: `is a file that cannot be used (${reason})` }))
  )
  const turns = Semaphore.makeUnsafe(1)
  let waiting = 0
  const atomically = <A>(use: (steps: S) => A): Effect.Effect<A, E> => {
    const once = Effect.try({
      try: () => use((connection ??= connect(path, prepare)).steps),
      catch: (cause) => {
        const isLocked = isBusy(cause)
        if (!isLocked) close()
        return { isLocked, reason: reasonOf(cause) }
      }
    })
    // A step that finds the file locked retries without blocking the thread, one at a time; later steps wait behind it.
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
    return Effect.suspend(() =>
      waiting > 0 ? patiently : Effect.catchIf(once, ({ isLocked }) => isLocked, () => patiently)
    ).pipe(Effect.mapError(({ reason }) => unavailable(reason)))
  }
  return { atomically, open, close }
}

const betweenAttempts = Schedule.min([Schedule.exponential("5 millis", 1.5), Schedule.spaced("100 millis")])

const reasonOf = (cause: unknown): string => cause instanceof Error ? cause.message : "node:sqlite failed"

const isBusy = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "errcode" in cause && (Number(cause.errcode) & 0xff) === 5

const connect = <S>(path: string, prepare: Prepare<S>): Connection<S> => {
  // Not imported: a program without such a file does not load it, and does not see the warning that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  makePrivate(path)
  // Waiting inside SQLite blocks the thread. A step of another process takes microseconds.
  const database = new DatabaseSync(path, { timeout: 2 })
  try {
    return { database, steps: prepare(database) }
  } catch (cause) {
    database.close()
    throw cause
  }
}

/** Creates a file that only its user can read, unless it exists. SQLite creates files that all users can read. */
export const makePrivate = (path: string): void => {
  if (path === ":memory:") return
  const { closeSync, openSync } = process.getBuiltinModule("node:fs")
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch {
    // It exists, or SQLite reports why it cannot be created.
  }
}

/** A function that runs a step as a transaction. */
export const transactions = (database: DatabaseSync) => {
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const rollback = database.prepare("ROLLBACK")
  return <A>(step: () => A): A => {
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
}
