/**
 * The authorizations that users have given to apps. A grant spans all token refreshes from a sign-in to its end. There is
 * at most one active grant per user, app and kind.
 */
import { fromWire } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import { type App, hashOf, type Rights } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Mint from "./Mint.ts"
import * as Records from "./Records.ts"
import type { EventPublisher } from "./StoreEvents.ts"

/** The lifetime of an access token, in seconds. */
export const accessSeconds = 7_200

/** The maximum number of grants in a list, and of ended grants that are kept. */
export const maximumListed = 1_000

/** How long after the expiry of its access token a refresh token stays known, so that its reuse ends the grant. */
const reuseMillis = 30 * 24 * 3_600_000

/** The reason why a grant ended. */
export type Ending = "revoked" | "new login" | "refresh token reused" | "code used twice"

const grant = Records.map(
  Records.record("g", {
    id: Records.id(),
    kind: Records.text<"OAuth 1.0a" | "OAuth 2.0">(),
    appId: Records.id("app_id"),
    userId: Records.id("user_id"),
    /** The scopes that the app requested; empty for OAuth 1.0a, which has rights instead. */
    scopes: Records.words("scope"),
    rights: Records.text<Rights>(),
    issuedAt: Records.number("issued_at"),
    /** When the newest access token was issued. */
    renewedAt: Records.number("renewed_at"),
    /** When that access token expires; absent for OAuth 1.0a. */
    expiresAt: Records.optional(Records.number("expires_at")),
    /** The number of regular refreshes. */
    refreshes: Records.number(),
    /** How often a refresh token was accepted again because none of the tokens issued for it was ever used. */
    replays: Records.number(),
    /** How often a spent refresh token was rejected. */
    reuseDetected: Records.number("reuse_detected"),
    endedAt: Records.optional(Records.number("ended_at")),
    endedBy: Records.optional(Records.text<Ending>("ended_by"))
  }),
  (grant) => ({ ...grant, alive: grant.endedAt === undefined })
)

/** An authorization of an app by a user. Times are in milliseconds since the epoch. */
export type Grant = Records.Of<typeof grant>

