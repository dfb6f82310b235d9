/** A store of tokens whose methods return Promises: one of the program's own, such as a table of its database. */
import * as Effect from "effect/Effect"
import * as Redaction from "../auth/Redaction.ts"
import { StorageFailure } from "../errors/StorageErrors.ts"
import type { Store } from "../storage/TokenStore.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

/** The program's own store of accounts, by their names. Its texts are secret. */
export interface TokenStore extends OwnStorage.OwnStorage {}

/** True if a value has the methods of a store. */
export const isTokenStore: (value: unknown) => value is TokenStore = OwnStorage.isOwnStorage

/** The store for Effect. Error messages are redacted of the secrets that passed through it. */
export const toEffect = (given: TokenStore): Store => ({
  ...OwnStorage.toEffect(
    given,
    "token store",
    (account) => `tokenStore (account ${account})`,
    (message, texts) => Redaction.make(() => [...texts, message].flatMap(secretsOf))(message)
  ),
  // A client does not need the names.
  names: Effect.fail(
    new StorageFailure({
      kind: "token store",
      place: "tokenStore",
      fault: "unavailable",
      action: "read",
      detail: "the store does not list its accounts"
    })
  )
})

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
