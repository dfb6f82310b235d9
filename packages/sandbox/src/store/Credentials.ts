/** Apps and their tokens. */
import type { AccessLevel } from "@postwire/core/schema/Parameters"
import type { Scope } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Mint from "./Mint.ts"
import * as Snowflake from "./Snowflake.ts"

/** What an app, or a token that was made while it had these rights, may do. */
export type Rights = "read" | "read-write" | "read-write-directmessages"

/** How an app signs users in with OAuth 2.0. */
export interface Client {
  readonly id: string
  /** Only confidential clients have one. */
  readonly secret: Redacted.Redacted | undefined
  /** Where users are sent back to: exactly these. OAuth 1.0a has the same. */
  readonly redirects: ReadonlyArray<string>
  /**
   * What becomes of a refresh token that is used twice: `strict` always ends the grant; `lenient` takes it once more as
   * long as nothing that it brought was used.
   */
  readonly rotation: "lenient" | "strict"
}

/** An app. */
export interface App {
  readonly id: string
  readonly name: string
  /** What its project may use: "research" opens the full archive and long queries. */
  readonly access: AccessLevel
  readonly rights: Rights
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
  readonly client: Client
}

/** An OAuth 1.0a token of a user. The text before its first `-` is the user's id. */
export interface AccessToken {
  readonly token: string
  readonly secret: Redacted.Redacted
  readonly appId: string
  readonly userId: string
  readonly rights: Rights
}

/** An OAuth 2.0 token: of a user, or of the app alone when there is none. */
export interface BearerToken {
  readonly appId: string
  readonly userId: string | undefined
  readonly rights: Rights
  readonly scopes: ReadonlyArray<Scope>
  /** In milliseconds since the epoch; never, when there is none. */
  readonly expiresAt?: number | undefined
}

/** A bearer token that does not expire and came with no grant. */
export interface NewBearerToken extends Omit<BearerToken, "expiresAt"> {
  readonly token: Redacted.Redacted
}

/** The credentials of a store. */
export interface Credentials {
  /** Returns the id. An app whose client is not given has one of its own, without redirects. */
  readonly insertApp: (
    app: Omit<App, "id" | "client"> & {
      /** Milliseconds since the epoch. */
      readonly createdAt: number
      readonly client?: Client
      /** The user whose app it is. */
      readonly ownerId?: string | undefined
    }
  ) => string
  /** The user whose app it is, where that is known. */
  readonly ownerOf: (appId: string) => string | undefined
  /** Newest first. */
  readonly apps: () => ReadonlyArray<App>
  readonly appById: (id: string) => App | undefined
  readonly appByConsumerKey: (key: string) => App | undefined
  readonly appByClientId: (id: string) => App | undefined
  /** Changes what the app may do. Tokens keep the rights that they were made with. */
  readonly setRights: (appId: string, rights: Rights) => void
  readonly insertAccessToken: (token: AccessToken) => void
  readonly accessToken: (token: string) => AccessToken | undefined
  readonly insertBearerToken: (token: NewBearerToken) => void
  /** Nothing, too, when the grant that the token came with has ended. */
  readonly bearerToken: (token: Redacted.Redacted) => BearerToken | undefined
  /** As {@link bearerToken}, and notes that the token was used. */
  readonly useBearerToken: (token: Redacted.Redacted) => BearerToken | undefined
  /** The token of an app alone: the same one until it is invalidated. */
  readonly appToken: (app: App) => Redacted.Redacted
  /** Forgets the token of an app alone; false when it is not the token of this app. */
  readonly invalidateAppToken: (app: App, token: Redacted.Redacted) => boolean
  /** Forgets tokens of a user that came with no grant; false when they are none of this app. */
  readonly forgetToken: (appId: string, token: Redacted.Redacted) => boolean
  /**
   * Every key, token and secret, to keep them out of texts; of bearer tokens those that were made here. The same set as
   * long as there is no other.
   */
  readonly secrets: () => ReadonlySet<string>
  /** Whether a text is a token or code of a user, also one of the past. */
  readonly isSecret: (text: string) => boolean
  /** To be called when others have taken their place. */
  readonly replaced: () => void
}

