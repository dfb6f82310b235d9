/** What is known and told of rate limits. */
import type * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { CredentialKind, RateLimitWaitTooLong } from "../errors/Errors.ts"
import type { Figures } from "../schema/RateLimitHeaders.ts"
import type * as Ledger from "./Ledger.ts"

/** What one budget counts: the requests of one operation with one credential. */
export interface Bucket {
  readonly operation: string
  readonly credential: CredentialKind
  /** Unique to the operation, the credential and the service; never holds the credential itself. */
  readonly key: string
  /** The least milliseconds between two requests, where the service has such a rule. */
  readonly pace?: number | undefined
}

/** What is known of a budget. */
export interface Usage extends Pick<Bucket, "operation" | "credential"> {
  /** Tells apart the budgets of several credentials; never holds the credential itself. */
  readonly bucket: string
  /** Requests per window; `undefined` while nothing is known of the window. */
  readonly limit: number | undefined
  /** Requests left, the lowest figure announced in this window; `undefined` while nothing is known of the window. */
  readonly remaining: number | undefined
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date | undefined
  /** Requests sent and not answered, of all who share the store. */
  readonly inFlight: number
}

/** A wait, as it begins. Calls that queue behind it wait too. */
export interface Waiting extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Waiting"
  readonly bucket: string
  /**
   * `window`: it is spent. `refusal`: a 429 asked for a pause. `pace`: too soon. `in flight`: an answer decides. `turn`:
   * callers of other processes came before.
   */
  readonly reason: Ledger.Reason
  readonly millis: number
  /** By the local clock. */
  readonly until: Date
}

/** An answer that announced a budget. */
export interface Announced extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Announced"
  readonly bucket: string
  /** Requests per window. */
  readonly limit: number | undefined
  readonly remaining: number
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date
}

/** What happens to budgets. */
export type Change = Announced | Waiting

/** Decides when a request may be sent and what a 429 leads to. */
export interface Policy {
  /** Whether it waits at all. */
  readonly waits: boolean
  /** `patience` is how many milliseconds may pass until a shared store answers. */
  readonly guard: <E>(
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, E>,
    patience?: number
  ) => Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong>
  readonly snapshot: Effect.Effect<ReadonlyArray<Usage>>
  /** Calls the listener with every change, until the returned function is called. */
  readonly listen: (listener: (change: Change) => void) => () => void
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

/** Budgets that are remembered; beyond them, those not used of late go. */
export const maxRememberedBudgets = 10_000
