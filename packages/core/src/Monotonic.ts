/**
 * Time that only passes, in milliseconds from an arbitrary start: for every duration. The wall clock, which is corrected
 * and set, is for dates alone.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export const millisUnsafe = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const millis: Effect.Effect<number> = /*#__PURE__*/ Clock.clockWith((clock) =>
  Effect.sync(() => millisUnsafe(clock))
)