/** The tokens issued by a sign-in or a refresh. */
export interface Tokens {
  readonly grantId: string
  readonly accessToken: Redacted.Redacted
  /** Only with the scope `offline.access`. */
  readonly refreshToken: Redacted.Redacted | undefined
  /** The requested scopes. */
  readonly scope: string
  /** In milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The tokens issued by an OAuth 1.0a sign-in. */
export interface SignedTokens {
  readonly grantId: string
  readonly token: string
  readonly secret: Redacted.Redacted
}

/** A sign-in. */
interface Login {
  readonly app: App
  readonly userId: string
  /** In milliseconds. */
  readonly now: number
}

const statements = (database: Database) => {
  const grants = (where: string) => database.select(grant, `FROM grants g WHERE ${where}`)
  return {
    byId: grants("g.id = :id"),
    list: grants("TRUE ORDER BY g.id DESC LIMIT :limit"),
    alive: grants("g.app_id = :app AND g.user_id = :user AND g.kind = :kind AND g.ended_at IS NULL"),
    newest: grants(
      "g.app_id = :app AND g.kind = :kind AND g.ended_at IS NULL ORDER BY g.renewed_at DESC, g.id DESC"
    ),
    ofToken: grants(`g.id = coalesce(
      (SELECT grant_id FROM refresh_tokens WHERE hash = :hash), (SELECT grant_id FROM bearer_tokens WHERE hash = :hash),
      (SELECT grant_id FROM access_tokens WHERE token = :token)
    )`),
    end: database.command("UPDATE grants SET ended_at = :now, ended_by = :by WHERE id = :id AND ended_at IS NULL"),
    renew: database.command(`
      UPDATE grants SET renewed_at = :now, expires_at = :expiresAt, refreshes = refreshes + :refreshes,
        replays = replays + :replays WHERE id = :id`),
    touch: database.command("UPDATE grants SET renewed_at = :now WHERE id = :id"),
    countReuse: database.command("UPDATE grants SET reuse_detected = reuse_detected + 1 WHERE id = :id"),
    outdated: database.query<{ readonly id: string }>(
      `SELECT CAST(id AS TEXT) AS id FROM grants WHERE ended_at IS NOT NULL
       ORDER BY grants.id DESC LIMIT -1 OFFSET ${maximumListed}`
    ),
    removals: [
      "authorization_codes WHERE grant_id",
      "bearer_tokens WHERE grant_id",
      "refresh_tokens WHERE grant_id",
      "grants WHERE id"
    ].map((rows) => database.command(`DELETE FROM ${rows} = :id`)),
    signedToken: database.query<{ readonly token: string; readonly secret: string }>(
      "SELECT token, secret FROM access_tokens WHERE grant_id = :grant"
    ),
    removeSigned: database.command("DELETE FROM access_tokens WHERE grant_id = :id"),
    ...refreshStatements(database)
  }
}

const refreshStatements = (database: Database) => ({
  refreshToken: database.query<{ readonly grantId: string; readonly state: "current" | "spent" | "dead" }>(
    "SELECT CAST(grant_id AS TEXT) AS grantId, state FROM refresh_tokens WHERE hash = :hash"
  ),
  isSuccessorUsed: database.query(`
    SELECT 1 FROM refresh_tokens r JOIN bearer_tokens t ON t.hash = r.access_hash
    WHERE r.grant_id = :grant AND r.state = 'current' AND t.used = 1`),
  move: database.command("UPDATE refresh_tokens SET state = :to WHERE grant_id = :grant AND state = :from"),
  expire: database.command(`
    UPDATE bearer_tokens SET expires_at = 0
    WHERE hash = (SELECT access_hash FROM refresh_tokens WHERE grant_id = :grant AND state = 'current')`),
  // A replay sets the expiry of the tokens that it invalidates to 0: they are kept.
  removeDeadAccess: database.command(`
    DELETE FROM bearer_tokens WHERE expires_at > 0 AND expires_at < :before
      AND hash IN (SELECT access_hash FROM refresh_tokens WHERE grant_id = :grant AND state = 'dead')`),
  removeDead: database.command(`
    DELETE FROM refresh_tokens WHERE grant_id = :grant AND state = 'dead'
      AND NOT EXISTS (SELECT 1 FROM bearer_tokens WHERE hash = access_hash)`)
})

/** The grants of a store. */
export class Grants {
  readonly #database: Database
  readonly #changed: () => void
  readonly #events: EventPublisher
  readonly #nextId: (millis: number) => bigint
  readonly #sql: ReturnType<typeof statements>

  /** `changed` is called when OAuth 1.0a tokens are added or removed. */
  constructor(database: Database, changed: () => void, events: EventPublisher) {
    this.#database = database
    this.#changed = changed
    this.#events = events
    this.#nextId = ids(database, "grants")
    this.#sql = statements(database)
  }

