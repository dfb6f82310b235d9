/**
 * Rate limits: requests per operation and credential in fixed windows of 15 minutes and of a day, one request per second
 * for some operations, and posts per project and month.
 */
import type { Name } from "@postwire/core/Catalogue"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Quota from "@postwire/core/schema/Quota"
import type { Caller } from "../auth/Authentication.ts"

/** The operation fields used for counting. */
type Operation = Pick<Definition, "name" | "limits" | "pace">

/** The caller fields used for counting. */
type Credential = Pick<Caller, "key" | "userId">

/** Window lengths in milliseconds. */
const lengths = { perWindow: Quota.windowMillis, perDay: 86_400_000 }

/** Beyond this number of entries, those without a current window are dropped. */
const maxRemembered = 10_000

/** The state of a window in response headers. */
export interface Announced {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds. */
  readonly resetAt: number
}

/** A request that was counted. */
export interface Counted {
  /** True if it was within all limits and respected the minimum interval. */
  readonly allowed: boolean
  /** The exhausted window, or else the shortest; undefined if the operation has no limit. */
  readonly announced: Announced | undefined
}

/** The state of a current window. */
export interface WindowState extends Announced {
  readonly operation: Name
  /** The `key` of the caller. */
  readonly credential: string
}

/** The windows of one service. */
export type RateLimits = ReturnType<typeof make>

interface Window {
  readonly limit: number
  readonly length: number
  readonly resetAt: number
  used: number
}

const announce = ({ limit, resetAt, used }: Window): Announced => ({ limit, remaining: limit - used, resetAt })

const isSpent = ({ limit, used }: Window): boolean => used >= limit

/** True if `now` is within the window. A window in the future stems from a clock that was set back. */
const isCurrent = ({ length, resetAt }: Window, now: number): boolean => resetAt > now && resetAt - length <= now

/** A window starts with its first request. */
export const make = () => {
  interface Kept {
    readonly operation: Name
    readonly credential: string
    readonly windows: Array<Window>
    last: number
  }
  const kept = new Map<string, Kept>()
  const keptOf = ({ limits, name }: Operation, { key: credential, userId }: Credential, now: number): Kept => {
    const key = `${name} ${credential}`
    let known = kept.get(key)
    if (known === undefined) {
      if (kept.size >= maxRemembered) {
        for (const [other, { windows }] of kept) {
          if (!windows.some((window) => isCurrent(window, now))) kept.delete(other)
        }
      }
      const quota = Quota.of(limits, userId === undefined ? "app" : "user")
      // Every served operation is in the catalogue.
      known = { operation: name as Name, credential, windows: [], last: -Infinity }
      for (const span of ["perWindow", "perDay"] as const) {
        const limit = quota[span]
        if (limit !== undefined) known.windows.push({ limit, length: lengths[span], resetAt: -Infinity, used: 0 })
      }
      kept.set(key, known)
    }
    for (const [i, window] of known.windows.entries()) {
      if (!isCurrent(window, now)) known.windows[i] = { ...window, resetAt: now + window.length, used: 0 }
    }
    return known
  }
  return {
    /** Counts a request, unless it is refused. */
    count: (operation: Operation, credential: Credential, now: number): Counted => {
      const { pace = 0 } = operation
      const kept = keptOf(operation, credential, now)
      const since = now - kept.last
      const tooSoon = since >= 0 && since < pace
      const spent = kept.windows.find(isSpent)
      const allowed = spent === undefined && !tooSoon
      if (allowed) {
        for (const window of kept.windows) window.used++
        kept.last = now
      }
      const announced = spent ?? kept.windows[0]
      return { allowed, announced: announced && announce(announced) }
    },
    /** The current windows. */
    windows: (now: number): ReadonlyArray<WindowState> =>
      [...kept.values()].flatMap(({ credential, operation, windows }) =>
        windows.filter((window) => isCurrent(window, now)).map((window) => ({
          operation,
          credential,
          ...announce(window)
        }))
      ),
    /** Sets the remaining requests in all windows of an operation, starting them if necessary. */
    leave: (operation: Operation, credential: Credential, remaining: number, now: number): void => {
      for (const window of keptOf(operation, credential, now).windows) {
        window.used = window.limit - Math.min(Math.max(remaining, 0), window.limit)
      }
    },
    clear: (): void => kept.clear()
  }
}

/** The rate-limit headers of a window. The limit per second has none. */
export const headers = (window: Announced | undefined): Record<string, string> =>
  window === undefined ? {} : {
    "x-rate-limit-limit": String(window.limit),
    "x-rate-limit-remaining": String(window.remaining),
    "x-rate-limit-reset": String(Math.ceil(window.resetAt / 1000))
  }

/** The posts that a project has read in a month. */
export interface Usage {
  readonly project: string
  readonly posts: number
  readonly maximum: number
}

/** Counts the posts that projects have read. */
export type PostCap = ReturnType<typeof postCap>

/** A cap on posts per project and calendar month (UTC). The page that reaches it is still answered in full. */
export const postCap = (maximum: number) => {
  const used = new Map<string, { readonly month: string; readonly posts: number }>()
  const of = (project: string, now: number): number => {
    const entry = used.get(project)
    return entry?.month === monthOf(now) ? entry.posts : 0
  }
  return {
    maximum,
    /** True if a project has reached the cap in the month of `now`. */
    isSpent: (project: string, now: number): boolean => of(project, now) >= maximum,
    add: (project: string, posts: number, now: number): void =>
      void used.set(project, { month: monthOf(now), posts: of(project, now) + posts }),
    /** The usage of projects in the month of `now`. */
    usage: (now: number): ReadonlyArray<Usage> =>
      [...used.keys()].map((project) => ({ project, posts: of(project, now), maximum })),
    clear: (): void => used.clear()
  }
}

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)
