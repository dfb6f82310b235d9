/** A store of tokens whose methods return Promises: one of the program's own, such as a table of its database. */
import * as Effect from "effect/Effect"
import * as Redaction from "../auth/Redaction.ts"
import { TokenStoreFailure } from "../errors/Errors.ts"
import type { Store } from "../storage/TokenStore.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

/** The program's own store of accounts. Its texts are secret. */
export interface TokenStore {
  /** Reads the text of an account; `undefined` if there is none. */
  readonly read: (account: string) => Promise<string | undefined>
  /** Replaces the whole text of an account, or removes it with `undefined`. Resolves when the change is durable. */
  readonly write: (account: string, text: string | undefined) => Promise<unknown>
  /**
   * Acquires the lock of an account and resolves with the function that releases it. Until then, no other caller has the lock, in
   * this process or in another process that uses the store. The signal is aborted when the lock is no longer needed.
   */
  readonly lock: (account: string, signal: AbortSignal) => Promise<() => unknown>
}

/** True if a value has the methods of a store. */
export const isTokenStore: (value: unknown) => value is TokenStore = OwnStorage.isOwnStore

/** The store for Effect. Error messages are redacted of the secrets that passed through it. */
export const toEffect = (given: TokenStore): Store => {
  const describe = (account: string) => `tokenStore (account ${account})`
  return {
    describe,
    ...OwnStorage.toEffect(given, {
      failure: (account, action, fault, detail) =>
        new TokenStoreFailure({ store: describe(account), fault, action, detail }),
      isFailure: (cause) => cause instanceof TokenStoreFailure,
      redact: (message, texts) => Redaction.make(() => [...texts, message].flatMap(secretsOf))(message)
    }),
    // A client does not need the names.
    names: Effect.fail(
      new TokenStoreFailure({
        store: "tokenStore",
        fault: "unavailable",
        action: "read",
        detail: "the store does not list its accounts"
      })
    )
  }
}

/** The secrets in the text of an account, even if it is truncated or nested in another JSON text. */
const secretsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(member), ([, , secret = ""]) => {
    try {
      return String(JSON.parse(`"${secret}"`))
    } catch {
      return secret
    }
  })

// The lookahead does not backtrack, so the time is linear in the text.
const member = /"(?=(\w*(?:token|secret|key)\w*))\1\\*"\s*:\s*\\*"((?:[^"\\]|\\.)+)/gi
