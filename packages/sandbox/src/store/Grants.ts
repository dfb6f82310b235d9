/**
 * What users have allowed apps: from a login to its end, through every renewal. There is one at a time of a user, an app
 * and a kind.
 */
import { fromWire } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import { type App, hashOf, type Rights } from "./Credentials.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

/** How long an access token lives. */
export const accessSeconds = 7_200

/** The number of grants that a list shows, and of ended ones that are kept. */
export const maximumListed = 1_000

/** How long a reuse of a refresh token ends its grant, counted from the end of the access token that it came with. */
const reuseMillis = 30 * 24 * 3_600_000

/** Why a grant ended. */
export type Ending = "revoked" | "new login" | "refresh token reused" | "code used twice"

/** What a user has allowed an app. Instants are in milliseconds since the epoch. */
export interface Grant {
  readonly id: string
  readonly kind: "OAuth 1.0a" | "OAuth 2.0"
  readonly appId: string
  readonly userId: string
  /** As the app asked for them; none for OAuth 1.0a, which has rights instead. */
  readonly scopes: ReadonlyArray<string>
  readonly rights: Rights
  readonly issuedAt: number
  /** When the newest access token was made. */
  readonly renewedAt: number
  /** When that one expires; those of OAuth 1.0a do not. */
  readonly expiresAt: number | undefined
  /** How often a refresh token was used as it should be. */
  readonly refreshes: number
  /** How often a refresh token was taken once more, because nothing that it had brought was ever used. */
  readonly replays: number
  /** How often a refresh token was used that must not be any more. */
  readonly reuseDetected: number
  readonly alive: boolean
  readonly endedAt: number | undefined
  readonly endedBy: Ending | undefined
}

/** What a login or a renewal brings. */
export interface Tokens {
  readonly grantId: string
  readonly accessToken: Redacted.Redacted
  /** Only with the scope `offline.access`. */
  readonly refreshToken: Redacted.Redacted | undefined
  /** As the app asked for them. */
  readonly scope: string
  /** In milliseconds since the epoch. */
  readonly expiresAt: number
}

/** What OAuth 1.0a brings. */
export interface SignedTokens {
  readonly grantId: string
  readonly token: string
  readonly secret: Redacted.Redacted
}

/** A login: of whom, with what. */
interface Login {
  readonly app: App
  readonly userId: string
  /** In milliseconds. */
  readonly now: number
}

/** The grants of a store. */
export interface Grants {
  /** Makes a grant of OAuth 2.0, and ends the earlier one of the same user and app. `scope` is as it was asked for. */
  readonly open: (login: Login & { readonly scope: string }) => Tokens
  /** Takes a refresh token; nothing when it is not to be taken. A reuse ends the grant. */
  readonly refresh: (app: App, token: Redacted.Redacted, now: number) => Tokens | undefined
  /** Makes a grant of OAuth 1.0a, or answers what there is: its tokens stay the same. */
  readonly openSigned: (login: Login & { readonly rights: Rights }) => SignedTokens
  /** The living grant of OAuth 1.0a of an app: of a user, or the newest. */
  readonly signed: (appId: string, userId: string | undefined) => Grant | undefined
  /** The grant of a token of any kind. */
  readonly ofToken: (token: Redacted.Redacted) => Grant | undefined
  /** False when it had ended before. */
  readonly end: (id: string, by: Ending, now: number) => boolean
  readonly byId: (id: string) => Grant | undefined
  /** Newest first. */
  readonly list: (limit: number) => ReadonlyArray<Grant>
}

