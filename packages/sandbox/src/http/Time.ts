/** Durations in faults. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/** A duration in milliseconds or in Effect's notation. */
export const Time = Schema.Union([Schema.Number, Schema.String]).check(
  Schema.makeFilter((input) => {
    // Validated by Effect's parser.
    const duration = Duration.fromInput(input as Duration.Input)
    return duration._tag === "Some" && Duration.isFinite(duration.value) && !Duration.isNegative(duration.value)
      || "is not a duration: milliseconds, or \"2 seconds\""
  })
)

/** The duration in milliseconds. */
export const millisOf = (time: typeof Time.Type): number => Duration.toMillis(time as Duration.Input)
