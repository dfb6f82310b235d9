/** The types of rate limit policies, their readings and events. */
import type * as Clock from "effect/Clock"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { CredentialKind, RateLimitWaitTooLong } from "../errors/Errors.ts"
import type { Figures } from "../schema/RateLimitHeaders.ts"
import type * as Ledger from "./Ledger.ts"

/** The scope of one rate limit: the requests of one operation with one credential. */
export interface Bucket {
  readonly operation: string
  readonly credential: CredentialKind
  /** Unique to the operation, the credential and the service; never contains the credential itself. */
  readonly key: string
  /** The minimum of milliseconds between two requests, if the service has such a rule. */
  readonly pace?: number | undefined
}

/** The known state of a rate limit. */
export interface Usage extends Pick<Bucket, "operation" | "credential"> {
  /** Distinguishes the rate limits of several credentials; never contains the credential itself. */
  readonly bucket: string
  /** Requests per window; `undefined` while the window is unknown. */
  readonly limit: number | undefined
  /** Requests remaining, the lowest number announced in this window; `undefined` while the window is unknown. */
  readonly remaining: number | undefined
  /** The window's reset, by the service's clock. */
  readonly resetAt: Date | undefined
  /** Requests without a response yet, of all clients that share the store. */
  readonly inFlight: number
}

/** The start of a wait. Calls queued behind it wait too. */
export interface Waiting extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Waiting"
  readonly bucket: string
  /**
   * `window`: the rate limit is exhausted. `refusal`: a 429 demanded a pause. `pace`: too soon. `in flight`: depends on a response.
   * `turn`: callers of other processes were earlier.
   */
  readonly reason: Ledger.Reason
  readonly millis: number
  /** By the local clock. */
  readonly until: Date
}

/** A response that announced a rate limit. */
export interface Announced extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Announced"
  readonly bucket: string
  /** Requests per window. */
  readonly limit: number | undefined
  readonly remaining: number
  /** The window's reset, by the service's clock. */
  readonly resetAt: Date
}

/** An event of a rate limit. */
export type Change = Announced | Waiting

/** Decides when a request may be sent, and how to handle a 429. */
export interface Policy {
  /** True if the policy waits. */
  readonly waits: boolean
  readonly guard: Guard
  readonly snapshot: Effect.Effect<ReadonlyArray<Usage>>
  /** Calls the listener with every event, until the returned function is called. */
  readonly listen: (listener: (change: Change) => void) => () => void
}

/** Sends a request when it may be sent. */
export interface Guard {
  /** `patience` limits the wait for a shared store, in milliseconds. */
  <E>(
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, E>,
    patience?: number
  ): Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong>
  /**
   * The same for a caller that sees the outcome itself, if the guard delays no request. It belongs to the function and not to the
   * policy, so that a policy with another guard does not have it.
   */
  readonly following?: Following
}

/** Follows requests without delaying them. */
export interface Following {
  /** Called when a request is sent. */
  readonly sent: (bucket: Bucket) => Followed
  /** Called with the outcome of a request that was sent at `begun`, in milliseconds of the monotonic clock. */
  readonly ended: (
    followed: Followed,
    exit: Exit.Exit<HttpClientResponse, unknown>,
    begun: number,
    clock: Clock.Clock
  ) => void
}

/** A rate limit without reservations: requests in flight are only counted. */
export interface Followed {
  readonly bucket: Bucket
  readonly ledger: Ledger.Ledger
  inFlight: number
}

export const announced = (
  { credential, key, operation }: Bucket,
  { limit, remaining, window: reset }: Figures
) => ({
  _tag: "Announced" as const,
  operation,
  credential,
  bucket: key,
  limit,
  remaining,
  resetAt: new Date(reset * 1000)
})

export const usageOf = (
  { credential, key, operation }: Bucket,
  { inFlight, window: known }: Ledger.Reading
): Usage => ({
  operation,
  credential,
  bucket: key,
  limit: known?.limit,
  remaining: known?.remaining,
  resetAt: known && new Date(known.window * 1000),
  inFlight
})

/** The number of rate limits that are remembered; beyond it, the least recently used are dropped. */
export const maxRememberedBudgets = 10_000
