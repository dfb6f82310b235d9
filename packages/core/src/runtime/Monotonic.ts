/**
 * Monotonic time in milliseconds from an arbitrary start, for durations. The wall clock, which can be adjusted, is only for
 * dates.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const live: Clock.Clock = /*#__PURE__*/ Context.get(/*#__PURE__*/ Context.empty(), Clock.Clock)

/** Tests whether a clock is the real one. */
export const isLive = (clock: Clock.Clock): boolean => clock === live

/** Reads the platform's timer for the real clock: nanoseconds as a bigint cost ten times as much, several times per call. */
export const millisUnsafe = (clock: Clock.Clock): number =>
  clock === live ? performance.now() : Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const millis: Effect.Effect<number> = /*#__PURE__*/ Clock.clockWith((clock) =>
  Effect.sync(() => millisUnsafe(clock))
)
