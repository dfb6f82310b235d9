/** Durations in faults. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/** A duration, in milliseconds or as Effect spells it. */
export const Time = Schema.Union([Schema.Number, Schema.String]).check(
  Schema.makeFilter((input) => {
    // Its own parser decides what is a duration.
    const duration = Duration.fromInput(input as Duration.Input)
    return duration._tag === "Some" && Duration.isFinite(duration.value) && !Duration.isNegative(duration.value)
      || "is not a duration: milliseconds, or \"2 seconds\""
  })
)

/** How long it is, in milliseconds. */
export const millisOf = (time: typeof Time.Type): number => Duration.toMillis(time as Duration.Input)
