/** Apps and their tokens. */
import type { AccessLevel } from "@postwire/core/schema/Parameters"
import type { Scope } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Mint from "./Mint.ts"
import * as Records from "./Records.ts"

/** The permissions of an app. A token keeps the permissions that its app had when the token was issued. */
export type Rights = "read" | "read-write" | "read-write-directmessages"

/** The OAuth 2.0 settings of an app. */
export interface Client {
  readonly id: string
  /** Only confidential clients have one. */
  readonly secret: Redacted.Redacted | undefined
  /** The allowed redirect URLs, compared exactly. OAuth 1.0a uses the same. */
  readonly redirects: ReadonlyArray<string>
  /**
   * How to treat a refresh token that is used twice: `strict` always ends the grant; `lenient` accepts it again as long as
   * none of the tokens issued for it was used.
   */
  readonly rotation: "lenient" | "strict"
}

export interface App {
  readonly id: string
  readonly name: string
  /** The access level of its project: "research" permits the full archive and long queries. */
  readonly access: AccessLevel
  readonly rights: Rights
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
  readonly client: Client
}

const app = Records.map(
  Records.record("a", {
    id: Records.id(),
    name: Records.text(),
    access: Records.text<AccessLevel>(),
    rights: Records.text<Rights>(),
    consumerKey: Records.text("consumer_key"),
    consumerSecret: Records.secret("consumer_secret"),
    clientId: Records.text("client_id"),
    clientSecret: Records.optional(Records.secret("client_secret")),
    redirects: Records.json<ReadonlyArray<string>>(),
    rotation: Records.text<Client["rotation"]>()
  }),
  ({ clientId, clientSecret, redirects, rotation, ...app }): App => ({
    ...app,
    client: { id: clientId, secret: clientSecret, redirects, rotation }
  })
)

const accessToken = Records.record("t", {
  token: Records.text(),
  secret: Records.secret(),
  appId: Records.id("app_id"),
  userId: Records.id("user_id"),
  rights: Records.text<Rights>()
})

/** An OAuth 1.0a token of a user. It starts with the user's id and `-`. */
export type AccessToken = Records.Of<typeof accessToken>

const bearer = Records.record("t", {
  appId: Records.id("app_id"),
  userId: Records.optional(Records.id("user_id")),
  rights: Records.text<Rights>(),
  scopes: Records.words<Scope>(),
  /** In milliseconds since the epoch; a token without it never expires. */
  expiresAt: Records.optional(Records.number("expires_at")),
  /** True if it belongs to a grant and was never used. */
  isFresh: Records.flag("t.grant_id IS NOT NULL AND t.used = 0")
})

/** An OAuth 2.0 token: of a user, or app-only if there is no user. */
export type BearerToken = Records.Of<typeof bearer>

/** A bearer token that never expires and belongs to no grant. */
export interface NewBearerToken extends Pick<BearerToken, "appId" | "rights" | "scopes"> {
  readonly userId: string | undefined
  readonly token: Redacted.Redacted
}

/** The input of `insertApp`. */
export interface NewApp extends Omit<App, "id" | "client"> {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Default: a random id and no redirect URLs. */
  readonly client?: Client
  /** The owner of the app. */
  readonly ownerId?: string | undefined
}

const statements = (database: Database) => ({
  owner: database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM app_owners WHERE app_id = :app"
  ),
  apps: database.select(app, "FROM apps a ORDER BY a.id DESC"),
  appById: database.select(app, "FROM apps a WHERE id = :id"),
  appByKey: database.select(app, "FROM apps a WHERE consumer_key = :key"),
  appByClientId: database.select(app, "FROM apps a WHERE client_id = :id"),
  setRights: database.command("UPDATE apps SET rights = :rights WHERE id = :id"),
  appToken: database.query<{ readonly token: string | null }>("SELECT app_token AS token FROM apps WHERE id = :id"),
  setAppToken: database.command("UPDATE apps SET app_token = :token WHERE id = :id"),
  accessToken: database.select(accessToken, "FROM access_tokens t WHERE token = :token"),
  deleteAccessToken: database.command("DELETE FROM access_tokens WHERE token = :token AND app_id = :app"),
  bearerToken: database.select(
    bearer,
    "FROM bearer_tokens t LEFT JOIN grants g ON g.id = t.grant_id WHERE t.hash = :hash AND g.ended_at IS NULL"
  ),
  use: database.command("UPDATE bearer_tokens SET used = 1 WHERE hash = :hash"),
  deleteBearerToken: database.command(
    "DELETE FROM bearer_tokens WHERE hash = :hash AND app_id = :app AND grant_id IS NULL"
  ),
  known: database.query(`
    SELECT 1 FROM bearer_tokens WHERE hash = :hash UNION ALL SELECT 1 FROM refresh_tokens WHERE hash = :hash
    UNION ALL SELECT 1 FROM authorization_codes WHERE hash = :hash LIMIT 1`),
  texts: database.query<{ readonly text: string }>(`
    SELECT consumer_key AS text FROM apps UNION ALL SELECT consumer_secret FROM apps
    UNION ALL SELECT client_secret FROM apps WHERE client_secret IS NOT NULL
    UNION ALL SELECT app_token FROM apps WHERE app_token IS NOT NULL
    UNION ALL SELECT token FROM access_tokens UNION ALL SELECT secret FROM access_tokens
    UNION ALL SELECT token FROM request_tokens UNION ALL SELECT secret FROM request_tokens`)
})

