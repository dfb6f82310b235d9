/**
 * The budget that the service announces, and what is done when it is spent. A Layer chooses: `layerFail` (the default)
 * lets a refusal through as `RateLimited`, `layerWait` waits for the window to end.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import { type Budget, RateLimitWaitTooLong } from "./Errors.ts"

/** What one budget counts: the requests of one operation with one kind of credential. */
export interface Bucket {
  readonly operation: string
  /** Unique to the operation and the credential; never holds the credential itself. */
  readonly key: string
}

/** Decides when a request may be sent and what a 429 leads to. */
export interface RateLimit {
  readonly guard: <E>(
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, E>
  ) => Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong>
}

/** The policy in force: without a layer, refusals are let through. */
export const RateLimit = Context.Reference<RateLimit>("@postwire/core/RateLimit", {
  defaultValue: () => fail
})

const fail: RateLimit = { guard: (_bucket, send) => send }

/** Lets every refusal through as `RateLimited`. */
export const layerFail: Layer.Layer<never> = /*#__PURE__*/ Layer.succeed(RateLimit, fail)

/** Times in milliseconds; the longest wait that a window can ask for is its own 15 minutes. */
const window = 900_000
const floor = 1_000
const maximumTries = 8

/**
 * Waits for the window to end: before sending when it is known to be spent, and after a 429 otherwise. The wait follows
 * the announced end of the window; without a usable one it grows from one second. At most eight refusals in a row are
 * waited out. `maxWait` (milliseconds, default 20 minutes) bounds a single wait; a longer one fails with
 * `RateLimitWaitTooLong`.
 */
export const layerWait = (options: { readonly maxWait?: number | undefined } = {}): Layer.Layer<never> =>
  Layer.sync(RateLimit, () => makeWait(options.maxWait ?? 1_200_000))

const makeWait = (maxWait: number): RateLimit => {
  const spentUntil = new Map<string, number>()

  const pause = Effect.fnUntraced(function*(bucket: Bucket, millis: number, now: number) {
    if (millis > maxWait) {
      return yield* new RateLimitWaitTooLong({
        operation: bucket.operation,
        bucket: bucket.operation,
        resetAt: new Date(now + millis),
        maxWait
      })
    }
    yield* Effect.logInfo(`Rate limit of ${bucket.operation} is spent: waiting ${Math.ceil(millis / 1000)} s`)
    yield* Effect.sleep(millis)
  })

  return {
    guard: Effect.fnUntraced(function*<E>(bucket: Bucket, send: Effect.Effect<HttpClientResponse, E>) {
      for (let refusals = 0;; refusals++) {
        const now = yield* Clock.currentTimeMillis
        const until = spentUntil.get(bucket.key) ?? 0
        if (until > now) yield* pause(bucket, until - now, now)
        const response = yield* send
        const received = yield* Clock.currentTimeMillis
        const end = windowEnd(response, received)
        if (end === undefined) spentUntil.delete(bucket.key)
        else spentUntil.set(bucket.key, end)
        if (response.status !== 429 || refusals + 1 === maximumTries || (yield* isUsageCap(response))) return response
        const asked = retryAfterOf(response.headers)
        if (asked !== undefined) yield* pause(bucket, Math.max(asked, floor), received)
        else if (end === undefined) yield* pause(bucket, Math.min(window, floor * 2 ** refusals), received)
      }
    })
  }
}

/**
 * When a spent window ends by the local clock, one second late to be safe. Headers are untrusted: nonsense is no answer.
 * A refusal while the budget is not spent is about another limit, of which the window says nothing.
 */
const windowEnd = ({ headers, status }: HttpClientResponse, now: number): number | undefined => {
  const remaining = headers["x-rate-limit-remaining"]
  if (remaining !== "0" && (status !== 429 || Number(remaining) > 0)) return undefined
  const reset = Number(headers["x-rate-limit-reset"]) * 1000
  const served = Date.parse(headers["date"] ?? "")
  const left = reset - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= window + 60_000 ? now + left + floor : undefined
}

/** The milliseconds that `retry-after` asks for, as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.max(millis, 0)
}

/** A spent usage cap lasts days or months: no window end cures it. */
const isUsageCap = (response: HttpClientResponse): Effect.Effect<boolean> =>
  Effect.match(response.text, {
    onFailure: () => false,
    onSuccess: (text) => text.includes("/problems/usage-capped")
  })

/** The announced budget, where all three headers are there and sane. */
export const budgetOf = (headers: Readonly<Record<string, string | undefined>>): Budget | undefined => {
  if (headers["x-rate-limit-reset"] === undefined) return undefined
  const limit = Number(headers["x-rate-limit-limit"])
  const remaining = Number(headers["x-rate-limit-remaining"])
  const reset = Number(headers["x-rate-limit-reset"])
  return limit >= 0 && limit < Infinity && remaining >= 0 && remaining < Infinity && reset > 0 && reset < 1e11
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
