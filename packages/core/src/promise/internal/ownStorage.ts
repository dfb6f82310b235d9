/** Texts by name, with a lock for each, whose methods return Promises: a store of the program's own as Effects have one. */
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

/** What is done with a store. */
export type Action = "read" | "write" | "lock"

/** How a store is told of. */
export interface Told<E> {
  readonly failure: (name: string, action: Action, fault: "locked" | "unavailable", detail: string) => E
  /** What the store rejects with itself. */
  readonly isFailure: (cause: unknown) => cause is E
  /** Where texts are secrets: removes from a message those of the texts, and of any text that it quotes. */
  readonly redact?: ((said: string, texts: ReadonlyArray<string>) => string) | undefined
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
  /** The last two texts of each name: a store may quote the one that it replaces. */
  const texts = new Map<string, ReadonlyArray<string>>()
  const keep = (name: string, text: string | undefined) => {
    const known = texts.get(name) ?? []
    if (redact !== undefined && text !== undefined && !known.includes(text)) texts.set(name, [...known.slice(-1), text])
  }
  const failed = (name: string, action: Action, cause: unknown): E => {
    const told = redact === undefined ? cause : Redaction.within(cause, (said) => redact(said, texts.get(name) ?? []))
    if (isFailure(told)) return told
    return failure(name, action, "unavailable", (told instanceof Error ? told.message : String(told)).slice(0, 300))
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
      catch: (cause) => failed(name, action, cause)
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
