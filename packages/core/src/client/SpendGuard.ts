/** Where a client asks before it spends. Apart from `Spend`, because most programs do not count what is spent. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { Values } from "../auth/Credentials.ts"
import type { SpendLimitReached } from "../errors/Errors.ts"
import type { Bucket } from "../rate-limit/Policy.ts"
import type { Headers } from "../schema/Response.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"

/** A request that is about to be sent. */
export interface Outgoing {
  readonly prepared: Prepared
  readonly values: Values
  readonly url: string
  /** How many milliseconds are left of the time for the call; who waits takes them from it. */
  readonly terms: { left: number }
  /** Requests of the call that were sent. */
  readonly sent: number
}

/** Counts what a response without an end is charged. */
export interface Meter {
  /** Counts what has come, and fails when one more might pass a limit. */
  readonly count: (bodies: ReadonlyArray<object>) => Effect.Effect<void, SpendLimitReached>
  /** No more will come. */
  readonly end: Effect.Effect<void>
}

/** Counts what the requests of a client are charged. */
export interface SpendGuard {
  /** Sends a request, unless it might pass a limit. */
  readonly guard: (
    outgoing: Outgoing,
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, HttpClientError>,
    /** The headers of an answer that costs nothing; `undefined` when there is no answer. */
    ask: Effect.Effect<Headers | undefined>
  ) => Effect.Effect<HttpClientResponse, HttpClientError | SpendLimitReached>
  /** The same for a response without an end: what it brings is counted by a meter, unless it is free. */
  readonly metered: (use: (meter: Meter) => void) => Pick<SpendGuard, "guard">
}

/** The guard in force for a service by its address; none unless a Layer of `Spend` is provided. */
export const SpendGuard = /*#__PURE__*/ Context.Reference<((bill: string) => SpendGuard) | undefined>(
  "@postwire/core/spend/Spend",
  { defaultValue: () => undefined }
)
