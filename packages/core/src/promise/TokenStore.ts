/** A store of tokens whose methods return Promises: one of the program's own, such as a table of its database. */
import * as Effect from "effect/Effect"
import * as Redaction from "../auth/Redaction.ts"
import { TokenStoreFailure } from "../errors/Errors.ts"
import type { Store } from "../storage/TokenStore.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

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
export const isTokenStore: (value: unknown) => value is TokenStore = OwnStorage.isOwnStore

/** The store as Effects have it. What it rejects with is told without the secrets that went through it. */
export const toEffect = (given: TokenStore): Store => {
  const describe = (account: string) => `tokenStore (account ${account})`
  return {
    describe,
    ...OwnStorage.toEffect(given, {
      failure: (account, action, fault, detail) =>
        new TokenStoreFailure({ store: describe(account), fault, action, detail }),
      isFailure: (cause) => cause instanceof TokenStoreFailure,
      redact: (said, texts) => Redaction.make(() => [...texts, said].flatMap(secretsOf))(said)
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

/** The secrets in the text of an account, also in one that is cut off or is itself within a text of JSON. */
const secretsOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(member), ([, , secret = ""]) => {
    try {
      return String(JSON.parse(`"${secret}"`))
    } catch {
      return secret
    }
  })

// The lookahead gives nothing back, so the time grows with the text alone.
const member = /"(?=(\w*(?:token|secret|key)\w*))\1\\*"\s*:\s*\\*"((?:[^"\\]|\\.)+)/gi
