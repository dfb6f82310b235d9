/**
 * How the service delivers events to a webhook: field names, time limits and retries.
 *
 * @stability experimental
 */
import * as Predicate from "effect/Predicate"
import { streamActivity } from "../streams/operations/ActivityStreams.ts"
import { envelope } from "../wire/ResponseDecoder.ts"
import * as Wire from "../wire/Wire.ts"

/** The time for the answer to a challenge, in milliseconds. */
export const challengeMillis = 3_000

/** The time for the answer to a delivery, in milliseconds. */
export const answerMillis = 10_000

/**
 * The waits before the further attempts of a delivery, in milliseconds. Today's documentation promises retries without figures;
 * these are of its page about Enterprise Account Activity, until 2026-05-04.
 */
export const retryMillis: ReadonlyArray<number> = [3_000, 27_000, 242_000]

/** The status that acknowledges a delivery or answers a challenge. */
export const acknowledged = 200

const february = /*#__PURE__*/ Wire.x202602.fromNeutral(/*#__PURE__*/ envelope(streamActivity.definition.result))

/**
 * The body of an event as the service delivers it: with the names of February, whatever those of its answers, every number as text,
 * too, and related objects beside the event.
 */
export const spell = ({ includes, ...data }: { readonly includes?: object | undefined }): unknown =>
  withTwins(february({ data, ...includes !== undefined && { includes } }))

const withTwins = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withTwins)
    : Predicate.isObject(value)
    ? Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) =>
        typeof inner === "number" ? [[name, inner], [`${name}_str`, String(inner)]] : [[name, withTwins(inner)]]
      )
    )
    : value
