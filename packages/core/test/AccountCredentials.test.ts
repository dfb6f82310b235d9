import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Account from "../src/Account.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as Grants from "./support/Grants.ts"

const { createPost, getMe } = catalogue

const stored = (store: Parameters<typeof Account.read>[0]) =>
  Effect.map(Account.read(store, "ada"), (account) => Option.getOrThrow(account))

describe("renewal", () => {
  it.effect("happens a minute before the access token expires, and not earlier", () =>
    Effect.gen(function*() {
      const grants = yield* Grants.make()
      yield* Effect.gen(function*() {
        yield* getMe({})
        yield* TestClock.adjust(Grants.lifeMillis - 60_001)
        yield* getMe({})
        assert.lengthOf(grants.state.refreshes, 0)
        yield* TestClock.adjust(1)
        yield* getMe({})
        assert.deepStrictEqual(grants.state.refreshes, ["canary-refresh-1"])
        const { oauth2 } = yield* stored(grants.store)
        assert.strictEqual(Redacted.value(oauth2!.accessToken), Grants.access(2))
        yield* getMe({})
        assert.lengthOf(grants.state.refreshes, 1)
      }).pipe(Effect.provide(grants.layer()))
    }))

  it.effect("happens once for ten thousand calls", () =>
    Effect.gen(function*() {
      const grants = yield* Grants.make()
      grants.state.before = Effect.sleep(1000)
      yield* Effect.gen(function*() {
        yield* TestClock.adjust(Grants.lifeMillis)
        const calls = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 10_000 }), () => getMe({}), { concurrency: "unbounded", discard: true })
        )
        yield* TestClock.adjust(1000)
        yield* Fiber.join(calls)
        assert.lengthOf(grants.state.refreshes, 1)
        assert.lengthOf(grants.requests, 10_001)
      }).pipe(Effect.provide(grants.layer()))
    }))

  it.effect("follows a 401: a create is sent exactly twice, and happens once", () =>
    Effect.gen(function*() {
      const grants = yield* Grants.make()
      grants.state.offset = Grants.lifeMillis
      yield* createPost({ text: "a", user_auth: false }).pipe(Effect.provide(grants.layer()))
      assert.lengthOf(grants.state.refreshes, 1)
      assert.lengthOf(grants.state.created, 1)
      assert.lengthOf(grants.requests.filter(({ path }) => path === "/2/posts"), 2)
    }))
})
