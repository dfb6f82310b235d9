/** OAuth 1.0a request tokens: pending sign-ins. */
import * as Redacted from "effect/Redacted"
import { hashOf, type Rights } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

/** The lifetime of a request token, in seconds. */
const requestSeconds = 900

/** The callback that shows the verifier as a PIN instead of redirecting. */
export const outOfBand = "oob"

/** A pending sign-in. */
export interface RequestToken {
  readonly token: string
  readonly secret: Redacted.Redacted
  readonly appId: string
  /** A URL, or {@link outOfBand}. */
  readonly callback: string
  readonly rights: Rights
  /** The user who has approved it. */
  readonly userId: string | undefined
  readonly verifierHash: string | undefined
}

export interface RequestTokens {
  /** `now` is in milliseconds, here and below. */
  readonly insert: (request: Pick<RequestToken, "appId" | "callback" | "rights">, now: number) => RequestToken
  /** Undefined if the token was used or has expired. */
  readonly byToken: (token: string, now: number) => RequestToken | undefined
  /** Records the user's approval and returns the verifier: a PIN of seven digits if the callback is {@link outOfBand}. */
  readonly allow: (request: RequestToken, userId: string) => Redacted.Redacted
  readonly remove: (token: string) => void
}

/** `changed` is called after every insertion. */
export const make = (database: Database, changed: () => void): RequestTokens => {
  const insert = database.command(`
    INSERT INTO request_tokens (token, secret, app_id, callback, rights, expires_at)
    VALUES (:token, :secret, :app, :callback, :rights, :expiresAt)`)
  const byToken = database.query<Row>(`
    SELECT token, secret, CAST(app_id AS TEXT) AS appId, callback, rights, CAST(user_id AS TEXT) AS userId,
      verifier_hash AS verifierHash
    FROM request_tokens WHERE token = :token AND expires_at > :now`)
  const allow = database.command(
    "UPDATE request_tokens SET user_id = :user, verifier_hash = :hash WHERE token = :token"
  )
  const remove = database.command("DELETE FROM request_tokens WHERE token = :token")
  const expire = database.command("DELETE FROM request_tokens WHERE expires_at <= :now")
  return {
    insert: (request, now) =>
      database.transaction(() => {
        expire({ now })
        const [token, secret] = [Mint.text(27), Mint.text(32)]
        const { appId, callback, rights } = request
        insert({ token, secret, app: Snowflake.parse(appId), callback, rights, expiresAt: now + requestSeconds * 1000 })
        changed()
        return { ...request, token, secret: Redacted.make(secret), userId: undefined, verifierHash: undefined }
      }),
    byToken: (token, now) => {
      const row = byToken.get({ token, now })
      return row && {
        ...row,
        secret: Redacted.make(row.secret),
        userId: row.userId ?? undefined,
        verifierHash: row.verifierHash ?? undefined
      }
    },
    allow: ({ callback, token }, userId) => {
      const verifier = callback === outOfBand ? Mint.pin() : Redacted.make(Mint.text(32))
      allow({ token, user: Snowflake.parse(userId), hash: hashOf(verifier) })
      return verifier
    },
    remove: (token) => void remove({ token })
  }
}

type Row = Omit<RequestToken, "secret" | "userId" | "verifierHash"> & {
  readonly secret: string
  readonly userId: string | null
  readonly verifierHash: string | null
}
