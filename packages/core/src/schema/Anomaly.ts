/** Parts of a response that do not match the schema: they are omitted and reported, and the rest is kept. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type { Redact } from "../internal/redact.ts"
import * as SecretMembers from "../internal/secretMembers.ts"
import { show } from "./Show.ts"

/** How to treat a response with anomalies: keep the rest of it (`lenient`), or fail with `UndecodableResponse` (`strict`). */
export type Verify = "lenient" | "strict"

/** A part of a response that was omitted. */
export interface Anomaly {
  /** Its path in the body as received, in neutral names: `data[3].public_metrics.like_count`. */
  readonly path: string
  /** The type that the schema has there: `an integer`. */
  readonly expected: string
  /** The value received instead, as JSON of at most 60 characters without credentials; `undefined` if nothing was received. */
  readonly glimpse: string | undefined
}

/** An anomaly that may still hold a credential. */
export class Found implements Anomaly {
  readonly path: string
  readonly expected: string
  readonly #value: unknown

  constructor(path: string, expected: string, value: unknown) {
    this.path = path
    this.expected = expected
    this.#value = value
  }

  get glimpse(): string | undefined {
    return this.glimpseWith(identity)
  }

  /** The value received, redacted. */
  glimpseWith(redact: Redact): string | undefined {
    if (this.#value === undefined) return undefined
    if (SecretMembers.isSecret(this.path)) return SecretMembers.marker
    return show(this.#value, (text) => SecretMembers.before(redact(text)))
  }
}

/** An anomaly that is safe to show. */
export const redacted = (anomaly: Anomaly, redact: Redact): Anomaly => {
  const { expected, path } = anomaly
  return { path, expected, glimpse: anomaly instanceof Found ? anomaly.glimpseWith(redact) : anomaly.glimpse }
}

/** Receives the anomalies of responses. */
export interface Telemetry {
  readonly found: (operation: string, anomalies: ReadonlyArray<Anomaly>) => Effect.Effect<void>
}

/** The receiver of a client's anomalies: none by default; `client/Telemetry` counts them. */
export const Telemetry = Context.Reference<Telemetry>("@postwire/core/schema/Anomaly/Telemetry", {
  defaultValue: () => ({ found: () => Effect.void })
})

/** The path without array indexes, the same for every item. */
export const placeOf = ({ path }: Anomaly): string => path.replace(/\[\d+\]/g, "[]")

/** How often each path occurs: a page has the same anomaly in every item. */
export const countsOf = (anomalies: ReadonlyArray<Anomaly>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const anomaly of anomalies) {
    const place = placeOf(anomaly)
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return counts
}

/** Warnings, one for each operation and path. They hold no content of users. */
export const makeWarnings = () => {
  const known = new Set<string>()
  return (operation: string, anomalies: ReadonlyArray<Anomaly>): ReadonlyArray<string> =>
    anomalies.flatMap((anomaly) => {
      const place = placeOf(anomaly)
      const key = `${operation} ${place}`
      if (known.has(key)) return []
      known.add(key)
      const what = anomaly.glimpse === undefined
        ? `is missing, ${anomaly.expected} was expected`
        : `is not ${anomaly.expected} and was omitted`
      return [`${operation}: ${place} ${what} (reported once)`]
    })
}
