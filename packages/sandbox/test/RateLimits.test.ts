import { assert, describe, it } from "@effect/vitest"
import type { Served } from "../src/Handler.ts"
import { handlers } from "../src/handlers/index.ts"
import * as RateLimits from "../src/RateLimits.ts"

const now = Date.UTC(2026, 10, 20, 12)

describe("RateLimits", () => {
  it("has a window for every operation that is served", () => {
    const limits = RateLimits.make()
    for (const name of Object.keys(handlers) as Array<Served>) {
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

  it("is one per operation and credential, and one set per service", () => {
    const limits = RateLimits.make()
    for (let i = 0; i < 60; i++) limits.count("like", "a", now)
    assert.isFalse(limits.count("like", "a", now).allowed)
    assert.isTrue(limits.count("like", "b", now).allowed)
    assert.isTrue(limits.count("unlike", "a", now).allowed)
    assert.isTrue(RateLimits.make().count("like", "a", now).allowed)
  })

  it("is announced in whole seconds, never early", () => {
    assert.deepStrictEqual(RateLimits.headers({ limit: 50, remaining: 0, resetAt: 1_000_001, allowed: false }), {
      "x-rate-limit-limit": "50",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": "1001"
    })
  })
})