/**
 * The credentials in a database. Bearer tokens of users are stored as hashes. OAuth 1.0a secrets are stored as they are,
 * since a signature can only be checked with the secret itself: never put credentials of the real service into a sandbox.
 */
export const make = (database: Database): Credentials => {
  const nextId = ids(database, "apps")
  const insertApp = database.command(`
    INSERT INTO apps (
      id, name, access, rights, consumer_key, consumer_secret, client_id, client_secret, redirects, rotation
    ) VALUES (
      :id, :name, :access, :rights, :key, :secret, :clientId, :clientSecret, :redirects, :rotation
    )`)
  const insertOwner = database.command("INSERT INTO app_owners (app_id, user_id) VALUES (:app, :user)")
  const owner = database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM app_owners WHERE app_id = :app"
  )
  const apps = appsOf(database, "TRUE ORDER BY id DESC")
  const appById = appsOf(database, "id = :id")
  const appByKey = appsOf(database, "consumer_key = :key")
  const appByClientId = appsOf(database, "client_id = :id")
  const setRights = database.command("UPDATE apps SET rights = :rights WHERE id = :id")
  const appToken = database.query<{ readonly token: string | null }>(
    "SELECT app_token AS token FROM apps WHERE id = :id"
  )
  const setAppToken = database.command("UPDATE apps SET app_token = :token WHERE id = :id")
  const insertAccessToken = database.command(`
    INSERT INTO access_tokens (token, secret, app_id, user_id, rights) VALUES (:token, :secret, :app, :user, :rights)`)
  const accessToken = database.query<Omit<AccessToken, "secret"> & { readonly secret: string }>(`
    SELECT token, secret, CAST(app_id AS TEXT) AS appId, CAST(user_id AS TEXT) AS userId, rights
    FROM access_tokens WHERE token = :token`)
  const deleteAccessToken = database.command("DELETE FROM access_tokens WHERE token = :token AND app_id = :app")
  const insertBearerToken = database.command(`
    INSERT INTO bearer_tokens (hash, app_id, user_id, rights, scopes) VALUES (:hash, :app, :user, :rights, :scopes)`)
  const bearerToken = database.query<BearerRow>(`
    SELECT CAST(t.app_id AS TEXT) AS appId, CAST(t.user_id AS TEXT) AS userId, t.rights, t.scopes,
      t.expires_at AS expiresAt, t.grant_id IS NOT NULL AND t.used = 0 AS isFresh
    FROM bearer_tokens t LEFT JOIN grants g ON g.id = t.grant_id
    WHERE t.hash = :hash AND g.ended_at IS NULL`)
  const use = database.command("UPDATE bearer_tokens SET used = 1 WHERE hash = :hash")
  const deleteBearerToken = database.command(
    "DELETE FROM bearer_tokens WHERE hash = :hash AND app_id = :app AND grant_id IS NULL"
  )
  const known = database.query(`
    SELECT 1 FROM bearer_tokens WHERE hash = :hash UNION ALL SELECT 1 FROM refresh_tokens WHERE hash = :hash
    UNION ALL SELECT 1 FROM authorization_codes WHERE hash = :hash LIMIT 1`)

  const texts = database.query<{ readonly text: string }>(`
    SELECT consumer_key AS text FROM apps UNION ALL SELECT consumer_secret FROM apps
    UNION ALL SELECT client_secret FROM apps WHERE client_secret IS NOT NULL
    UNION ALL SELECT app_token FROM apps WHERE app_token IS NOT NULL
    UNION ALL SELECT token FROM access_tokens UNION ALL SELECT secret FROM access_tokens
    UNION ALL SELECT token FROM request_tokens UNION ALL SELECT secret FROM request_tokens`)
  const bearerTokens = new Set<string>()
  let secrets: ReadonlySet<string> | undefined

  const insert = ({ appId, rights, scopes, token, userId }: NewBearerToken) => {
    bearerTokens.add(Redacted.value(token))
    secrets = undefined
    database.transaction(() => {
      insertBearerToken({
        hash: hashOf(token),
        app: Snowflake.parse(appId),
        user: userId === undefined ? null : Snowflake.parse(userId),
        rights,
        scopes: scopes.join(" ")
      })
      if (userId === undefined) setAppToken({ id: Snowflake.parse(appId), token: Redacted.value(token) })
    })
  }
  const find = (token: Redacted.Redacted) => bearerToken.get({ hash: hashOf(token) })

  return {
    secrets: () => secrets ??= new Set([...bearerTokens, ...texts.all().map(({ text }) => text)]),
    isSecret: (text) => known.get({ hash: hashOf(Redacted.make(text)) }) !== undefined,
    replaced: () => void (secrets = undefined),
    insertApp: (
      { client = { id: Mint.clientId(), secret: undefined, redirects: [], rotation: "lenient" }, ownerId, ...app }
    ) => {
      secrets = undefined
      const id = nextId(app.createdAt)
      insertApp({
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
      if (ownerId !== undefined) insertOwner({ app: id, user: Snowflake.parse(ownerId) })
      return String(id)
    },
    ownerOf: (appId) => owner.get({ app: Snowflake.parse(appId) })?.id,
    apps: () => apps.all().map(appOf),
    appById: (id) => optional(appById.get({ id: Snowflake.parse(id) }), appOf),
    appByConsumerKey: (key) => optional(appByKey.get({ key }), appOf),
    appByClientId: (id) => optional(appByClientId.get({ id }), appOf),
    setRights: (appId, rights) => void setRights({ id: Snowflake.parse(appId), rights }),
    insertAccessToken: ({ appId, rights, secret, token, userId }) => {
      secrets = undefined
      insertAccessToken({
        token,
        secret: Redacted.value(secret),
        app: Snowflake.parse(appId),
        user: Snowflake.parse(userId),
        rights
      })
    },
    accessToken: (token) =>
      optional(accessToken.get({ token }), (row) => ({ ...row, secret: Redacted.make(row.secret) })),
    insertBearerToken: insert,
    bearerToken: (token) => optional(find(token), bearerTokenOf),
    useBearerToken: (token) => {
      const row = find(token)
      if (row?.isFresh === 1) use({ hash: hashOf(token) })
      return optional(row, bearerTokenOf)
    },
    appToken: ({ id, rights }) => {
      const known = appToken.get({ id: Snowflake.parse(id) })?.token
      if (typeof known === "string") return Redacted.make(known)
      const token = Mint.appToken()
      insert({ token, appId: id, userId: undefined, rights, scopes: [] })
      return token
    },
    invalidateAppToken: ({ id }, token) =>
      database.transaction(() => {
        const app = Snowflake.parse(id)
        if (appToken.get({ id: app })?.token !== Redacted.value(token)) return false
        setAppToken({ id: app, token: null })
        return deleteBearerToken({ hash: hashOf(token), app }) > 0
      }),
    forgetToken: (appId, token) => {
      const app = Snowflake.parse(appId)
      return deleteBearerToken({ hash: hashOf(token), app }) +
          deleteAccessToken({ token: Redacted.value(token), app }) > 0
    }
  }
}

/** What stands for a token in the tables. */
export const hashOf = (token: Redacted.Redacted): string => Crypto.hash("sha256", Redacted.value(token))

type AppRow =
  & Omit<App, "consumerSecret" | "client">
  & Record<"consumerSecret" | "clientId" | "redirects", string>
  & Pick<Client, "rotation">
  & { readonly clientSecret: string | null }

const appsOf = (database: Database, where: string) =>
  database.query<AppRow>(`
    SELECT CAST(id AS TEXT) AS id, name, access, rights, consumer_key AS consumerKey,
      consumer_secret AS consumerSecret, client_id AS clientId, client_secret AS clientSecret, redirects, rotation
    FROM apps WHERE ${where}`)

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
  // Only scopes are ever written.
  scopes: scopes === "" ? [] : scopes.split(" ") as Array<Scope>,
  ...(expiresAt !== null && { expiresAt })
})

const optional = <A, B>(value: A | undefined, f: (value: A) => B): B | undefined =>
  value === undefined ? undefined : f(value)
