import { Credentials, Posts } from "@postwire/core"
import * as Client from "@postwire/core/client/Client"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"

const program = Posts.getPost({ id: "1", post_fields: ["created_at"] }).pipe(
  Effect.tap(({ data }) => Effect.log(data?.created_at, data?.text)),
  Effect.catchTag("RateLimited", ({ resetAt }) => Effect.log("again at", resetAt))
)

const client = Client.layer({ baseUrl: "https://service.example" }).pipe(
  Layer.provide([Credentials.layerBearer("token"), FetchHttpClient.layer])
)
await Effect.runPromise(Effect.provide(program, client))
