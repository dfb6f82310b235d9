/** Authorization codes: valid for one exchange within half a minute. */
import type * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import { type App, hashOf } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import type { Grants, Tokens } from "./Grants.ts"
import * as Mint from "./Mint.ts"
import * as Records from "./Records.ts"

/** The lifetime of a code, in seconds. */
export const codeSeconds = 30

/** How long an unused code is kept after it expires. */
const forgetMillis = 24 * 3_600_000

const code = Records.record("c", {
  appId: Records.id("app_id"),
  userId: Records.id("user_id"),
  redirect: Records.text(),
  challenge: Records.text(),
  method: Records.text<"S256" | "plain">(),
  /** As requested. */
  scope: Records.text(),
  expiresAt: Records.number("expires_at"),
  grantId: Records.optional(Records.id("grant_id"))
})

/** The consent that a code represents. */
export type Consent = Omit<Records.Of<typeof code>, "expiresAt" | "grantId">

export const make = (database: Database, grants: Grants) => {
  const forget = database.command("DELETE FROM authorization_codes WHERE grant_id IS NULL AND expires_at < :before")
  const byHash = database.select(code, "FROM authorization_codes c WHERE hash = :hash")
  const spend = database.command("UPDATE authorization_codes SET grant_id = :grant WHERE hash = :hash")
  return {
    /** `now` is in milliseconds. */
    insert: ({ appId, userId, ...consent }: Consent, now: number): Redacted.Redacted => {
      forget({ before: now - forgetMillis })
      const code = Mint.token("ac", now)
      const expires_at = now + codeSeconds * 1000
      database.insert("authorization_codes", {
        hash: hashOf(code),
        app_id: appId,
        user_id: userId,
        ...consent,
        expires_at
      })
      return code
    },
    /** Exchanges a code; undefined if it is not valid. A second use ends the grant of the first. */
    exchange: ({ app, code, now, redirect, verifier }: {
      readonly app: App
      readonly code: Redacted.Redacted
      readonly redirect: string
      readonly verifier: string
      readonly now: number
    }): Tokens | undefined =>
      database.transaction(() => {
        const hash = hashOf(code)
        const found = byHash.get({ hash })
        if (found === undefined || found.appId !== app.id) return undefined
        if (found.grantId !== undefined) {
          grants.end(found.grantId, "code used twice", now)
          return undefined
        }
        const shown = found.method === "plain" ? verifier : Crypto.hash("sha256", verifier, "base64url")
        if (found.expiresAt <= now || found.redirect !== redirect || found.challenge !== shown) return undefined
        const tokens = grants.open({ app, userId: found.userId, scope: found.scope, now })
        spend({ hash, grant: tokens.grantId })
        return tokens
      })
  }
}
