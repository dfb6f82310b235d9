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
        const end = windowEnd(response.headers, received)
        const spent = response.status === 429 || response.headers["x-rate-limit-remaining"] === "0"
        if (spent && end !== undefined) spentUntil.set(bucket.key, end)
        else spentUntil.delete(bucket.key)
        if (response.status !== 429 || refusals + 1 === maximumTries || (yield* isUsageCap(response))) return response
        if (end === undefined) yield* pause(bucket, Math.min(window, floor * 2 ** refusals), received)
      }
    })
  }
}

/** When the window ends by the local clock, one second late to be safe. Headers are untrusted: nonsense is no answer. */
const windowEnd = (headers: Readonly<Record<string, string | undefined>>, now: number): number | undefined => {
  const reset = Number(headers["x-rate-limit-reset"]) * 1000
  const served = Date.parse(headers["date"] ?? "")
  const left = reset - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= window + 60_000 ? now + Math.max(left + floor, floor) : undefined
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
  return limit >= 0 && remaining >= 0 && reset > 0 && reset < 1e11
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
