/** OAuth 1.0a request tokens: pending sign-ins. */
import * as Redacted from "effect/Redacted"
import { hashOf, type Rights } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import * as Mint from "./Mint.ts"
import * as Records from "./Records.ts"

/** The lifetime of a request token, in seconds. */
const requestSeconds = 900

/** The callback that shows the verifier as a PIN instead of redirecting. */
export const outOfBand = "oob"

const requestToken = Records.record("r", {
  token: Records.text(),
  secret: Records.secret(),
  appId: Records.id("app_id"),
  /** A URL, or {@link outOfBand}. */
  callback: Records.text(),
  rights: Records.text<Rights>(),
  /** The user who has approved it. */
  userId: Records.optional(Records.id("user_id")),
  verifierHash: Records.optional(Records.text("verifier_hash"))
})

/** A pending sign-in. */
export type RequestToken = Records.Of<typeof requestToken>

/** `changed` is called after every insertion. */
export const make = (database: Database, changed: () => void) => {
  const byToken = database.select(requestToken, "FROM request_tokens r WHERE token = :token AND expires_at > :now")
  const allow = database.command(
    "UPDATE request_tokens SET user_id = :user, verifier_hash = :hash WHERE token = :token"
  )
  const remove = database.command("DELETE FROM request_tokens WHERE token = :token")
  const expire = database.command("DELETE FROM request_tokens WHERE expires_at <= :now")
  return {
    /** `now` is in milliseconds, here and below. */
    insert: (request: Pick<RequestToken, "appId" | "callback" | "rights">, now: number): RequestToken =>
      database.transaction(() => {
        expire({ now })
        const [token, secret] = [Mint.text(27), Mint.text(32)]
        const { appId, ...rest } = request
        database.insert("request_tokens", {
          token,
          secret,
          app_id: appId,
          ...rest,
          expires_at: now + requestSeconds * 1000
        })
        changed()
        return { ...request, token, secret: Redacted.make(secret) }
      }),
    /** Undefined if the token was used or has expired. */
    byToken: (token: string, now: number) => byToken.get({ token, now }),
    /** Records the user's approval and returns the verifier: a PIN of seven digits if the callback is {@link outOfBand}. */
    allow: ({ callback, token }: RequestToken, user: string): Redacted.Redacted => {
      const verifier = callback === outOfBand ? Mint.pin() : Redacted.make(Mint.text(32))
      allow({ token, user, hash: hashOf(verifier) })
      return verifier
    },
    remove: (token: string): void => void remove({ token })
  }
}
