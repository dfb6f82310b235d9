/** Logins of OAuth 1.0a that have begun: what an app asks a user with, until it has the user's token. */
import * as Redacted from "effect/Redacted"
import { hashOf, type Rights } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

/** How long a login may take. */
const requestSeconds = 900

/** What shows the verifier to the user, instead of bringing it to an address. */
export const outOfBand = "oob"

/** A login that has begun. */
export interface RequestToken {
  readonly token: string
  readonly secret: Redacted.Redacted
  readonly appId: string
  /** An address, or {@link outOfBand}. */
  readonly callback: string
  readonly rights: Rights
  /** Who has allowed it. */
  readonly userId: string | undefined
  readonly verifierHash: string | undefined
}

/** The request tokens of a store. */
export interface RequestTokens {
  /** `now` is in milliseconds, here and below. */
  readonly insert: (request: Pick<RequestToken, "appId" | "callback" | "rights">, now: number) => RequestToken
  /** Nothing when it was used, or is too old. */
  readonly byToken: (token: string, now: number) => RequestToken | undefined
  /** Notes who has allowed it; returns what proves it: a PIN of seven digits where nothing else brings it to the app. */
  readonly allow: (request: RequestToken, userId: string) => Redacted.Redacted
  readonly remove: (token: string) => void
}

/** The request tokens in a database. `changed` is called when there are others. */
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
