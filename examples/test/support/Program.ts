// A program on fetch: nothing of Node.
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getMe, getUser } from "@postwire/core/operations/Users"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const program = Effect.gen(function*() {
  const user = yield* getUser({ username: "ada" })
  // Signed.
  const me = yield* getMe()
  const found = yield* Stream.runCollect(Stream.take(searchRecentPosts.items({ query: "effect", max_results: 10 }), 25))
  const invalid = yield* Effect.flip(searchRecentPosts({ query: "a", max_results: 1 }))
  const refused = yield* Effect.flip(searchRecentPosts({ query: "(" }))
  return {
    user: user.data?.name,
    me: me.data?.username,
    found: found.length,
    tags: [invalid._tag, refused._tag]
  }
})

export const run = (environment: Readonly<Record<string, string>>): Promise<unknown> =>
  Effect.runPromise(Effect.provide(
    program,
    Client.layer({ baseUrl: environment["POSTWIRE_BASE_URL"] }).pipe(Layer.provide([
      Credentials.layer({
        bearerToken: environment["POSTWIRE_BEARER_TOKEN"],
        consumerKey: environment["POSTWIRE_CONSUMER_KEY"],
        consumerSecret: environment["POSTWIRE_CONSUMER_SECRET"],
        accessToken: environment["POSTWIRE_ACCESS_TOKEN"],
        accessTokenSecret: environment["POSTWIRE_ACCESS_TOKEN_SECRET"]
      }),
      FetchHttpClient.layer
    ]))
  ))
