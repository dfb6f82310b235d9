/** The interface between a client and `Spend`. It is a module of its own because most programs do not count spending. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { Values } from "../auth/Credentials.ts"
import type { SpendLimitReached } from "../errors/Errors.ts"
import type { Bucket } from "../rate-limit/Policy.ts"
import type { Headers } from "../schema/Response.ts"
import * as Json from "../wire/Json.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"

/** A request that is about to be sent. */
export interface Outgoing {
  readonly prepared: Prepared
  readonly values: Values
  readonly url: string
  /** The milliseconds left for the call; waiting reduces them. */
  readonly terms: { left: number }
  /** Requests of the call that were sent. */
  readonly sent: number
}

/** Counts the cost of an endless response. */
export interface Meter {
  /** Counts received bodies, and fails if another one might exceed a limit. */
  readonly count: (bodies: ReadonlyArray<object>) => Effect.Effect<void, SpendLimitReached>
  /** Ends the count. */
  readonly end: Effect.Effect<void>
}

/** Counts the cost of a client's requests. */
export interface SpendGuard {
  /** Sends a request, unless it might exceed a limit. */
  readonly guard: (
    outgoing: Outgoing,
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, HttpClientError>,
    /** The headers of a response that costs nothing; `undefined` if there is no response. */
    probe: Effect.Effect<Headers | undefined>
  ) => Effect.Effect<HttpClientResponse, HttpClientError | SpendLimitReached>
  /** The same for an endless response, whose contents are counted by a meter unless they are free. */
  readonly metered: (use: (meter: Meter) => void) => Pick<SpendGuard, "guard">
}

/** The guard of a service by its URL; none unless a Layer of `Spend` is provided. */
export const SpendGuard = /*#__PURE__*/ Context.Reference<((bill: string) => SpendGuard) | undefined>(
  "@postwire/core/spend/Spend",
  { defaultValue: () => undefined }
)

/** Bodies that a guard has parsed for counting. */
const parsed = new WeakMap<HttpClientResponse, unknown>()

/** Parses the body of a response and keeps it for {@link takeBody}. */
export const parseBody = (response: HttpClientResponse, text: string): unknown => {
  const body = Json.parse(text)
  parsed.set(response, body)
  return body
}

/** The parsed body of a response. A kept one is returned only once, since decoding changes it. */
export const takeBody = (response: HttpClientResponse, text: string): unknown => {
  if (!parsed.has(response)) return Json.parse(text)
  const body = parsed.get(response)
  parsed.delete(response)
  return body
}
