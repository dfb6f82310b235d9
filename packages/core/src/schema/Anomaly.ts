/** Parts of an answer that are not as the interface has them: left out and told of, for the rest is worth having. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type { Redact } from "../internal/redact.ts"
import { show } from "./Show.ts"

/** What becomes of an answer with anomalies: the rest of it (`lenient`), or an `UndecodableResponse` (`strict`). */
export type Verify = "lenient" | "strict"

/** A part of an answer that was left out. */
export interface Anomaly {
  /** Where it stood in the body as it came, in neutral names: `data[3].public_metrics.like_count`. */
  readonly path: string
  /** What the interface has there: `an integer`. */
  readonly expected: string
  /** What came instead, as JSON of at most 60 characters without credentials; `undefined` where nothing did. */
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

  /** What came, without what `redact` takes out. */
  glimpseWith(redact: Redact): string | undefined {
    return this.#value === undefined ? undefined : show(this.#value, redact)
  }
}

/** An anomaly as it may be told. */
export const told = (anomaly: Anomaly, redact: Redact): Anomaly => {
  const { expected, path } = anomaly
  return { path, expected, glimpse: anomaly instanceof Found ? anomaly.glimpseWith(redact) : anomaly.glimpse }
}

/** What is told of anomalies. */
export interface Telemetry {
  readonly found: (operation: string, anomalies: ReadonlyArray<Anomaly>) => Effect.Effect<void>
}

/** Whom a client tells of them: nobody, unless `client/Telemetry` counts them. */
export const Telemetry = Context.Reference<Telemetry>("@postwire/core/schema/Anomaly/Telemetry", {
  defaultValue: () => ({ found: () => Effect.void })
})

/** The same place of every item. */
export const placeOf = ({ path }: Anomaly): string => path.replace(/\[\d+\]/g, "[]")

/** How many there are of each place: a page has the same one in every item. */
export const countsOf = (anomalies: ReadonlyArray<Anomaly>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const anomaly of anomalies) {
    const place = placeOf(anomaly)
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return counts
}

/** What to warn of, once for each operation and place. What somebody wrote is not in it. */
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
        : `is not ${anomaly.expected} and was left out`
      return [`${operation}: ${place} ${what} (reported once)`]
    })
}
