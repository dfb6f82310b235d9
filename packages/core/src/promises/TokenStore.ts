/** A store of tokens whose methods return Promises: one of the program's own, such as a table of its database. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { TokenStoreFailure, type TokenStoreFault } from "../Errors.ts"
import * as Redaction from "../Redaction.ts"
import type { Store } from "../TokenStore.ts"

/** A store of accounts of the program's own. Its texts are secrets. */
export interface TokenStore {
  /** The text of an account; `undefined` where there is none. */
  readonly read: (account: string) => Promise<string | undefined>
  /** Replaces the text of an account as a whole, or removes it with `undefined`. When it resolves, that is durable. */
  readonly write: (account: string, text: string | undefined) => Promise<unknown>
  /**
   * Waits for the lock of an account and resolves with the function that gives it back. Until that is called, nobody else has
   * the lock, in this process or in another one that uses the store. The signal is aborted when nobody waits any more.
   */
  readonly lock: (account: string, signal: AbortSignal) => Promise<() => unknown>
}

/** Whether a value has the methods of a store. */
export const isTokenStore = (value: unknown): value is TokenStore =>
  Predicate.isObjectKeyword(value) &&
  ["read", "write", "lock"].every((method) =>
    Predicate.hasProperty(value, method) && typeof value[method] === "function"
  )

/** No method may take longer. */
const timeoutMillis = 30_000

/** The store as Effects have it. What it rejects with is told without the secrets that went through it. */
export const toEffect = (given: TokenStore): Store => {
  const texts = new Map<string, string | undefined>()
  const describe = (account: string) => `tokenStore (account ${account})`

  const call = <A>(
    account: string,
    action: TokenStoreFailure["action"],
    use: (signal: AbortSignal) => Promise<A>,
    is: (answer: unknown) => boolean
  ): Effect.Effect<A, TokenStoreFailure> => {
    const failure = (fault: TokenStoreFault, detail: string) =>
      new TokenStoreFailure({ store: describe(account), fault, action, detail })
    return Effect.tryPromise({
      // What throws at once is rejected as well.
      try: async (signal) => use(signal),
      catch: (cause) =>
        cause instanceof TokenStoreFailure ? cause : failure("unavailable", told(cause, texts.get(account)))
    }).pipe(
      Effect.filterOrFail(is, () => failure("unavailable", `${action} does not resolve with what it should`)),
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () =>
          Effect.fail(failure(action === "lock" ? "locked" : "unavailable", `for ${timeoutMillis / 1000} s`))
      })
    )
  }

  return {
    describe,
    read: (account) =>
      Effect.tap(
        call(account, "read", () => given.read(account), (text) => text === undefined || typeof text === "string"),
        (text) => Effect.sync(() => texts.set(account, text))
      ),
    write: (account, text) =>
      Effect.suspend(() => {
        texts.set(account, text)
        return Effect.asVoid(call(account, "write", () => given.write(account, text), () => true))
      }),
    lock: (account) =>
      Effect.uninterruptibleMask((restore) => {
        let locked: Promise<() => unknown> | undefined
        const lock = (signal: AbortSignal) => locked = given.lock(account, signal)
        return restore(call(account, "lock", lock, (release) => typeof release === "function")).pipe(
          // One that comes after all is given back.
          Effect.onError(() => Effect.sync(() => void locked?.then((release) => release()).catch(() => {}))),
          Effect.flatMap((release) =>
            Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(async () => await release())))
          )
        )
      }),
    // A client has no need to know them.
    names: Effect.fail(
      new TokenStoreFailure({
        store: "tokenStore",
        fault: "unavailable",
        action: "read",
        detail: "it does not list its accounts"
      })
    )
  }
}

const told = (cause: unknown, text: string | undefined): string =>
  Redaction.make(() => secretsOf(text))(cause instanceof Error ? cause.message : String(cause)).slice(0, 300)

/** Every value in the text of an account that is no word of ours. */
const secretsOf = (text = ""): ReadonlyArray<string> =>
  Array.from(text.matchAll(/"\w*(?:token|secret|key)\w*":"([^"]+)"/gi), ([, secret = ""]) => secret)
