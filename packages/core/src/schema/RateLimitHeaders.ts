/** The rate limits in the headers of a response. Headers are untrusted: a value that makes no sense is ignored. */
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { windowMillis } from "./Quota.ts"

/** The rate limit that the service announced for one operation and credential. */
export interface RateLimitInfo {
  /** Requests allowed per window. */
  readonly limit: number
  /** Requests remaining in this window. */
  readonly remaining: number
  /** When the window resets, by the service's clock. */
  readonly resetAt: Date
}

/** The window that a response announced. */
export interface Figures {
  /** Requests allowed per window, if announced. */
  readonly limit: number | undefined
  readonly remaining: number
  /** The window's reset as the service wrote it, in Unix seconds: identifies the window. */
  readonly window: number
  /** Milliseconds until the window resets. */
  readonly endsIn: number
}

/** The status and headers of a response, also of one whose body was lost. */
export type ResponseHead = Pick<HttpClientResponse, "status" | "headers">

/** Clocks of a service differ a little, so a window is treated as reset one second late. */
const lateMillis = 1_000
/** The most by which the clock that measures a window may be off. */
const maxClockDriftMillis = 60_000

/** Headers by lower-case name, parsed or as received. */
type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * The property under which a response has its headers as received. Only a few headers of a response are ever read, so the
 * others need no parsing.
 */
export const received: unique symbol = Symbol.for("@postwire/core/schema/RateLimitHeaders/received")

const headersOf = (response: ResponseHead & { readonly [received]?: Headers }): Headers =>
  response[received] ?? response.headers

/** Any number of this many digits is exact. */
const maxDigits = 15

/** A whole number in a header. */
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

/** Milliseconds of a `date`, which is the same for all responses within a second. */
const millisOf = (text: string | ReadonlyArray<string> | undefined): number => {
  if (typeof text !== "string") return Number.NaN
  if (text !== lastDate.text) lastDate = { text, millis: Date.parse(text) }
  return lastDate.millis
}

/** Some three thousand years. */
const endOfDatesSeconds = 1e11

/** A window's reset in Unix seconds, if a Date can represent it. */
const resetOf = (headers: Headers): number | undefined => {
  const reset = wholeOf(headers["x-rate-limit-reset"])
  return reset !== undefined && reset > 0 && reset < endOfDatesSeconds ? reset : undefined
}

/**
 * The window that a response announces, by the service's own clock if the response has a `date`. A window that is over, or is
 * longer than any window, is ignored. A 429 without a remaining number means that none remain.
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

/** Some three centuries. Longer waits would exceed the range of Date. */
const longestAskedMillis = 1e13

/** The milliseconds of `retry-after`, given as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.min(Math.max(millis, 0), longestAskedMillis)
}

/**
 * Milliseconds to wait after a 429: those of `retry-after`, or until the reset of a window with no requests remaining, by the
 * `date` of the response.
 */
export const waitOf = ({ headers }: Pick<ResponseHead, "headers">): number | undefined => {
  const asked = retryAfterOf(headers)
  if (asked !== undefined) return asked
  const figures = figuresOf({ status: 429, headers }, Number.NaN)
  return figures?.remaining === 0 ? figures.endsIn : undefined
}

/** The announced rate limit, if all three headers are present and valid. */
export const rateLimitOf = (headers: Readonly<Record<string, string | undefined>>): RateLimitInfo | undefined => {
  const limit = wholeOf(headers["x-rate-limit-limit"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"])
  const reset = resetOf(headers)
  return limit !== undefined && remaining !== undefined && reset !== undefined
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
