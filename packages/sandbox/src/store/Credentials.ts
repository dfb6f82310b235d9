/** Apps and their tokens. */
import type { AccessLevel } from "@postwire/core/schema/Parameters"
import type { Scope } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import type { Database } from "./Database.ts"
import { ids, optionalId } from "./Ids.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

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

/** An OAuth 1.0a token of a user. It starts with the user's id and `-`. */
export interface AccessToken {
  readonly token: string
  readonly secret: Redacted.Redacted
  readonly appId: string
  readonly userId: string
  readonly rights: Rights
}

/** An OAuth 2.0 token: of a user, or app-only if there is no user. */
export interface BearerToken {
  readonly appId: string
  readonly userId: string | undefined
  readonly rights: Rights
  readonly scopes: ReadonlyArray<Scope>
  /** In milliseconds since the epoch; a token without it never expires. */
  readonly expiresAt?: number | undefined
}

/** A bearer token that never expires and belongs to no grant. */
export interface NewBearerToken extends Omit<BearerToken, "expiresAt"> {
  readonly token: Redacted.Redacted
}

export interface Credentials {
  /** Returns the id. The default client has a random id and no redirect URLs. */
  readonly insertApp: (
    app: Omit<App, "id" | "client"> & {
      /** Milliseconds since the epoch. */
      readonly createdAt: number
      readonly client?: Client
      /** The owner of the app. */
      readonly ownerId?: string | undefined
    }
  ) => string
  /** The owner of an app, if known. */
  readonly ownerOf: (appId: string) => string | undefined
  /** Newest first. */
  readonly apps: () => ReadonlyArray<App>
  readonly appById: (id: string) => App | undefined
  readonly appByConsumerKey: (key: string) => App | undefined
  readonly appByClientId: (id: string) => App | undefined
  /** Changes the permissions of the app. Existing tokens keep theirs. */
  readonly setRights: (appId: string, rights: Rights) => void
  readonly insertAccessToken: (token: AccessToken) => void
  readonly accessToken: (token: string) => AccessToken | undefined
  readonly insertBearerToken: (token: NewBearerToken) => void
  /** Undefined also if the token's grant has ended. */
  readonly bearerToken: (token: Redacted.Redacted) => BearerToken | undefined
  /** Like {@link bearerToken}, and marks the token as used. */
  readonly useBearerToken: (token: Redacted.Redacted) => BearerToken | undefined
  /** The app-only token: the same one until it is invalidated. */
  readonly appToken: (app: App) => Redacted.Redacted
  /** Invalidates the app-only token; false if it is not the token of this app. */
  readonly invalidateAppToken: (app: App, token: Redacted.Redacted) => boolean
  /** Deletes a token of a user that belongs to no grant; false if it is not a token of this app. */
  readonly forgetToken: (appId: string, token: Redacted.Redacted) => boolean
  /**
   * All keys, tokens and secrets, for redaction; bearer tokens only as far as this process created them. Returns the same
   * set until a credential is added.
   */
  readonly secrets: () => ReadonlySet<string>
  /** True if the text is a current or former token or code of a user. */
  readonly isSecret: (text: string) => boolean
  /** Must be called after credentials were added or replaced elsewhere. */
  readonly replaced: () => void
}

