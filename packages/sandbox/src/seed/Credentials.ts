/** Credentials of every kind, for ada and for an app alone. */
import { scopes } from "@postwire/core/Scopes"
import * as Redacted from "effect/Redacted"
import { make } from "../internal/random.ts"
import type * as Credentials from "../store/Credentials.ts"
import type { State } from "../store/Store.ts"
import { adaBorn } from "./Accounts.ts"
import { minute, type Options } from "./Plan.ts"

/** What was made, and how to sign in. Tokens depend on the seed alone. */
export interface Seeded {
  readonly users: number
  readonly posts: number
  /** The account that the user credentials belong to. */
  readonly ada: { readonly id: string; readonly username: string }
  /** Uploaded media of ada's that no post shows yet. */
  readonly mediaIds: ReadonlyArray<string>
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  readonly accessTokenSecret: Redacted.Redacted
  /** A token of ada's with all scopes. */
  readonly userBearerToken: Redacted.Redacted
  /** A token of the app alone. */
  readonly appBearerToken: Redacted.Redacted
}

/** Makes the credentials that are not there yet, and media of ada's to post. */
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
  if (store.credentials.appByConsumerKey(consumerKey) === undefined) {
    const appId = store.credentials.insertApp({
      name: "Sandbox app",
      access: "research",
      rights,
      consumerKey,
      consumerSecret,
      createdAt: adaBorn
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
    userBearerToken,
    appBearerToken
  }
}
