/** Seeds credentials of every kind, for ada and app-only. */
import { scopes } from "@postwire/core/schema/Scopes"
import * as Redacted from "effect/Redacted"
import type * as Credentials from "../store/Credentials.ts"
import * as Mint from "../store/Mint.ts"
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import { adaBorn } from "./Accounts.ts"
import { minute, type Options } from "./Plan.ts"

/** The seeded accounts and credentials. Tokens depend on nothing but the seed. */
export interface Seeded {
  readonly users: number
  readonly posts: number
  /** The account of the user credentials. */
  readonly ada: { readonly id: string; readonly username: string }
  /** Unused media of ada. */
  readonly mediaIds: ReadonlyArray<string>
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  readonly accessTokenSecret: Redacted.Redacted
  /** OAuth 2.0 clients: of the app of these credentials, and of another app without a secret. */
  readonly confidentialClient: { readonly id: string; readonly secret: Redacted.Redacted }
  readonly publicClient: { readonly id: string }
  /** The redirect URLs of both. */
  readonly redirects: ReadonlyArray<string>
  /** A bearer token of ada with all scopes. */
  readonly userBearerToken: Redacted.Redacted
  /** An app-only bearer token. */
  readonly appBearerToken: Redacted.Redacted
}

/** The redirect URLs of `postwire login` and other programs; 8081, since the sandbox uses 8080. */
const redirects = [8080, 8081].flatMap((
  port
) => [`http://localhost:${port}/callback`, `http://127.0.0.1:${port}/callback`])

/** Creates missing credentials, and media of ada to post. */
export const insertCredentials = (
  store: State,
  { posts, seed, start }: Options,
  { id, username }: Seeded["ada"],
  users: number
): Seeded => {
  const random = make(seed, "credentials")
  const secret = (length: number) => Redacted.make(random.text(length))
  const consumerKey = random.text(25)
  const consumerSecret = secret(50)
  const token = `${id}-${random.text(30)}`
  const accessTokenSecret = secret(45)
  const userBearerToken = secret(72)
  const appBearerToken = secret(104)
  const rights: Credentials.Rights = "read-write-directmessages"
  const clients = make(seed, "clients")
  const confidentialClient = { id: Mint.clientId(clients.text(20)), secret: Redacted.make(clients.text(50)) }
  const publicClient = { id: Mint.clientId(clients.text(20)) }
  if (store.credentials.appByConsumerKey(consumerKey) === undefined) {
    const appId = store.credentials.insertApp({
      name: "Sandbox app",
      access: "research",
      rights,
      consumerKey,
      consumerSecret,
      client: { ...confidentialClient, redirects, rotation: "lenient" },
      createdAt: adaBorn,
      ownerId: id
    })
    store.credentials.insertApp({
      name: "Sandbox app without a secret",
      access: "research",
      rights,
      consumerKey: clients.text(25),
      consumerSecret: Redacted.make(clients.text(50)),
      client: { ...publicClient, secret: undefined, redirects, rotation: "lenient" },
      createdAt: adaBorn,
      ownerId: id
    })
    store.credentials.insertAccessToken({ token, secret: accessTokenSecret, appId, userId: id, rights })
    store.credentials.insertBearerToken({
      token: userBearerToken,
      appId,
      userId: id,
      rights,
      scopes
    })
    store.credentials.insertBearerToken({ token: appBearerToken, appId, userId: undefined, rights, scopes: [] })
  }
  return {
    users,
    posts,
    ada: { id, username },
    mediaIds: (["photo", "photo", "video"] as const).map((type, i) =>
      store.attachments.insertMedia({
        ownerId: id,
        type,
        createdAt: start - minute,
        facts: { width: 1200, height: 800, url: `https://media.sandbox.invalid/draft${i + 1}` }
      })
    ),
    consumerKey,
    consumerSecret,
    accessToken: Redacted.make(token),
    accessTokenSecret,
    confidentialClient,
    publicClient,
    redirects,
    userBearerToken,
    appBearerToken
  }
}
