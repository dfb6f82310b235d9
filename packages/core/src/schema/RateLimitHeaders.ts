/** What the headers of an answer say of rate limits. They are untrusted: nonsense is no answer. */
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { windowMillis } from "./Quota.ts"

/** The budget that the service announced for one operation and credential. */
export interface RateLimitInfo {
  /** Requests allowed per window. */
  readonly limit: number
  /** Requests left in this window. */
  readonly remaining: number
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date
}

/** The window that a response announced. */
export interface Figures {
  /** Requests allowed per window, where that was announced. */
  readonly limit: number | undefined
  readonly remaining: number
  /** The end of the window as the service wrote it, in Unix seconds: tells windows apart. */
  readonly window: number
  /** Milliseconds to the end of the window. */
  readonly endsIn: number
}

/** The status and headers of a response, also of one whose body was lost. */
export type ResponseHead = Pick<HttpClientResponse, "status" | "headers">

/** Clocks of a service differ a little, so windows are left a second late. */
const lateMillis = 1_000
/** The clock that a window is measured by may be so far off. */
const maxClockDriftMillis = 60_000

/** Headers by their names in small letters, as a response has them or as they came. */
type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * The property under which a response has its headers as they came, which spares it the making of others: of every
 * response only a few are looked at.
 */
export const received: unique symbol = Symbol.for("@postwire/core/schema/RateLimitHeaders/received")

const headersOf = (response: ResponseHead & { readonly [received]?: Headers }): Headers =>
  response[received] ?? response.headers

/** Any number of so many digits is exact. */
const maxDigits = 15

/** A whole number as headers have it. */
const wholeOf = (text: string | ReadonlyArray<string> | undefined): number | undefined => {
  if (typeof text !== "string" || text.length === 0 || text.length > maxDigits) return undefined
  let whole = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return undefined
    whole = whole * 10 + digit
  }
  return whole
}

let lastDate: { readonly text: string; readonly millis: number } = { text: "", millis: Number.NaN }

/** Milliseconds of a `date`, which is the same for all answers of a second. */
const millisOf = (text: string | ReadonlyArray<string> | undefined): number => {
  if (typeof text !== "string") return Number.NaN
  if (text !== lastDate.text) lastDate = { text, millis: Date.parse(text) }
  return lastDate.millis
}

/** Some three thousand years. */
const endOfDatesSeconds = 1e11

/** When a window ends, in Unix seconds that a date can tell. */
const resetOf = (headers: Headers): number | undefined => {
  const reset = wholeOf(headers["x-rate-limit-reset"])
  return reset !== undefined && reset > 0 && reset < endOfDatesSeconds ? reset : undefined
}

/**
 * What an answer announces, by the service's own clock where the answer has a `date`. A window that has ended, or ends
 * later than any does, is nonsense. A 429 that does not say what remains leaves nothing.
 */
export const figuresOf = (response: ResponseHead, now: number): Figures | undefined => {
  const headers = headersOf(response)
  const reset = resetOf(headers)
  const remaining = wholeOf(headers["x-rate-limit-remaining"]) ?? (response.status === 429 ? 0 : undefined)
  if (reset === undefined || remaining === undefined) return undefined
  const served = millisOf(headers["date"])
  const left = reset * 1000 - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= windowMillis + maxClockDriftMillis
    ? { limit: wholeOf(headers["x-rate-limit-limit"]), remaining, window: reset, endsIn: left + lateMillis }
    : undefined
}

/** Some three centuries: later than that, dates end. */
const longestAskedMillis = 1e13

/** The milliseconds that `retry-after` asks for, as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.min(Math.max(millis, 0), longestAskedMillis)
}

/** The announced budget, where all three headers are there and sane. */
export const budgetOf = (headers: Readonly<Record<string, string | undefined>>): RateLimitInfo | undefined => {
  const limit = wholeOf(headers["x-rate-limit-limit"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"])
  const reset = resetOf(headers)
  return limit !== undefined && remaining !== undefined && reset !== undefined
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
