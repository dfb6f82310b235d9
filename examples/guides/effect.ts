import { ClientConfig, Search, Users } from "@postwire/core"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer, Stream } from "effect"

// #region operations
const program = Effect.gen(function*() {
  const { data: ada } = yield* Users.getUser({ username: "ada" })
  const posts = yield* Search.searchRecentPosts.items({ query: "effect" }, { limit: 20 }).pipe(Stream.runCollect)
  return `${ada?.name} and ${posts.length} posts`
})
// #endregion

// #region environment
const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
console.log(await Effect.runPromise(Effect.provide(program, client)))
// #endregion

// #region values
import { Client, Credentials, RateLimit, Wire } from "@postwire/core"
import type { Redacted } from "effect"

export const layerX = (token: Redacted.Redacted) =>
  Client.layer({ wire: Wire.x, retries: 1, timeout: 30_000 }).pipe(
    Layer.provide([
      Credentials.layer({ bearerToken: token }),
      RateLimit.layerWait({ maxWait: 60_000 }),
      UndiciHttpClient.layer()
    ])
  )
// #endregion

// #region errors
export const nameOf = (username: string) =>
  Users.getUser({ username }).pipe(
    Effect.map(({ data }) => data?.name ?? "nobody"),
    Effect.catchTags({
      NotFound: () => Effect.succeed("nobody"),
      RateLimited: (error) => Effect.succeed(`somebody, from ${error.resetAt?.toISOString()}`)
    })
  )
// #endregion
console.log(await Effect.runPromise(Effect.provide(nameOf("ada"), client)))

// #region fetch
import { FetchHttpClient } from "effect/http"

const overFetch = ClientConfig.layer.pipe(Layer.provide(FetchHttpClient.layer))
// #endregion
console.log(await Effect.runPromise(Effect.provide(program, overFetch)))

// #region own
import { HttpClient, HttpClientRequest } from "effect/http"

/** Every request has one more header. */
const layerTagged = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-team", "research")))
).pipe(Layer.provide(UndiciHttpClient.layer()))

const tagged = ClientConfig.layer.pipe(Layer.provide(layerTagged))
// #endregion
console.log(await Effect.runPromise(Effect.provide(program, tagged)))

// #region tracing
import { Tracer } from "effect"

/** Any tracer works, such as that of OpenTelemetry. This one prints spans. */
const layerTracer = Layer.succeed(
  Tracer.Tracer,
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        end(time, exit)
        console.log(span.name, Object.fromEntries(span.attributes))
      }
      return span
    }
  })
)
// #endregion
await Effect.runPromise(program.pipe(Effect.provide(client), Effect.provide(layerTracer)))

// #region limits
const watch = Effect.gen(function*() {
  yield* Effect.forkScoped(Stream.runForEach(RateLimit.changes, (change) => Effect.log(change)))
  yield* program
  const budgets = yield* RateLimit.snapshot
  yield* Effect.log(budgets)
})
// #endregion
await Effect.runPromise(Effect.scoped(Effect.provide(watch, client)))

// #region policy
import { Semaphore } from "effect"

/** No more than two requests at a time, whatever the service allows. */
const layerTwoAtATime = Layer.effect(
  RateLimit.RateLimit,
  Effect.gen(function*() {
    const semaphore = yield* Semaphore.make(2)
    const policy = yield* RateLimit.RateLimit
    return {
      ...policy,
      guard: (bucket, send, patience) => semaphore.withPermits(1)(policy.guard(bucket, send, patience))
    }
  })
).pipe(Layer.provide(RateLimit.layerWait()))

const gentle = ClientConfig.layer.pipe(Layer.provide([UndiciHttpClient.layer(), layerTwoAtATime]))
// #endregion
console.log(await Effect.runPromise(Effect.provide(program, gentle)))

// #region beside
import { createClient } from "@postwire/node/EffectClient"

await using both = createClient()
const { data: me } = await both.getMe()
console.log(me?.name, "has", await both.effect.runPromise(program))
// #endregion
