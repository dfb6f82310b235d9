import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Quotas } from "@postwire/core/schema/Quota"
import * as RateLimits from "../src/limits/RateLimits.ts"

const now = Date.UTC(2026, 10, 20, 12)

type Operation = Pick<Definition, "name" | "limits" | "pace">

const { definition: like } = catalogue.like
const { definition: searchAllPosts } = catalogue.searchAllPosts

const user = { key: "a", userId: "1" }

/** Counts a request, flat. */
const counter =
  (limits: RateLimits.RateLimits, operation: Operation = like, credential: { key: string; userId?: string } = user) =>
  (time: number) => {
    const { allowed, announced } = limits.count(operation, { userId: undefined, ...credential }, time)
    return { ...announced, allowed }
  }

describe("RateLimits", () => {
  it("begins anew when the clock is set back, at once", () => {
    const limits = RateLimits.make()
    const count = counter(limits, searchAllPosts)
    for (let second = 0; second < 300; second++) count(now + second * 1_000)
    assert.isFalse(count(now + 300_000).allowed)
    for (const earlier of [now - 1, now - 86_400_000]) {
      assert.deepStrictEqual(count(earlier), {
        limit: 300,
        remaining: 299,
        resetAt: earlier + 900_000,
        allowed: true
      })
      assert.lengthOf(limits.windows(earlier), 1)
      assert.deepStrictEqual(limits.windows(earlier - 1), [])
    }
    // Within its window, too.
    assert.isTrue(count(now - 86_400_000 + 5_000).allowed)
    assert.deepInclude(count(now - 86_400_000 + 1_000), { remaining: 297, allowed: true })
  })

  it("is of the one who asks, by the window and by the day, and none where none is known", () => {
    const app = { key: "b" }
    const of = (limits: Quotas, credential: { key: string; userId?: string }) =>
      counter(RateLimits.make(), { ...like, limits }, credential)
    const apart = { app: { perDay: 3 }, user: { perWindow: 2, perDay: 3 } }
    const byUser = of(apart, user)
    assert.deepInclude(byUser(now), { limit: 2, remaining: 1, allowed: true })
    assert.deepInclude(byUser(now), { limit: 2, remaining: 0, allowed: true })
    assert.deepInclude(byUser(now), { limit: 2, resetAt: now + 900_000, allowed: false })
    assert.deepInclude(byUser(now + 900_000), { limit: 2, remaining: 1, allowed: true })
    // The window has room, the day has none.
    assert.deepInclude(byUser(now + 900_001), { limit: 3, remaining: 0, resetAt: now + 86_400_000, allowed: false })
    assert.deepInclude(byUser(now + 86_400_000), { limit: 2, remaining: 1, allowed: true })
    assert.deepStrictEqual(of(apart, app)(now), { limit: 3, remaining: 2, resetAt: now + 86_400_000, allowed: true })
    const unlimited = of({ user: { perWindow: 1 } }, app)
    for (let i = 0; i < 100; i++) assert.deepStrictEqual(unlimited(now), { allowed: true })
    assert.deepStrictEqual(RateLimits.headers(undefined), {})
  })

  it("keeps no crowd of windows that have ended", () => {
    const limits = RateLimits.make()
    for (let i = 0; i < 50_000; i++) limits.count(like, { ...user, key: `user ${i}` }, now + i * 1_000)
    for (let i = 0; i < 51; i++) limits.count(like, user, now + 50_000_000)
    assert.isFalse(limits.count(like, user, now + 50_000_000).allowed)
  })

  it("is announced in whole seconds, never early", () => {
    assert.deepStrictEqual(RateLimits.headers({ limit: 50, remaining: 0, resetAt: 1_000_001 }), {
      "x-rate-limit-limit": "50",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": "1001"
    })
  })
})