export type Credentials = ReturnType<typeof make>

/**
 * Stores bearer tokens of users as hashes. OAuth 1.0a secrets are stored in plain text, because checking a signature
 * requires the secret: never put credentials of the real service into a sandbox.
 */
export const make = (database: Database) => {
  const sql = statements(database)
  const nextId = ids(database, "apps")
  const bearerTokens = new Set<string>()
  let secrets: ReadonlySet<string> | undefined
  const insertBearerToken = ({ appId, rights, scopes, token, userId }: NewBearerToken): void => {
    bearerTokens.add(Redacted.value(token))
    secrets = undefined
    database.transaction(() => {
      database.insert("bearer_tokens", {
        hash: hashOf(token),
        app_id: appId,
        user_id: userId,
        rights,
        scopes: scopes.join(" ")
      })
      if (userId === undefined) sql.setAppToken({ id: appId, token: Redacted.value(token) })
    })
  }
  const bearerToken = (token: Redacted.Redacted) => sql.bearerToken.get({ hash: hashOf(token) })

  return {
    /**
     * All keys, tokens and secrets, for redaction; bearer tokens only as far as this process created them. Returns the
     * same set until a credential is added.
     */
    secrets: (): ReadonlySet<string> =>
      secrets ??= new Set([...bearerTokens, ...sql.texts.all().map(({ text }) => text)]),
    /** True if the text is a current or former token or code of a user. */
    isSecret: (text: string): boolean => sql.known.get({ hash: hashOf(Redacted.make(text)) }) !== undefined,
    /** Must be called after credentials were added or replaced elsewhere. */
    replaced: (): void => void (secrets = undefined),
    /** Returns the id. */
    insertApp: (app: NewApp): string => {
      secrets = undefined
      const id = nextId(app.createdAt)
      const { client = { id: Mint.clientId(), secret: undefined, redirects: [], rotation: "lenient" }, ownerId } = app
      database.insert("apps", {
        id,
        name: app.name,
        access: app.access,
        rights: app.rights,
        consumer_key: app.consumerKey,
        consumer_secret: Redacted.value(app.consumerSecret),
        client_id: client.id,
        client_secret: client.secret && Redacted.value(client.secret),
        redirects: client.redirects,
        rotation: client.rotation
      })
      if (ownerId !== undefined) database.insert("app_owners", { app_id: id, user_id: ownerId })
      return String(id)
    },
    /** The owner of an app, if known. */
    ownerOf: (app: string): string | undefined => sql.owner.get({ app })?.id,
    /** Newest first. */
    apps: () => sql.apps.all(),
    appById: (id: string) => sql.appById.get({ id }),
    appByConsumerKey: (key: string) => sql.appByKey.get({ key }),
    appByClientId: (id: string) => sql.appByClientId.get({ id }),
    /** Changes the permissions of the app. Existing tokens keep theirs. */
    setRights: (id: string, rights: Rights): void => void sql.setRights({ id, rights }),
    insertAccessToken: ({ appId, rights, secret, token, userId }: AccessToken): void => {
      secrets = undefined
      database.insert("access_tokens", {
        token,
        secret: Redacted.value(secret),
        app_id: appId,
        user_id: userId,
        rights
      })
    },
    accessToken: (token: string) => sql.accessToken.get({ token }),
    insertBearerToken,
    /** Undefined also if the token's grant has ended. */
    bearerToken,
    /** Like `bearerToken`, and marks the token as used. */
    useBearerToken: (token: Redacted.Redacted): BearerToken | undefined => {
      const found = bearerToken(token)
      if (found?.isFresh === true) sql.use({ hash: hashOf(token) })
      return found
    },
    /** The app-only token: the same one until it is invalidated. */
    appToken: ({ id, rights }: App): Redacted.Redacted => {
      const known = sql.appToken.get({ id })?.token
      if (typeof known === "string") return Redacted.make(known)
      const token = Mint.appToken()
      insertBearerToken({ token, appId: id, userId: undefined, rights, scopes: [] })
      return token
    },
    /** Invalidates the app-only token; false if it is not the token of this app. */
    invalidateAppToken: ({ id }: App, token: Redacted.Redacted): boolean =>
      database.transaction(() => {
        if (sql.appToken.get({ id })?.token !== Redacted.value(token)) return false
        sql.setAppToken({ id, token: null })
        return sql.deleteBearerToken({ hash: hashOf(token), app: id }) > 0
      }),
    /** Deletes a token of a user that belongs to no grant; false if it is not a token of this app. */
    forgetToken: (app: string, token: Redacted.Redacted): boolean =>
      sql.deleteBearerToken({ hash: hashOf(token), app }) +
          sql.deleteAccessToken({ token: Redacted.value(token), app }) > 0
  }
}

/** The hash that represents a token in the tables. */
export const hashOf = (token: Redacted.Redacted): string => Crypto.hash("sha256", Redacted.value(token))
