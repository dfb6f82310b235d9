/** Texts of the program's own, by methods that return Promises: such as a table of its database or the storage of a page. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redaction from "../../auth/Redaction.ts"
import { StorageFailure } from "../../errors/StorageErrors.ts"
import type { Texts } from "../../storage/Texts.ts"

/** The methods of such a store. */
export interface OwnStorage {
  /** Reads the text of a name; `undefined` if there is none. */
  readonly read: (name: string) => Promise<string | undefined>
  /** Replaces the whole text of a name, or removes it with `undefined`. Resolves when the change is durable. */
  readonly write: (name: string, text: string | undefined) => Promise<unknown>
  /**
   * Acquires the lock of a name and resolves with the function that releases it. Until then, no other caller has the lock, in this
   * process or in another process that uses the storage. The signal is aborted when the lock is no longer needed.
   */
  readonly lock: (name: string, signal: AbortSignal) => Promise<() => unknown>
}

/** True if a value has these methods. */
export const isOwnStorage = (value: unknown): value is OwnStorage =>
  Predicate.isObjectKeyword(value) &&
  ["read", "write", "lock"].every((method) =>
    Predicate.hasProperty(value, method) && typeof value[method] === "function"
  )

/** The timeout of every method. */
const timeoutMillis = 30_000

/**
 * The texts for Effect. If the texts are secret, `redact` removes the secrets of these texts, and of any text that a message
 * quotes, from the message.
 */
export const toEffect = (
  given: OwnStorage,
  kind: StorageFailure["kind"],
  describe: (name: string) => string,
  redact?: (message: string, texts: ReadonlyArray<string>) => string
): Texts => {
  /** The last two texts of each name: a store may quote the one that it replaces. */
  const texts = new Map<string, ReadonlyArray<string>>()
  const keep = (name: string, text: string | undefined) => {
    const known = texts.get(name) ?? []
    if (redact !== undefined && text !== undefined && !known.includes(text)) texts.set(name, [...known.slice(-1), text])
  }

  const call = <A>(
    name: string,
    action: StorageFailure["action"],
    use: (signal: AbortSignal) => Promise<A>,
    is: (answer: unknown) => boolean
  ): Effect.Effect<A, StorageFailure> => {
    const failure = (detail: string, fault: StorageFailure["fault"] = "unavailable") =>
      new StorageFailure({ kind, place: describe(name), fault, action, detail })
    return Effect.tryPromise({
      // A method that throws synchronously is rejected as well.
      try: async (signal) => use(signal),
      catch: (cause) => {
        const shown = redact === undefined
          ? cause
          : Redaction.within(cause, (message) => redact(message, texts.get(name) ?? []))
        return shown instanceof StorageFailure
          ? shown
          : failure((shown instanceof Error ? shown.message : String(shown)).slice(0, 300))
      }
    }).pipe(
      Effect.filterOrFail(is, () => failure(`${action} resolved with a value of the wrong type`)),
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () =>
          Effect.fail(failure(`for ${timeoutMillis / 1000} s`, action === "lock" ? "locked" : "unavailable"))
      })
    )
  }

  return {
    describe,
    read: (name) =>
      Effect.tap(
        call(name, "read", () => given.read(name), (text) => text === undefined || typeof text === "string"),
        (text) => Effect.sync(() => keep(name, text))
      ),
    write: (name, text) =>
      Effect.suspend(() => {
        keep(name, text)
        return Effect.asVoid(call(name, "write", () => given.write(name, text), () => true))
      }),
    lock: (name) =>
      Effect.uninterruptibleMask((restore) => {
        let locked: Promise<() => unknown> | undefined
        const lock = (signal: AbortSignal) => locked = given.lock(name, signal)
        return restore(call(name, "lock", lock, (release) => typeof release === "function")).pipe(
          // A lock that is acquired after the timeout is released.
          Effect.onError(() => Effect.sync(() => void locked?.then((release) => release()).catch(() => {}))),
          Effect.flatMap((release) =>
            Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(async () => await release())))
          )
        )
      })
  }
}
