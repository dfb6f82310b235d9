/** Adapts a store of the program's own, whose methods return Promises, to Effect: texts by name, with a lock for each. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Redaction from "../../auth/Redaction.ts"

/** The methods of such a store. */
export interface OwnStore {
  readonly read: (name: string) => Promise<string | undefined>
  readonly write: (name: string, text: string | undefined) => Promise<unknown>
  readonly lock: (name: string, signal: AbortSignal) => Promise<() => unknown>
}

/** An operation of a store. */
export type Action = "read" | "write" | "lock"

/** The errors of a kind of store. */
export interface Failures<E> {
  readonly failure: (name: string, action: Action, fault: "locked" | "unavailable", detail: string) => E
  /** True for such an error from the store itself. */
  readonly isFailure: (cause: unknown) => cause is E
  /** If texts are secret: removes the secrets of the texts, and of any text that a message quotes, from the message. */
  readonly redact?: ((message: string, texts: ReadonlyArray<string>) => string) | undefined
}

/** True if a value has the methods of a store. */
export const isOwnStore = (value: unknown): value is OwnStore =>
  Predicate.isObjectKeyword(value) &&
  ["read", "write", "lock"].every((method) =>
    Predicate.hasProperty(value, method) && typeof value[method] === "function"
  )

/** The timeout of every method. */
const timeoutMillis = 30_000

/** The store for Effect. Error messages are redacted. */
export const toEffect = <E>(given: OwnStore, { failure, isFailure, redact }: Failures<E>) => {
  /** The last two texts of each name: a store may quote the one that it replaces. */
  const texts = new Map<string, ReadonlyArray<string>>()
  const keep = (name: string, text: string | undefined) => {
    const known = texts.get(name) ?? []
    if (redact !== undefined && text !== undefined && !known.includes(text)) texts.set(name, [...known.slice(-1), text])
  }
  const failed = (name: string, action: Action, cause: unknown): E => {
    const shown = redact === undefined
      ? cause
      : Redaction.within(cause, (message) => redact(message, texts.get(name) ?? []))
    if (isFailure(shown)) return shown
    return failure(name, action, "unavailable", (shown instanceof Error ? shown.message : String(shown)).slice(0, 300))
  }

  const call = <A>(
    name: string,
    action: Action,
    use: (signal: AbortSignal) => Promise<A>,
    is: (answer: unknown) => boolean
  ): Effect.Effect<A, E> =>
    Effect.tryPromise({
      // A method that throws synchronously is rejected as well.
      try: async (signal) => use(signal),
      catch: (cause) => failed(name, action, cause)
    }).pipe(
      Effect.filterOrFail(is, () =>
        failure(name, action, "unavailable", `${action} resolved with a value of the wrong type`)),
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () =>
          Effect.fail(
            failure(name, action, action === "lock" ? "locked" : "unavailable", `for ${timeoutMillis / 1000} s`)
          )
      })
    )

  return {
    read: (name: string): Effect.Effect<string | undefined, E> =>
      Effect.tap(
        call(name, "read", () => given.read(name), (text) => text === undefined || typeof text === "string"),
        (text) => Effect.sync(() => keep(name, text))
      ),
    write: (name: string, text: string | undefined): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        keep(name, text)
        return Effect.asVoid(call(name, "write", () => given.write(name, text), () => true))
      }),
    lock: (name: string): Effect.Effect<void, E, Scope.Scope> =>
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
