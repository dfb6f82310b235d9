/**
 * How much callers may ask for: requests per operation and credential in fixed spans of 15 minutes, one per second of
 * some operations, and posts per project and month.
 */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { policies } from "./Policy.ts"

/** Milliseconds. */
const span = 900_000

/** More windows than this are not kept: those that have ended go. */
const crowd = 10_000

/** A window after one more request was counted. */
export interface Window {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds. */
  readonly resetAt: number
  /** Whether the request was within the limit, and no sooner than the operation allows. */
  readonly allowed: boolean
}

/** The windows of one service. */
export interface RateLimits {
  /** Counts a request, unless it is refused. */
  readonly count: (operation: Name, credential: string, now: number) => Window
}

/** Windows that begin with their first request. */
export const make = (): RateLimits => {
  const windows = new Map<string, { resetAt: number; used: number; last: number }>()
  return {
    count: (operation, credential, now) => {
      const limit = policies[operation].requests
      const { pace = 0 } = catalogue[operation].definition
      const key = `${operation} ${credential}`
      let window = windows.get(key)
      if (window === undefined || window.resetAt <= now) {
        if (windows.size >= crowd) {
          for (const [other, { resetAt }] of windows) if (resetAt <= now) windows.delete(other)
        }
        window = { resetAt: now + span, used: 0, last: window?.last ?? -Infinity }
        windows.set(key, window)
      }
      const tooSoon = now - window.last < pace
      const allowed = window.used < limit && !tooSoon
      if (allowed) {
        window.used++
        window.last = now
      }
      return { limit, remaining: limit - window.used, resetAt: window.resetAt, allowed }
    }
  }
}

/** The headers that announce a window. Nothing announces the request per second. */
export const headers = (window: Window): Record<string, string> => ({
  "x-rate-limit-limit": String(window.limit),
  "x-rate-limit-remaining": String(window.remaining),
  "x-rate-limit-reset": String(Math.ceil(window.resetAt / 1000))
})

/** How many posts projects have read. */
export interface PostCap {
  /** Whether a project has read all that it may in the month of `now`. */
  readonly isSpent: (project: string, now: number) => boolean
  readonly add: (project: string, posts: number, now: number) => void
}

/** A cap of so many posts per project and calendar month (UTC). The page that reaches it is still answered in full. */
export const postCap = (maximum: number): PostCap => {
  const used = new Map<string, { readonly month: string; readonly posts: number }>()
  const of = (project: string, now: number): number => {
    const entry = used.get(project)
    return entry?.month === monthOf(now) ? entry.posts : 0
  }
  return {
    isSpent: (project, now) => of(project, now) >= maximum,
    add: (project, posts, now) => void used.set(project, { month: monthOf(now), posts: of(project, now) + posts })
  }
}

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)