const statements = (database: Database) => ({
  insertApp: database.command(`
    INSERT INTO apps (
      id, name, access, rights, consumer_key, consumer_secret, client_id, client_secret, redirects, rotation
    ) VALUES (
      :id, :name, :access, :rights, :key, :secret, :clientId, :clientSecret, :redirects, :rotation
    )`),
  insertOwner: database.command("INSERT INTO app_owners (app_id, user_id) VALUES (:app, :user)"),
  owner: database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM app_owners WHERE app_id = :app"
  ),
  apps: appsOf(database, "TRUE ORDER BY id DESC"),
  appById: appsOf(database, "id = :id"),
  appByKey: appsOf(database, "consumer_key = :key"),
  appByClientId: appsOf(database, "client_id = :id"),
  setRights: database.command("UPDATE apps SET rights = :rights WHERE id = :id"),
  appToken: database.query<{ readonly token: string | null }>(
    "SELECT app_token AS token FROM apps WHERE id = :id"
  ),
  setAppToken: database.command("UPDATE apps SET app_token = :token WHERE id = :id"),
  insertAccessToken: database.command(`
    INSERT INTO access_tokens (token, secret, app_id, user_id, rights) VALUES (:token, :secret, :app, :user, :rights)`),
  accessToken: database.queryAs(
    `
    SELECT token, secret, CAST(app_id AS TEXT) AS appId, CAST(user_id AS TEXT) AS userId, rights
    FROM access_tokens WHERE token = :token`,
    ({ secret, ...token }: Omit<AccessToken, "secret"> & { readonly secret: string }): AccessToken => ({
      ...token,
      secret: Redacted.make(secret)
    })
  ),
  deleteAccessToken: database.command("DELETE FROM access_tokens WHERE token = :token AND app_id = :app"),
  insertBearerToken: database.command(`
    INSERT INTO bearer_tokens (hash, app_id, user_id, rights, scopes) VALUES (:hash, :app, :user, :rights, :scopes)`),
  bearerToken: database.query<BearerRow>(`
    SELECT CAST(t.app_id AS TEXT) AS appId, CAST(t.user_id AS TEXT) AS userId, t.rights, t.scopes,
      t.expires_at AS expiresAt, t.grant_id IS NOT NULL AND t.used = 0 AS isFresh
    FROM bearer_tokens t LEFT JOIN grants g ON g.id = t.grant_id
    WHERE t.hash = :hash AND g.ended_at IS NULL`),
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

/**
 * Stores bearer tokens of users as hashes. OAuth 1.0a secrets are stored in plain text, because checking a signature
 * requires the secret: never put credentials of the real service into a sandbox.
 */
export const make = (database: Database): Credentials => {
  const sql = statements(database)
  const nextId = ids(database, "apps")
  const bearerTokens = new Set<string>()
  let secrets: ReadonlySet<string> | undefined
  const insert = ({ appId, rights, scopes, token, userId }: NewBearerToken) => {
    bearerTokens.add(Redacted.value(token))
    secrets = undefined
    database.transaction(() => {
      sql.insertBearerToken({
        hash: hashOf(token),
        app: Snowflake.parse(appId),
        user: optionalId(userId),
        rights,
        scopes: scopes.join(" ")
      })
      if (userId === undefined) sql.setAppToken({ id: Snowflake.parse(appId), token: Redacted.value(token) })
    })
  }
  const find = (token: Redacted.Redacted) => sql.bearerToken.get({ hash: hashOf(token) })

  return {
    secrets: () => secrets ??= new Set([...bearerTokens, ...sql.texts.all().map(({ text }) => text)]),
    isSecret: (text) => sql.known.get({ hash: hashOf(Redacted.make(text)) }) !== undefined,
    replaced: () => void (secrets = undefined),
    insertApp: (
      { client = { id: Mint.clientId(), secret: undefined, redirects: [], rotation: "lenient" }, ownerId, ...app }
    ) => {
      secrets = undefined
      const id = nextId(app.createdAt)
      sql.insertApp({
        id,
        name: app.name,
        access: app.access,
        rights: app.rights,
        key: app.consumerKey,
        secret: Redacted.value(app.consumerSecret),
        clientId: client.id,
        clientSecret: client.secret === undefined ? null : Redacted.value(client.secret),
        redirects: JSON.stringify(client.redirects),
        rotation: client.rotation
      })
      if (ownerId !== undefined) sql.insertOwner({ app: id, user: Snowflake.parse(ownerId) })
      return String(id)
    },
    ownerOf: (appId) => sql.owner.get({ app: Snowflake.parse(appId) })?.id,
    apps: () => sql.apps.all(),
    appById: (id) => sql.appById.get({ id: Snowflake.parse(id) }),
    appByConsumerKey: (key) => sql.appByKey.get({ key }),
    appByClientId: (id) => sql.appByClientId.get({ id }),
    setRights: (appId, rights) => void sql.setRights({ id: Snowflake.parse(appId), rights }),
    insertAccessToken: ({ appId, rights, secret, token, userId }) => {
      secrets = undefined
      sql.insertAccessToken({
        token,
        secret: Redacted.value(secret),
        app: Snowflake.parse(appId),
        user: Snowflake.parse(userId),
        rights
      })
    },
    accessToken: (token) => sql.accessToken.get({ token }),
    insertBearerToken: insert,
    bearerToken: (token) => {
      const row = find(token)
      return row && bearerTokenOf(row)
    },
    useBearerToken: (token) => {
      const row = find(token)
      if (row?.isFresh === 1) sql.use({ hash: hashOf(token) })
      return row && bearerTokenOf(row)
    },
    appToken: ({ id, rights }) => {
      const known = sql.appToken.get({ id: Snowflake.parse(id) })?.token
      if (typeof known === "string") return Redacted.make(known)
      const token = Mint.appToken()
      insert({ token, appId: id, userId: undefined, rights, scopes: [] })
      return token
    },
    invalidateAppToken: ({ id }, token) =>
      database.transaction(() => {
        const app = Snowflake.parse(id)
        if (sql.appToken.get({ id: app })?.token !== Redacted.value(token)) return false
        sql.setAppToken({ id: app, token: null })
        return sql.deleteBearerToken({ hash: hashOf(token), app }) > 0
      }),
    forgetToken: (appId, token) => {
      const app = Snowflake.parse(appId)
      return sql.deleteBearerToken({ hash: hashOf(token), app }) +
          sql.deleteAccessToken({ token: Redacted.value(token), app }) > 0
    }
  }
}

/** The hash that represents a token in the tables. */
export const hashOf = (token: Redacted.Redacted): string => Crypto.hash("sha256", Redacted.value(token))

type AppRow =
  & Omit<App, "consumerSecret" | "client">
  & Record<"consumerSecret" | "clientId" | "redirects", string>
  & Pick<Client, "rotation">
  & { readonly clientSecret: string | null }

const appsOf = (database: Database, where: string) =>
  database.queryAs(
    `
    SELECT CAST(id AS TEXT) AS id, name, access, rights, consumer_key AS consumerKey,
      consumer_secret AS consumerSecret, client_id AS clientId, client_secret AS clientSecret, redirects, rotation
    FROM apps WHERE ${where}`,
    appOf
  )

const appOf = ({ clientId, clientSecret, consumerSecret, redirects, rotation, ...app }: AppRow): App => ({
  ...app,
  consumerSecret: Redacted.make(consumerSecret),
  client: {
    id: clientId,
    secret: clientSecret === null ? undefined : Redacted.make(clientSecret),
    redirects: JSON.parse(redirects),
    rotation
  }
})

interface BearerRow {
  readonly appId: string
  readonly userId: string | null
  readonly rights: Rights
  readonly scopes: string
  readonly expiresAt: number | null
  readonly isFresh: number
}

const bearerTokenOf = ({ appId, expiresAt, rights, scopes, userId }: BearerRow): BearerToken => ({
  appId,
  userId: userId ?? undefined,
  rights,
  // `insertBearerToken` writes only scopes.
  scopes: scopes === "" ? [] : scopes.split(" ") as Array<Scope>,
  ...(expiresAt !== null && { expiresAt })
})
