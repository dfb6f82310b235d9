/** The rate limits seen by doctor. */
import type * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as Text from "../terminal/Text.ts"
import { type Check, result } from "./Check.ts"

export const rateLimitChecks = (
  usages: ReadonlyArray<RateLimit.Usage>,
  now: number,
  account?: string
): ReadonlyArray<Check> =>
  usages.flatMap(({ credential, limit, operation, remaining, resetAt }): ReadonlyArray<Check> => {
    if (remaining === undefined) return []
    const owner = account === undefined ? "" : ` of account ${account}`
    const left = resetAt === undefined ? "" : `, resets in ${Text.duration((resetAt.getTime() - now) / 1000)}`
    return [
      result(
        "rate limit",
        remaining === 0 ? "warning" : "ok",
        `${operation} (${credential}${owner}): ${Text.count(remaining)}${
          limit === undefined ? "" : ` of ${Text.count(limit)}`
        } left${left}`,
        remaining === 0 ? "Commands wait until then." : "Each operation has its own.",
        { operation, credential, account, limit, remaining, resetAt: resetAt?.toISOString() }
      )
    ]
  })
