import { assert, it } from "@effect/vitest"
import { LoginRequired, RateLimited, SpendLimitReached } from "@postwire/core/errors/Errors"
import { refusal } from "../../core/test/support/ErrorSamples.ts"
import { isTransient, refusedFor } from "../src/internal/failures.ts"

it("the stored reason of a failure has no advice for programs, but commands to run", () => {
  const limited = new RateLimited({ ...refusal, bucket: "getPost" })
  const spent = new SpendLimitReached({ operation: "getPost", period: "day", spent: 0, limit: 1, needed: 2 })
  const gone = new LoginRequired({ account: "ada", reason: "absent" })
  assert.deepStrictEqual([limited, spent, gone].map((error) => refusedFor("default", error).reason), [
    "getPost: rate limit exceeded (400): d.",
    "getPost: it may cost $2.00, and the whole limit of the day is $1.00.",
    "Account \"ada\" has never signed in here. Run: postwire login ada"
  ])
})

it("a spend store that does not respond may be a temporary failure, unlike a limit", () => {
  const spent = { operation: "getPost", period: "day", spent: 0, limit: 1, needed: 1 } as const
  assert.isTrue(isTransient(new SpendLimitReached({ ...spent, unavailable: "it takes too long" })))
  assert.isFalse(isTransient(new SpendLimitReached({ ...spent, spent: 1 })))
})
