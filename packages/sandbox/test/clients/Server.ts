/** A sandbox on a port that speaks words of X alone, for clients that know nothing of it. */
import type { WireName } from "@postwire/core/schema/WireName"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Sandbox from "../../src/Sandbox.ts"
import { day, minute, secretsOf } from "../support/Requests.ts"

/** A seeded server with one more app, that only reads, and posts of ada's to find. It ends with the scope. */
export const serve = Effect.fnUntraced(function*(wire: Exclude<WireName, "neutral">) {
  const sandbox = Context.get(
    yield* Layer.build(Sandbox.layerServer({ posts: 300, wire })),
    Sandbox.Sandbox
  )
  const { seeded: { ada }, store } = sandbox
  const createdAt = Date.now()
  const rights = "read"
  const appId = store.credentials.insertApp({
    name: "reader",
    access: "standard",
    rights,
    consumerKey: "reader-key",
    consumerSecret: Redacted.make("reader-secret"),
    createdAt
  })
  const reader = {
    consumerKey: "reader-key",
    consumerSecret: "reader-secret",
    accessToken: `${ada.id}-reader`,
    accessTokenSecret: "reader-token-secret"
  }
  store.credentials.insertAccessToken({
    token: reader.accessToken,
    secret: Redacted.make(reader.accessTokenSecret),
    appId,
    userId: ada.id,
    rights
  })
  const likers = Array.from(
    { length: 5 },
    (_, n) => store.users.insert({ username: `liker_${n}`, name: `Liker ${n}`, createdAt: createdAt - day })
  )
  const liked = store.posts.insert({ authorId: ada.id, text: "liked by five", createdAt: createdAt - 60 * minute })
  for (const id of likers) store.likes.set(id, liked, true)
  // Ids follow the order of creation: the latest comes last, and first in listings.
  const needles = Array.from({ length: 25 }, (_, n) =>
    store.posts.insert({
      authorId: ada.id,
      text: `needle ${24 - n} (50% & more)`,
      createdAt: createdAt - 60 * minute + n * minute,
      ...(n === 24 ? { quotedPostId: liked } : {})
    })).reverse()
  return { ...sandbox, secrets: secretsOf(sandbox), reader, likers, liked, needles }
})