  /** Creates an OAuth 2.0 grant and ends the previous one of this user and app. `scope` is as requested. */
  open(login: Login & { readonly scope: string }): Tokens {
    return this.#database.transaction(() => {
      const { app: { rights }, now, scope } = login
      const id = this.#begin("OAuth 2.0", login, rights, scope, now + accessSeconds * 1000)
      return this.#issue(id, login, rights, scope)
    })
  }

  /** Exchanges a refresh token; undefined if it is not valid. Reuse ends the grant. */
  refresh(app: App, token: Redacted.Redacted, now: number): Tokens | undefined {
    return this.#database.transaction(() => {
      const found = this.#sql.refreshToken.get({ hash: hashOf(token) })
      const grant = found && this.byId(found.grantId)
      if (found === undefined || grant === undefined || grant.appId !== app.id || !grant.alive) return undefined
      const { id } = grant
      const isReplay = found.state === "spent" && app.client.rotation === "lenient" &&
        this.#sql.isSuccessorUsed.get({ grant: id }) === undefined
      if (found.state !== "current" && !isReplay) {
        this.#sql.countReuse({ id })
        this.#close(id, "refresh token reused", now)
        return undefined
      }
      if (isReplay) {
        this.#sql.expire({ grant: id })
        this.#sql.move({ grant: id, from: "current", to: "dead" })
      } else {
        this.#sql.move({ grant: id, from: "spent", to: "dead" })
        this.#sql.move({ grant: id, from: "current", to: "spent" })
        this.#sql.removeDeadAccess({ grant: id, before: now - reuseMillis })
        this.#sql.removeDead({ grant: id })
      }
      const tokens = this.#issue(id, { app, userId: grant.userId, now }, grant.rights, grant.scopes.join(" "))
      const [refreshes, replays] = isReplay ? [0, 1] : [1, 0]
      this.#sql.renew({ id, now, expiresAt: tokens.expiresAt, refreshes, replays })
      return tokens
    })
  }

  /** Creates an OAuth 1.0a grant, or returns the existing one with the same tokens. */
  openSigned(login: Login & { readonly rights: Rights }): SignedTokens {
    return this.#database.transaction(() => {
      const { app, now, rights, userId } = login
      const earlier = this.#active("OAuth 1.0a", app.id, userId)
      const known = earlier?.rights === rights ? this.#sql.signedToken.get({ grant: earlier.id }) : undefined
      if (earlier !== undefined && known !== undefined) {
        this.#sql.touch({ id: earlier.id, now })
        return { grantId: earlier.id, token: known.token, secret: Redacted.make(known.secret) }
      }
      const grantId = this.#begin("OAuth 1.0a", login, rights, "", null)
      const token = `${userId}-${Mint.text(40)}`
      const secret = Mint.text(45)
      this.#database.insert("access_tokens", {
        token,
        secret,
        app_id: app.id,
        user_id: userId,
        rights,
        grant_id: grantId
      })
      this.#changed()
      return { grantId, token, secret: Redacted.make(secret) }
    })
  }

  /** The active OAuth 1.0a grant of an app: that of a user, or the newest. */
  signed(appId: string, userId: string | undefined): Grant | undefined {
    return userId === undefined
      ? this.#sql.newest.get({ app: appId, kind: "OAuth 1.0a" })
      : this.#active("OAuth 1.0a", appId, userId)
  }

  /** The grant of a token of any kind. */
  ofToken(token: Redacted.Redacted): Grant | undefined {
    return this.#sql.ofToken.get({ hash: hashOf(token), token: Redacted.value(token) })
  }

  /** False if it had already ended. */
  end(id: string, by: Ending, now: number): boolean {
    return this.#database.transaction(() => this.#close(id, by, now))
  }

  byId(id: string): Grant | undefined {
    return this.#sql.byId.get({ id })
  }

  /** Newest first. */
  list(limit: number): ReadonlyArray<Grant> {
    return this.#sql.list.all({ limit })
  }

  #active(kind: Grant["kind"], appId: string, userId: string): Grant | undefined {
    return this.#sql.alive.get({ app: appId, user: userId, kind })
  }

  #close(id: string, by: Ending, now: number): boolean {
    if (this.#sql.end({ id, by, now }) === 0) return false
    if (this.#sql.removeSigned({ id }) > 0) this.#changed()
    const grant = by === "revoked" ? this.byId(id) : undefined
    if (grant !== undefined) this.#events.publish({ _tag: "Revoked", appId: grant.appId, userId: grant.userId })
    return true
  }

  /** Ends the active grant of the user and app, and creates another one. */
  #begin(kind: Grant["kind"], { app, now, userId }: Login, rights: Rights, scope: string, expiresAt: number | null) {
    const earlier = this.#active(kind, app.id, userId)
    if (earlier !== undefined) this.#close(earlier.id, "new login", now)
    for (const { id } of this.#sql.outdated.all()) {
      for (const remove of this.#sql.removals) remove({ id })
    }
    const id = this.#nextId(now)
    this.#database.insert("grants", {
      id,
      app_id: app.id,
      user_id: userId,
      kind,
      scope,
      rights,
      issued_at: now,
      renewed_at: now,
      expires_at: expiresAt
    })
    return String(id)
  }

  #issue(grant_id: string, { app, now, userId }: Login, rights: Rights, scope: string): Tokens {
    const accessToken = Mint.token("at", now)
    const expiresAt = now + accessSeconds * 1000
    const scopes = fromWire(scope)
    const access_hash = hashOf(accessToken)
    this.#database.insert("bearer_tokens", {
      hash: access_hash,
      app_id: app.id,
      user_id: userId,
      rights,
      scopes: scopes.join(" "),
      grant_id,
      expires_at: expiresAt
    })
    const refreshToken = scopes.includes("offline.access") ? Mint.token("rt", now) : undefined
    if (refreshToken !== undefined) {
      this.#database.insert("refresh_tokens", { hash: hashOf(refreshToken), grant_id, state: "current", access_hash })
    }
    return { grantId: grant_id, accessToken, refreshToken, scope, expiresAt }
  }
}
