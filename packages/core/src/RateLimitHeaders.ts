/** What the headers of an answer say of rate limits. They are untrusted: nonsense is no answer. */
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { Budget } from "./Errors.ts"
import type { Figures } from "./RateLimitStore.ts"

/** The longest window there is, in milliseconds. */
export const longestWindow = 900_000
/** Clocks of a service differ a little, so windows are left a second late. */
const late = 1_000

/** A whole number as headers have it. */
const wholeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

/**
 * What an answer announces, by the service's own clock where the answer has a `date`. A window that has ended, or ends
 * later than any does, is nonsense. A 429 that does not say what remains leaves nothing.
 */
export const figuresOf = ({ headers, status }: HttpClientResponse, now: number): Figures | undefined => {
  const window = wholeOf(headers["x-rate-limit-reset"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"]) ?? (status === 429 ? 0 : undefined)
  if (window === undefined || remaining === undefined) return undefined
  const served = Date.parse(headers["date"] ?? "")
  const left = window * 1000 - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= longestWindow + 60_000
    ? { limit: wholeOf(headers["x-rate-limit-limit"]), remaining, window, endsIn: left + late }
    : undefined
}

/** The milliseconds that `retry-after` asks for, as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.max(millis, 0)
}

/** The announced budget, where all three headers are there and sane. */
export const budgetOf = (headers: Readonly<Record<string, string | undefined>>): Budget | undefined => {
  const limit = wholeOf(headers["x-rate-limit-limit"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"])
  const reset = wholeOf(headers["x-rate-limit-reset"])
  return limit !== undefined && remaining !== undefined && reset !== undefined && reset > 0 && reset < 1e11
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
