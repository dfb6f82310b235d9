/** Durations in faults and admin calls. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

const units: Readonly<Record<string, Duration.Unit>> = { s: "seconds", m: "minutes", h: "hours", d: "days", w: "weeks" }

/** Spells out the abbreviations that are common in other languages. */
const spelt = (input: number | string): number | string => {
  if (typeof input === "number") return input
  const [, count, unit] = /^(\d+(?:\.\d+)?) *(ms|s|secs?|m|mins?|h|hrs?|d|w)$/.exec(input) ?? []
  return unit === undefined ? input : `${count} ${unit === "ms" ? "millis" : units[unit.charAt(0)]}`
}

/** A duration in milliseconds, in Effect's notation or abbreviated. */
export const Time = Schema.Union([Schema.Number, Schema.String]).check(
  Schema.makeFilter((input) => {
    // Validated by Effect's parser.
    const duration = Duration.fromInput(spelt(input) as Duration.Input)
    return duration._tag === "Some" && Duration.isFinite(duration.value) && !Duration.isNegative(duration.value)
      || "is not a duration: milliseconds, or \"2 seconds\""
  })
)

/** The duration in milliseconds. */
export const millisOf = (time: typeof Time.Type): number => Duration.toMillis(spelt(time) as Duration.Input)
