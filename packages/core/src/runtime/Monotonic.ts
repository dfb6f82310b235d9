/**
 * Time that only passes, in milliseconds from an arbitrary start: for every duration. The wall clock, which is corrected
 * and set, is for dates alone.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const live: Clock.Clock = /*#__PURE__*/ Context.get(/*#__PURE__*/ Context.empty(), Clock.Clock)

/** Whether a clock is the real one, whose time passes by itself. */
export const isLive = (clock: Clock.Clock): boolean => clock === live

/** The real clock reads the platform's: nanoseconds as a bigint cost ten times as much, several times a call. */
export const millisUnsafe = (clock: Clock.Clock): number =>
  clock === live ? performance.now() : Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const millis: Effect.Effect<number> = /*#__PURE__*/ Clock.clockWith((clock) =>
  Effect.sync(() => millisUnsafe(clock))
)
