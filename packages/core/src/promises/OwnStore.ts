/** Texts by name, with a lock for each, whose methods return Promises: a store of the program's own as Effects have one. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"

/** The methods of such a store. */
export interface OwnStore {
  readonly read: (name: string) => Promise<string | undefined>
  readonly write: (name: string, text: string | undefined) => Promise<unknown>
  readonly lock: (name: string, signal: AbortSignal) => Promise<() => unknown>
}

/** What is done with a store. */
export type Action = "read" | "write" | "lock"

/** How a store is told of. */
export interface Told<E> {
  readonly failure: (name: string, action: Action, fault: "locked" | "unavailable", detail: string) => E
  /** What the store rejects with itself. */
  readonly isFailure: (cause: unknown) => cause is E
  /** Where texts are secrets: what a store may say of what went wrong with one. */
  readonly redact?: ((said: string, text: string | undefined) => string) | undefined
}

/** Whether a value has the methods of a store. */
export const isOwnStore = (value: unknown): value is OwnStore =>
  Predicate.isObjectKeyword(value) &&
  ["read", "write", "lock"].every((method) =>
    Predicate.hasProperty(value, method) && typeof value[method] === "function"
  )

/** No method may take longer. */
const timeoutMillis = 30_000

/** The store as Effects have it. What it rejects with is told as far as it may be. */
export const toEffect = <E>(given: OwnStore, { failure, isFailure, redact }: Told<E>) => {
  /** What went through it. */
  const texts = new Map<string, string | undefined>()
  const keep = (name: string, text: string | undefined) => {
    if (redact !== undefined) texts.set(name, text)
  }
  const told = (name: string, cause: unknown) => {
    const said = cause instanceof Error ? cause.message : String(cause)
    return (redact === undefined ? said : redact(said, texts.get(name))).slice(0, 300)
  }

  const call = <A>(
    name: string,
    action: Action,
    use: (signal: AbortSignal) => Promise<A>,
    is: (answer: unknown) => boolean
  ): Effect.Effect<A, E> =>
    Effect.tryPromise({
      // What throws at once is rejected as well.
      try: async (signal) => use(signal),
      catch: (cause) => isFailure(cause) ? cause : failure(name, action, "unavailable", told(name, cause))
    }).pipe(
      Effect.filterOrFail(is, () =>
        failure(name, action, "unavailable", `${action} does not resolve with what it should`)),
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
          // One that comes after all is given back.
          Effect.onError(() => Effect.sync(() => void locked?.then((release) => release()).catch(() => {}))),
          Effect.flatMap((release) =>
            Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(async () => await release())))
          )
        )
      })
  }
}
