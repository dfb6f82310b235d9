/** Shows and changes the remaining requests and posts. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type * as RateLimits from "../limits/RateLimits.ts"

/** The remaining requests and posts. */
export type Budget = ReturnType<typeof make>

/** The dependencies of a budget. */
export interface Options {
  readonly limits: RateLimits.RateLimits
  readonly postCap: RateLimits.PostCap
  /** Milliseconds. */
  readonly now: () => number
  /** The id of the seeded app. */
  readonly appId: () => string | undefined
  /** The id of the seeded user. */
  readonly userId: () => string
  readonly clear: () => void
}

export const make = ({ appId, clear, limits, now, postCap, userId }: Options) => ({
  /** The current rate-limit windows. */
  windows: () => limits.windows(now()),
  /** The posts that projects have read this month. */
  posts: () => postCap.usage(now()),
  /** Sets the remaining requests of an operation in the current window, for the seeded app and for a user (ada) of it. */
  leave: (operation: Name, remaining: number, user: { readonly id: string } = { id: userId() }): void => {
    if (!Object.hasOwn(catalogue, operation)) throw new TypeError(`There is no operation ${operation}`)
    if (!Number.isInteger(remaining) || remaining < 0) throw new TypeError("remaining must be a non-negative integer")
    const app = appId()
    const { definition } = catalogue[operation]
    for (
      const credential of [
        { key: `app ${app}`, userId: undefined },
        { key: `user ${app} ${user.id}`, userId: user.id }
      ]
    ) limits.leave(definition, credential, remaining, now())
  },
  /** Resets all counts of requests and posts. */
  clear
})