/** The grants in a database. `changed` is called when there are other OAuth 1.0a tokens. */
export const make = (database: Database, changed: () => void): Grants => {
  const nextId = ids(database, "grants")
  const insert = database.command(`
    INSERT INTO grants (id, app_id, user_id, kind, scope, rights, issued_at, renewed_at, expires_at)
    VALUES (:id, :app, :user, :kind, :scope, :rights, :now, :now, :expiresAt)`)
  const grants = (where: string) => database.query<Row>(`SELECT ${columns} FROM grants g WHERE ${where}`)
  const byId = grants("g.id = :id")
  const list = grants("TRUE ORDER BY g.id DESC LIMIT :limit")
  const alive = grants("g.app_id = :app AND g.user_id = :user AND g.kind = :kind AND g.ended_at IS NULL")
  const newest = grants(
    "g.app_id = :app AND g.kind = :kind AND g.ended_at IS NULL ORDER BY g.renewed_at DESC, g.id DESC"
  )
  const ofToken = grants(`g.id = coalesce(
    (SELECT grant_id FROM refresh_tokens WHERE hash = :hash), (SELECT grant_id FROM bearer_tokens WHERE hash = :hash),
    (SELECT grant_id FROM access_tokens WHERE token = :token)
  )`)
  const end = database.command(
    "UPDATE grants SET ended_at = :now, ended_by = :by WHERE id = :id AND ended_at IS NULL"
  )
  const forgetSigned = database.command("DELETE FROM access_tokens WHERE grant_id = :id")
  const insertBearer = database.command(`
    INSERT INTO bearer_tokens (hash, app_id, user_id, rights, scopes, grant_id, expires_at)
    VALUES (:hash, :app, :user, :rights, :scopes, :grant, :expiresAt)`)
  const insertRefresh = database.command(
    "INSERT INTO refresh_tokens (hash, grant_id, state, access_hash) VALUES (:hash, :grant, 'current', :access)"
  )
  const refreshToken = database.query<{ readonly grantId: string; readonly state: "current" | "spent" | "dead" }>(
    "SELECT CAST(grant_id AS TEXT) AS grantId, state FROM refresh_tokens WHERE hash = :hash"
  )
  const isSuccessorUsed = database.query(`
    SELECT 1 FROM refresh_tokens r JOIN bearer_tokens t ON t.hash = r.access_hash
    WHERE r.grant_id = :grant AND r.state = 'current' AND t.used = 1`)
  const expire = database.command(`
    UPDATE bearer_tokens SET expires_at = 0
    WHERE hash = (SELECT access_hash FROM refresh_tokens WHERE grant_id = :grant AND state = 'current')`)
  const move = database.command("UPDATE refresh_tokens SET state = :to WHERE grant_id = :grant AND state = :from")
  const renew = database.command(`
    UPDATE grants SET renewed_at = :now, expires_at = :expiresAt, refreshes = refreshes + :refreshes,
      replays = replays + :replays WHERE id = :id`)
  const outdated = database.query<{ readonly id: string }>(
    `SELECT CAST(id AS TEXT) AS id FROM grants WHERE ended_at IS NOT NULL ORDER BY grants.id DESC LIMIT -1 OFFSET ${maximumListed}`
  )
  const removals = [
    "authorization_codes WHERE grant_id",
    "bearer_tokens WHERE grant_id",
    "refresh_tokens WHERE grant_id",
    "grants WHERE id"
  ].map((rows) => database.command(`DELETE FROM ${rows} = :id`))
  // A replay sets the time of the tokens that it kills to 0: these stay.
  const removeDeadAccess = database.command(`
    DELETE FROM bearer_tokens WHERE expires_at > 0 AND expires_at < :before
      AND hash IN (SELECT access_hash FROM refresh_tokens WHERE grant_id = :grant AND state = 'dead')`)
  const removeDead = database.command(`
    DELETE FROM refresh_tokens WHERE grant_id = :grant AND state = 'dead'
      AND NOT EXISTS (SELECT 1 FROM bearer_tokens WHERE hash = access_hash)`)
  const detect = database.command("UPDATE grants SET reuse_detected = reuse_detected + 1 WHERE id = :id")
  const insertSigned = database.command(`
    INSERT INTO access_tokens (token, secret, app_id, user_id, rights, grant_id)
    VALUES (:token, :secret, :app, :user, :rights, :grant)`)
  const signedToken = database.query<{ readonly token: string; readonly secret: string }>(
    "SELECT token, secret FROM access_tokens WHERE grant_id = :grant"
  )
  const see = database.command("UPDATE grants SET renewed_at = :now WHERE id = :id")

  const close = (id: string, by: Ending, now: number): boolean => {
    const key = Snowflake.parse(id)
    if (end({ id: key, by, now }) === 0) return false
    if (forgetSigned({ id: key }) > 0) changed()
    return true
  }
  const livingOf = (kind: Grant["kind"], { app, userId }: Login) =>
    alive.get({ app: Snowflake.parse(app.id), user: Snowflake.parse(userId), kind })
  /** Ends what there is of the user and app, and makes another one. */
  const begin = (
    kind: Grant["kind"],
    login: Login,
    rights: Rights,
    scope: string,
    expiresAt: number | null
  ): string => {
    const earlier = livingOf(kind, login)
    if (earlier !== undefined) close(earlier.id, "new login", login.now)
    for (const { id } of outdated.all()) for (const remove of removals) remove({ id: Snowflake.parse(id) })
    const id = nextId(login.now)
    insert({
      id,
      app: Snowflake.parse(login.app.id),
      user: Snowflake.parse(login.userId),
      kind,
      scope,
      rights,
      now: login.now,
      expiresAt
    })
    return String(id)
  }
  const issue = (grantId: string, { app, now, userId }: Login, rights: Rights, scope: string): Tokens => {
    const accessToken = Mint.token("at", now)
    const expiresAt = now + accessSeconds * 1000
    const scopes = fromWire(scope)
    const grant = Snowflake.parse(grantId)
    const access = hashOf(accessToken)
    insertBearer({
      hash: access,
      app: Snowflake.parse(app.id),
      user: Snowflake.parse(userId),
      rights,
      scopes: scopes.join(" "),
      grant,
      expiresAt
    })
    const refreshToken = scopes.includes("offline.access") ? Mint.token("rt", now) : undefined
    if (refreshToken !== undefined) insertRefresh({ hash: hashOf(refreshToken), grant, access })
    return { grantId, accessToken, refreshToken, scope, expiresAt }
  }

  return {
    open: (login) =>
      database.transaction(() => {
        const { app: { rights }, now, scope } = login
        return issue(begin("OAuth 2.0", login, rights, scope, now + accessSeconds * 1000), login, rights, scope)
      }),
    refresh: (app, token, now) =>
      database.transaction(() => {
        const found = refreshToken.get({ hash: hashOf(token) })
        const row = found && byId.get({ id: Snowflake.parse(found.grantId) })
        if (found === undefined || row === undefined || row.appId !== app.id || row.endedAt !== null) return undefined
        const grant = Snowflake.parse(row.id)
        const isReplay = found.state === "spent" && app.client.rotation === "lenient" &&
          isSuccessorUsed.get({ grant }) === undefined
        if (found.state !== "current" && !isReplay) {
          detect({ id: grant })
          close(row.id, "refresh token reused", now)
          return undefined
        }
        if (isReplay) {
          expire({ grant })
          move({ grant, from: "current", to: "dead" })
        } else {
          move({ grant, from: "spent", to: "dead" })
          move({ grant, from: "current", to: "spent" })
          removeDeadAccess({ grant, before: now - reuseMillis })
          removeDead({ grant })
        }
        const tokens = issue(row.id, { app, userId: row.userId, now }, row.rights, row.scope)
        renew({ id: grant, now, expiresAt: tokens.expiresAt, refreshes: isReplay ? 0 : 1, replays: isReplay ? 1 : 0 })
        return tokens
      }),
    openSigned: (login) =>
      database.transaction(() => {
        const { app, now, rights, userId } = login
        const earlier = livingOf("OAuth 1.0a", login)
        if (earlier?.rights === rights) {
          const id = Snowflake.parse(earlier.id)
          const known = signedToken.get({ grant: id })
          if (known !== undefined) {
            see({ id, now })
            return { grantId: earlier.id, token: known.token, secret: Redacted.make(known.secret) }
          }
        }
        const grantId = begin("OAuth 1.0a", login, rights, "", null)
        const token = `${userId}-${Mint.text(40)}`
        const secret = Redacted.make(Mint.text(45))
        insertSigned({
          token,
          secret: Redacted.value(secret),
          app: Snowflake.parse(app.id),
          user: Snowflake.parse(userId),
          rights,
          grant: Snowflake.parse(grantId)
        })
        changed()
        return { grantId, token, secret }
      }),
    signed: (appId, userId) => {
      const [app, kind] = [Snowflake.parse(appId), "OAuth 1.0a"]
      const row = userId === undefined
        ? newest.get({ app, kind })
        : alive.get({ app, user: Snowflake.parse(userId), kind })
      return row && grantOf(row)
    },
    ofToken: (token) => {
      const row = ofToken.get({ hash: hashOf(token), token: Redacted.value(token) })
      return row && grantOf(row)
    },
    end: (id, by, now) => database.transaction(() => close(id, by, now)),
    byId: (id) => {
      const row = byId.get({ id: Snowflake.parse(id) })
      return row && grantOf(row)
    },
    list: (limit) => list.all({ limit }).map(grantOf)
  }
}

const columns = `CAST(g.id AS TEXT) AS id, g.kind, CAST(g.app_id AS TEXT) AS appId, CAST(g.user_id AS TEXT) AS userId,
  g.scope, g.rights, g.issued_at AS issuedAt, g.renewed_at AS renewedAt, g.expires_at AS expiresAt, g.refreshes, g.replays,
  g.reuse_detected AS reuseDetected, g.ended_at AS endedAt, g.ended_by AS endedBy`

type Row = Omit<Grant, "scopes" | "alive" | "expiresAt" | "endedAt" | "endedBy"> & {
  readonly scope: string
  readonly expiresAt: number | null
  readonly endedAt: number | null
  readonly endedBy: Ending | null
}

const grantOf = ({ endedAt, endedBy, expiresAt, scope, ...row }: Row): Grant => ({
  ...row,
  scopes: scope === "" ? [] : scope.split(" "),
  expiresAt: expiresAt ?? undefined,
  alive: endedAt === null,
  endedAt: endedAt ?? undefined,
  endedBy: endedBy ?? undefined
})
