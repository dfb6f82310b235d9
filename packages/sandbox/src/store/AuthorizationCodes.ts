/** Authorization codes: valid for one exchange within half a minute. */
import type * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import { type App, hashOf } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import type { Grants, Tokens } from "./Grants.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

/** The lifetime of a code, in seconds. */
export const codeSeconds = 30

/** How long an unused code is kept after it expires. */
const forgetMillis = 24 * 3_600_000

/** The consent that a code represents. */
export interface Consent {
  readonly appId: string
  readonly userId: string
  readonly redirect: string
  readonly challenge: string
  readonly method: "S256" | "plain"
  /** As requested. */
  readonly scope: string
}

export interface AuthorizationCodes {
  /** `now` is in milliseconds. */
  readonly insert: (consent: Consent, now: number) => Redacted.Redacted
  /** Exchanges a code; undefined if it is not valid. A second use ends the grant of the first. */
  readonly exchange: (options: {
    readonly app: App
    readonly code: Redacted.Redacted
    readonly redirect: string
    readonly verifier: string
    readonly now: number
  }) => Tokens | undefined
}

export const make = (database: Database, grants: Grants): AuthorizationCodes => {
  const insert = database.command(`
    INSERT INTO authorization_codes (hash, app_id, user_id, redirect, challenge, method, scope, expires_at)
    VALUES (:hash, :app, :user, :redirect, :challenge, :method, :scope, :expiresAt)`)
  const forget = database.command("DELETE FROM authorization_codes WHERE grant_id IS NULL AND expires_at < :before")
  const byHash = database.query<Consent & { readonly expiresAt: number; readonly grantId: string | null }>(`
    SELECT CAST(app_id AS TEXT) AS appId, CAST(user_id AS TEXT) AS userId, redirect, challenge, method, scope,
      expires_at AS expiresAt, CAST(grant_id AS TEXT) AS grantId
    FROM authorization_codes WHERE hash = :hash`)
  const spend = database.command("UPDATE authorization_codes SET grant_id = :grant WHERE hash = :hash")
  return {
    insert: ({ appId, challenge, method, redirect, scope, userId }, now) => {
      forget({ before: now - forgetMillis })
      const code = Mint.token("ac", now)
      insert({
        hash: hashOf(code),
        app: Snowflake.parse(appId),
        user: Snowflake.parse(userId),
        redirect,
        challenge,
        method,
        scope,
        expiresAt: now + codeSeconds * 1000
      })
      return code
    },
    exchange: ({ app, code, now, redirect, verifier }) =>
      database.transaction(() => {
        const found = byHash.get({ hash: hashOf(code) })
        if (found === undefined || found.appId !== app.id) return undefined
        if (found.grantId !== null) {
          grants.end(found.grantId, "code used twice", now)
          return undefined
        }
        const shown = found.method === "plain" ? verifier : Crypto.hash("sha256", verifier, "base64url")
        if (found.expiresAt <= now || found.redirect !== redirect || found.challenge !== shown) return undefined
        const tokens = grants.open({ app, userId: found.userId, scope: found.scope, now })
        spend({ hash: hashOf(code), grant: Snowflake.parse(tokens.grantId) })
        return tokens
      })
  }
}
