/** Apps and their tokens. */
import type { AccessLevel } from "@postwire/core/Parameters"
import type { Scope } from "@postwire/core/Scopes"
import * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** What an app, or a token that was made while it had these rights, may do. */
export type Rights = "read" | "read-write" | "read-write-directmessages"

/** An app. */
export interface App {
  readonly id: string
  readonly name: string
  /** What its project may use: "research" opens the full archive and long queries. */
  readonly access: AccessLevel
  readonly rights: Rights
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
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
}

/** The credentials of a store. */
export interface Credentials {
  /** Returns the id. */
  readonly insertApp: (
    app: Omit<App, "id"> & { /** Milliseconds since the epoch. */ readonly createdAt: number }
  ) => string
  readonly appById: (id: string) => App | undefined
  readonly appByConsumerKey: (key: string) => App | undefined
  /** Changes what the app may do. Tokens keep the rights that they were made with. */
  readonly setRights: (appId: string, rights: Rights) => void
  readonly insertAccessToken: (token: AccessToken) => void
  readonly accessToken: (token: string) => AccessToken | undefined
  readonly insertBearerToken: (token: BearerToken & { readonly token: Redacted.Redacted }) => void
  readonly bearerToken: (token: Redacted.Redacted) => BearerToken | undefined
  /**
   * Every key, token and secret, to keep them out of texts; of bearer tokens those that were made here. The same set as
   * long as there is no other.
   */
  readonly secrets: () => ReadonlySet<string>
  /** To be called when others have taken their place. */
  readonly replaced: () => void
}

/**
 * The credentials in a database. Bearer tokens are stored as hashes. OAuth 1.0a secrets are stored as they are, since a
 * signature can only be checked with the secret itself: never put credentials of the real service into a sandbox.
 */
export const make = (database: Database): Credentials => {
  const nextId = ids(database, "apps")
  const insertApp = database.command(`
    INSERT INTO apps (id, name, access, rights, consumer_key, consumer_secret)
    VALUES (:id, :name, :access, :rights, :key, :secret)`)
  const app = (where: string) =>
    database.query<Omit<App, "consumerSecret"> & { readonly consumerSecret: string }>(`
      SELECT CAST(id AS TEXT) AS id, name, access, rights, consumer_key AS consumerKey,
        consumer_secret AS consumerSecret
      FROM apps WHERE ${where}`)
  const appById = app("id = :id")
  const appByKey = app("consumer_key = :key")
  const setRights = database.command("UPDATE apps SET rights = :rights WHERE id = :id")
  const insertAccessToken = database.command(`
    INSERT INTO access_tokens (token, secret, app_id, user_id, rights) VALUES (:token, :secret, :app, :user, :rights)`)
  const accessToken = database.query<Omit<AccessToken, "secret"> & { readonly secret: string }>(`
    SELECT token, secret, CAST(app_id AS TEXT) AS appId, CAST(user_id AS TEXT) AS userId, rights
    FROM access_tokens WHERE token = :token`)
  const insertBearerToken = database.command(`
    INSERT INTO bearer_tokens (hash, app_id, user_id, rights, scopes) VALUES (:hash, :app, :user, :rights, :scopes)`)
  const bearerToken = database.query<
    { readonly appId: string; readonly userId: string | null; readonly rights: Rights; readonly scopes: string }
  >(`
    SELECT CAST(app_id AS TEXT) AS appId, CAST(user_id AS TEXT) AS userId, rights, scopes
    FROM bearer_tokens WHERE hash = :hash`)

  const texts = database.query<{ readonly text: string }>(`
    SELECT consumer_key AS text FROM apps UNION ALL SELECT consumer_secret FROM apps
    UNION ALL SELECT token FROM access_tokens UNION ALL SELECT secret FROM access_tokens`)
  const bearerTokens = new Set<string>()
  let secrets: ReadonlySet<string> | undefined

  return {
    secrets: () => secrets ??= new Set([...bearerTokens, ...texts.all().map(({ text }) => text)]),
    replaced: () => void (secrets = undefined),
    insertApp: (app) => {
      secrets = undefined
      const id = nextId(app.createdAt)
      insertApp({
        id,
        name: app.name,
        access: app.access,
        rights: app.rights,
        key: app.consumerKey,
        secret: Redacted.value(app.consumerSecret)
      })
      return String(id)
    },
    appById: (id) => {
      const row = appById.get({ id: Snowflake.parse(id) })
      return row && { ...row, consumerSecret: Redacted.make(row.consumerSecret) }
    },
    appByConsumerKey: (key) => {
      const row = appByKey.get({ key })
      return row && { ...row, consumerSecret: Redacted.make(row.consumerSecret) }
    },
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
    accessToken: (token) => {
      const row = accessToken.get({ token })
      return row && { ...row, secret: Redacted.make(row.secret) }
    },
    insertBearerToken: ({ appId, rights, scopes, token, userId }) => {
      bearerTokens.add(Redacted.value(token))
      secrets = undefined
      insertBearerToken({
        hash: Crypto.hash("sha256", Redacted.value(token)),
        app: Snowflake.parse(appId),
        user: userId === undefined ? null : Snowflake.parse(userId),
        rights,
        scopes: scopes.join(" ")
      })
    },
    bearerToken: (token) => {
      const row = bearerToken.get({ hash: Crypto.hash("sha256", Redacted.value(token)) })
      return row && {
        appId: row.appId,
        userId: row.userId ?? undefined,
        rights: row.rights,
        // Written above from this very list.
        scopes: row.scopes === "" ? [] : row.scopes.split(" ") as Array<Scope>
      }
    }
  }
}
