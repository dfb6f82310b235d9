/** The clock of the service: that of whoever runs it, moved. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** The clock of one service. What sleeps is not woken by moving it. */
export interface ServiceClock {
  /** Whole milliseconds since the epoch, by whatever parts of one it was moved. */
  readonly now: () => number
  /** Throws when that is beyond what ids can tell. */
  readonly advance: (by: Duration.Input) => void
  /** Moves the clock to an instant, from where it goes on. Throws when ids cannot tell it: see {@link isInstant}. */
  readonly set: (to: Date | number) => void
  /** The instant at which the clock began, or to which it was set last. */
  readonly origin: () => number
  /** Takes back every move. */
  readonly reset: () => void
  /** Returns what takes back every move from now on. */
  readonly mark: () => () => void
  /** Runs an effect by this clock. */
  readonly provide: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Whether a time in milliseconds is one that the service knows: from 1990 to 2248. */
export const isInstant = (millis: number): boolean => millis >= Date.UTC(1990, 0) && millis < end

const end = Date.UTC(2248, 0)

/** Begins at `start`, or with the clock of the fiber that makes it. */
export const make = (start: Date | number | undefined): Effect.Effect<ServiceClock> =>
  Effect.clockWith((base) => {
    const begun = base.currentTimeMillisUnsafe()
    let offset = 0
    let origin = begun
    const set = (to: Date | number): void => {
      const millis = Number(to)
      if (!isInstant(millis)) throw new RangeError("The clock can be set from 1990 to 2248")
      offset = millis - base.currentTimeMillisUnsafe()
      origin = millis
    }
    if (start !== undefined) set(start)
    const begin = offset
    const over = (clock: Clock.Clock): Clock.Clock => ({
      currentTimeMillisUnsafe: () => Math.floor(clock.currentTimeMillisUnsafe() + offset),
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => Math.floor(millis + offset)),
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
      now: () => Math.floor(base.currentTimeMillisUnsafe() + offset),
      advance: (by) => {
        const millis = Duration.toMillis(by)
        if (!(base.currentTimeMillisUnsafe() + offset + millis < end)) {
          throw new RangeError("advance leads beyond 2247, where the clock ends")
        }
        offset += millis
      },
      set,
      origin: () => origin,
      reset: () => {
        offset = begin
        origin = begun + begin
      },
      mark: () => {
        const marked = [offset, origin] as const
        return () => void ([offset, origin] = marked)
      },
      // The clock of the fiber, which is not always the one that the service was made with.
      provide: (effect) => Effect.clockWith((clock) => Effect.provideService(effect, Clock.Clock, over(clock)))
    })
  })
