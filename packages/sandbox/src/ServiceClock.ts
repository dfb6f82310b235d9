/** The clock of the service: that of whoever runs it, moved. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** The clock of one service. What sleeps is not woken by moving it. */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly advance: (by: Duration.Input) => void
  /** Moves the clock to an instant, from where it goes on. */
  readonly set: (to: Date | number) => void
  /** Takes back every move. */
  readonly reset: () => void
  /** Runs an effect by this clock. */
  readonly provide: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Begins at `start`, or with the clock of the fiber that makes it. */
export const make = (start: Date | number | undefined): Effect.Effect<ServiceClock> =>
  Effect.clockWith((base) => {
    const begin = start === undefined ? 0 : Number(start) - base.currentTimeMillisUnsafe()
    let offset = begin
    const over = (clock: Clock.Clock): Clock.Clock => ({
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + offset,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + offset),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(Math.round(offset * 1_000_000)),
      currentTimeNanos: Effect.map(
        clock.currentTimeNanos,
        (nanos) => nanos + BigInt(Math.round(offset * 1_000_000))
      ),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    })
    return Effect.succeed({
      now: () => base.currentTimeMillisUnsafe() + offset,
      advance: (by) => void (offset += Duration.toMillis(by)),
      set: (to) => void (offset = Number(to) - base.currentTimeMillisUnsafe()),
      reset: () => void (offset = begin),
      // The clock of the fiber, which is not always the one that the service was made with.
      provide: (effect) => Effect.clockWith((clock) => Effect.provideService(effect, Clock.Clock, over(clock)))
    })
  })
