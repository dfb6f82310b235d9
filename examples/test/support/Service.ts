// A sandbox in a process of its own, whose clock stands still: the same call gives the same answer whenever it comes.
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Clock, Console, Effect, Redacted } from "effect"

const program = Effect.gen(function*() {
  const { adminToken, baseUrl, seeded, store } = yield* Sandbox.Sandbox
  const at = yield* Clock.currentTimeMillis
  const other = store.users.insert({ username: "parity_other", name: "Other", createdAt: at - 900 * 86_400_000 })
  const third = store.users.insert({ username: "parity_third", name: "Third", createdAt: at - 800 * 86_400_000 })
  const root = store.posts.insert({ authorId: seeded.ada.id, text: "effect", createdAt: at - 7_200_000 })
  const own = { authorId: seeded.ada.id, inReplyToPostId: root }
  const ids = {
    user: other,
    others: third,
    // Of ada and in her conversation, so that it can be deleted as well as hidden.
    post: store.posts.insert({ ...own, text: "effect @parity_other", createdAt: at - 3_600_000 }),
    list: store.lists.insert({ ownerId: other, name: "List", createdAt: at - 86_400_000 }),
    space: store.spaces.insert({ creatorId: seeded.ada.id, title: "effect", createdAt: at - 86_400_000, startedAt: at })
  }
  const secrets = {
    bearerToken: Redacted.value(seeded.userBearerToken),
    consumerKey: seeded.consumerKey,
    consumerSecret: Redacted.value(seeded.consumerSecret),
    accessToken: Redacted.value(seeded.accessToken),
    accessTokenSecret: Redacted.value(seeded.accessTokenSecret)
  }
  const environment = Object.fromEntries(
    Object.entries({ baseUrl, ...secrets }).map(([name, value]) => [environmentVariable(name), value])
  )
  yield* Console.log(JSON.stringify({ baseUrl, environment, ids, adminToken: Redacted.value(adminToken) }))
  return yield* Effect.never
})

await Effect.runPromise(Effect.clockWith((clock) => {
  const millis = clock.currentTimeMillisUnsafe()
  const nanos = BigInt(millis) * 1_000_000n
  return Effect.scoped(Effect.provide(program, Sandbox.layerServer({ posts: 400 }))).pipe(
    Effect.provideService(Clock.Clock, {
      currentTimeMillisUnsafe: () => millis,
      currentTimeMillis: Effect.succeed(millis),
      currentTimeNanosUnsafe: () => nanos,
      currentTimeNanos: Effect.succeed(nanos),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    })
  )
}))
