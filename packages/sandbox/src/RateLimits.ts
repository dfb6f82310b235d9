/** The windows of the service: a number of requests per operation and credential in fixed spans of 15 minutes. */
import type { Served } from "./Handler.ts"

/** Milliseconds. */
const span = 900_000

/** Requests per window, as the live service announced them in 2021 and 2022. */
const perWindow: { readonly [N in Served]: number } = {
  bookmark: 50,
  createDirectMessage: 200,
  createPost: 200,
  deletePost: 50,
  getBookmarks: 180,
  getDirectMessageEvents: 300,
  getMe: 75,
  getPost: 300,
  getPosts: 300,
  getQuotePosts: 75,
  getUser: 300,
  getUsersPosts: 1500,
  like: 50,
  searchAllPosts: 300,
  searchRecentPosts: 450,
  unlike: 50
}

/** A window after one more request was counted. */
export interface Window {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds. */
  readonly resetAt: number
  /** Whether the request was within the limit. */
  readonly allowed: boolean
}

/** The windows of one service. */
export interface RateLimits {
  readonly count: (operation: Served, credential: string, now: number) => Window
}

/** Windows that begin with their first request. */
export const make = (): RateLimits => {
  const windows = new Map<string, { resetAt: number; used: number }>()
  return {
    count: (operation, credential, now) => {
      const key = `${operation} ${credential}`
      const known = windows.get(key)
      const window = known !== undefined && known.resetAt > now ? known : { resetAt: now + span, used: 0 }
      windows.set(key, window)
      const limit = perWindow[operation]
      const allowed = window.used < limit
      if (allowed) window.used++
      return { limit, remaining: limit - window.used, resetAt: window.resetAt, allowed }
    }
  }
}

/** The headers that announce a window. */
export const headers = (window: Window): Record<string, string> => ({
  "x-rate-limit-limit": String(window.limit),
  "x-rate-limit-remaining": String(window.remaining),
  "x-rate-limit-reset": String(Math.ceil(window.resetAt / 1000))
})
