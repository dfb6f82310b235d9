/** What is left of the limits, to look at and to change. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type * as RateLimits from "../limits/RateLimits.ts"

/** What is left of the limits. */
export interface Budget {
  /** The windows that have begun and not ended. */
  readonly windows: () => ReadonlyArray<RateLimits.Standing>
  /** What projects have read of their posts of the month. */
  readonly posts: () => ReadonlyArray<RateLimits.Usage>
  /** Leaves so many requests in this window of an operation, to the app of the seed and to a user (ada) with it. */
  readonly leave: (operation: Name, remaining: number, user?: { readonly id: string }) => void
  /** Forgets all requests and posts that were counted. */
  readonly clear: () => void
}

/** What a budget is of. */
export interface Options {
  readonly limits: RateLimits.RateLimits
  readonly postCap: RateLimits.PostCap
  /** Milliseconds. */
  readonly now: () => number
  /** The app of the seed. */
  readonly appId: () => string | undefined
  /** The user of the seed. */
  readonly userId: () => string
  /** Forgets all that requests have used up. */
  readonly clear: () => void
}

/** The budget of a service. */
export const make = ({ appId, clear, limits, now, postCap, userId }: Options): Budget => ({
  windows: () => limits.standing(now()),
  posts: () => postCap.usage(now()),
  leave: (operation, remaining, user = { id: userId() }) => {
    if (!Object.hasOwn(catalogue, operation)) throw new TypeError(`There is no operation ${operation}`)
    if (!Number.isInteger(remaining) || remaining < 0) throw new TypeError("remaining must be a whole number from 0")
    const app = appId()
    const { definition } = catalogue[operation]
    for (
      const credential of [
        { key: `app ${app}`, userId: undefined },
        { key: `user ${app} ${user.id}`, userId: user.id }
      ]
    ) limits.leave(definition, credential, remaining, now())
  },
  clear
})
