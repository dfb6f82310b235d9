import { ClientConfig, Timelines, Users } from "@postwire/core"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Console, Effect, Layer, Stream } from "effect"

const program = Effect.gen(function*() {
  const { data: ada } = yield* Users.getUser({ username: "ada", user_fields: ["public_metrics"] })
  if (ada === undefined) return yield* Effect.die("there is no ada")
  yield* Console.log(`${ada.name} has ${ada.public_metrics.followers_count} followers`)

  yield* Timelines.getUsersPosts.items({ id: ada.id, post_fields: ["created_at"] }).pipe(
    Stream.takeUntil((post) => post.text.includes("Effect")),
    Stream.runForEach((post) => Console.log(post.created_at, post.text))
  )
}).pipe(
  Effect.catchTag("RateLimited", (error) => Console.log("Again at", error.resetAt))
)

const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
await Effect.runPromise(Effect.provide(program, client))
