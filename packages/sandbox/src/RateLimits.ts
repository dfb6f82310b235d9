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

/** Whether a window has begun and not ended: one that lies ahead is of a clock that was set back since. */
const isCurrent = ({ resetAt }: Pick<Window, "resetAt">, now: number): boolean => resetAt > now && resetAt - span <= now

/** A window as it stands. */
export interface Standing extends Omit<Window, "allowed"> {
  readonly operation: Name
  /** The `key` of the caller. */
  readonly credential: string
}

/** The windows of one service. */
export interface RateLimits {
  /** Counts a request, unless it is refused. */
  readonly count: (operation: Name, credential: string, now: number) => Window
  /** The windows that have not ended. */
  readonly standing: (now: number) => ReadonlyArray<Standing>
  /** Leaves so many requests (at most the limit) in the window of an operation, which begins when there is none. */
  readonly leave: (operation: Name, credential: string, remaining: number, now: number) => void
  readonly clear: () => void
}

/** Windows that begin with their first request. */
export const make = (): RateLimits => {
  interface Kept {
    readonly operation: Name
    readonly credential: string
    readonly resetAt: number
    used: number
    last: number
  }
  const windows = new Map<string, Kept>()
  const windowOf = (operation: Name, credential: string, now: number): Kept => {
    const key = `${operation} ${credential}`
    const known = windows.get(key)
    if (known !== undefined && isCurrent(known, now)) return known
    if (windows.size >= crowd) {
      for (const [other, window] of windows) if (!isCurrent(window, now)) windows.delete(other)
    }
    const window = { operation, credential, resetAt: now + span, used: 0, last: known?.last ?? -Infinity }
    windows.set(key, window)
    return window
  }
  return {
    count: (operation, credential, now) => {
      const limit = policies[operation].requests
      const { pace = 0 } = catalogue[operation].definition
      const window = windowOf(operation, credential, now)
      const since = now - window.last
      const tooSoon = since >= 0 && since < pace
      const allowed = window.used < limit && !tooSoon
      if (allowed) {
        window.used++
        window.last = now
      }
      return { limit, remaining: limit - window.used, resetAt: window.resetAt, allowed }
    },
    standing: (now) =>
      [...windows.values()].filter((window) => isCurrent(window, now)).map(
        ({ credential, operation, resetAt, used }) => {
          const limit = policies[operation].requests
          return { operation, credential, limit, remaining: limit - used, resetAt }
        }
      ),
    leave: (operation, credential, remaining, now) => {
      const limit = policies[operation].requests
      windowOf(operation, credential, now).used = limit - Math.min(Math.max(remaining, 0), limit)
    },
    clear: () => windows.clear()
  }
}

/** The headers that announce a window. Nothing announces the request per second. */
export const headers = (window: Window): Record<string, string> => ({
  "x-rate-limit-limit": String(window.limit),
  "x-rate-limit-remaining": String(window.remaining),
  "x-rate-limit-reset": String(Math.ceil(window.resetAt / 1000))
})

/** What a project has read of the posts that it may read in a month. */
export interface Usage {
  readonly project: string
  readonly posts: number
  readonly maximum: number
}

/** How many posts projects have read. */
export interface PostCap {
  /** Whether a project has read all that it may in the month of `now`. */
  readonly isSpent: (project: string, now: number) => boolean
  readonly add: (project: string, posts: number, now: number) => void
  /** What projects have read in the month of `now`. */
  readonly usage: (now: number) => ReadonlyArray<Usage>
  readonly clear: () => void
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
    add: (project, posts, now) => void used.set(project, { month: monthOf(now), posts: of(project, now) + posts }),
    usage: (now) => [...used.keys()].map((project) => ({ project, posts: of(project, now), maximum })),
    clear: () => used.clear()
  }
}

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)
