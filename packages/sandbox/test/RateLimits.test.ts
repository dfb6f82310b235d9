import { assert, describe, it } from "@effect/vitest"
import type { Name } from "@postwire/core/Catalogue"
import { handlers } from "../src/handlers/index.ts"
import * as RateLimits from "../src/RateLimits.ts"

const now = Date.UTC(2026, 10, 20, 12)

describe("RateLimits", () => {
  it("has a window for every operation that is served", () => {
    const limits = RateLimits.make()
    for (const name of Object.keys(handlers) as Array<Name>) {
      const { limit, remaining } = limits.count(name, "a", now)
      assert.isAtLeast(limit, 15, name)
      assert.strictEqual(remaining, limit - 1)
    }
  })

  it("begins with its first request and lasts 15 minutes, however many follow", () => {
    const limits = RateLimits.make()
    const count = (time: number) => limits.count("like", "a", time)
    for (let used = 1; used <= 50; used++) {
      assert.deepStrictEqual(count(now + used * 1000), {
        limit: 50,
        remaining: 50 - used,
        resetAt: now + 901_000,
        allowed: true
      })
    }
    const spent = { limit: 50, remaining: 0, resetAt: now + 901_000, allowed: false }
    assert.deepStrictEqual(count(now + 60_000), spent)
    assert.deepStrictEqual(count(now + 900_999), spent)
    assert.deepStrictEqual(count(now + 901_000), {
      limit: 50,
      remaining: 49,
      resetAt: now + 1_801_000,
      allowed: true
    })
  })

  it("begins anew when the clock is set back, at once", () => {
    const limits = RateLimits.make()
    const count = (time: number) => limits.count("searchAllPosts", "a", time)
    for (let second = 0; second < 300; second++) count(now + second * 1_000)
    assert.isFalse(count(now + 300_000).allowed)
    for (const earlier of [now - 1, now - 86_400_000]) {
      assert.deepStrictEqual(count(earlier), {
        limit: 300,
        remaining: 299,
        resetAt: earlier + 900_000,
        allowed: true
      })
      assert.lengthOf(limits.standing(earlier), 1)
      assert.deepStrictEqual(limits.standing(earlier - 1), [])
    }
    // Within its window, too.
    assert.isTrue(count(now - 86_400_000 + 5_000).allowed)
    assert.deepInclude(count(now - 86_400_000 + 1_000), { remaining: 297, allowed: true })
  })

  it("is one per operation and credential, and one set per service", () => {
    const limits = RateLimits.make()
    for (let i = 0; i < 60; i++) limits.count("like", "a", now)
    assert.isFalse(limits.count("like", "a", now).allowed)
    assert.isTrue(limits.count("like", "b", now).allowed)
    assert.isTrue(limits.count("unlike", "a", now).allowed)
    assert.isTrue(RateLimits.make().count("like", "a", now).allowed)
  })

  it("refuses what comes within a second of what may come once per second, without counting it", () => {
    const limits = RateLimits.make()
    const count = (time: number) => limits.count("searchAllPosts", "a", time)
    assert.deepInclude(count(now), { remaining: 299, allowed: true })
    for (const time of [0, 500, 999]) assert.deepInclude(count(now + time), { remaining: 299, allowed: false })
    assert.deepInclude(count(now + 1_000), { remaining: 298, allowed: true })
    assert.isTrue(limits.count("getAllPostsCount", "a", now + 1_000).allowed)
    // A new window does not begin with two in one second.
    assert.isTrue(count(now + 899_500).allowed)
    assert.deepInclude(count(now + 900_000), { remaining: 300, allowed: false })
    assert.deepInclude(count(now + 900_500), { remaining: 299, allowed: true })
  })

  it("keeps no crowd of windows that have ended", () => {
    const limits = RateLimits.make()
    for (let i = 0; i < 50_000; i++) limits.count("like", `user ${i}`, now + i * 1_000)
    for (let i = 0; i < 51; i++) limits.count("like", "a", now + 50_000_000)
    assert.isFalse(limits.count("like", "a", now + 50_000_000).allowed)
  })

  it("is announced in whole seconds, never early", () => {
    assert.deepStrictEqual(RateLimits.headers({ limit: 50, remaining: 0, resetAt: 1_000_001, allowed: false }), {
      "x-rate-limit-limit": "50",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": "1001"
    })
  })
})

describe("postCap", () => {
  it("is spent when it is reached, per project, and begins again with the month", () => {
    const cap = RateLimits.postCap(10)
    cap.add("a", 9, now)
    assert.isFalse(cap.isSpent("a", now))
    // The page that goes beyond was answered whole.
    cap.add("a", 5, now)
    assert.isTrue(cap.isSpent("a", now))
    assert.isFalse(cap.isSpent("b", now))
    cap.add("b", 10, now)
    assert.isTrue(cap.isSpent("b", now))
    const december = Date.UTC(2026, 11, 1)
    assert.deepStrictEqual([cap.isSpent("a", december - 1), cap.isSpent("a", december)], [true, false])
    cap.add("a", 1, december)
    assert.isFalse(cap.isSpent("a", december))
    assert.isTrue(RateLimits.postCap(0).isSpent("a", now))
  })
})
