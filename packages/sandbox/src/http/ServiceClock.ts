/** The clock of the service: the program's clock with an offset. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** The clock of a service. Moving it wakes only the fibers that wait with `until` or `moved`. */
export type ServiceClock = Effect.Success<ReturnType<typeof make>>

/** True if a time in milliseconds is within the service's range: from 1990 to 2248. */
export const isInstant = (millis: number): boolean => millis >= Date.UTC(1990, 0) && millis < end

const end = Date.UTC(2248, 0)

/** Wakes what waits for a move of the clock. */
const makeMoves = () => {
  const waiting = new Set<() => void>()
  let count = 0
  return {
    count: () => count,
    notify: (): void => {
      count++
      for (const wake of Array.from(waiting)) wake()
    },
    /** Waits for a move that is not among the first `seen`. */
    after: (seen: number): Effect.Effect<void> =>
      Effect.callback((resume) => {
        const wake = () => {
          waiting.delete(wake)
          resume(Effect.void)
        }
        waiting.add(wake)
        if (count !== seen) wake()
        return Effect.sync(() => void waiting.delete(wake))
      })
  }
}

/** Starts at `start`, or at the time of the current fiber's clock. */
export const make = (start: Date | number | undefined) =>
  Effect.clockWith((base) => {
    const begun = base.currentTimeMillisUnsafe()
    let offset = 0
    let origin = begun
    const now = (): number => Math.floor(base.currentTimeMillisUnsafe() + offset)
    const moves = makeMoves()
    const until = (at: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        const left = at - now()
        if (left <= 0) return Effect.void
        const move = moves.after(moves.count())
        return Effect.flatMap(Effect.raceFirst(Effect.sleep(left), move), () => until(at))
      })
    const set = (to: Date | number): void => {
      const millis = Number(to)
      if (!isInstant(millis)) throw new RangeError("The clock can be set from 1990 to 2248")
      offset = millis - base.currentTimeMillisUnsafe()
      origin = millis
      moves.notify()
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
      /** The time in whole milliseconds since the epoch. */
      now,
      /** Waits until a time in milliseconds, to which the clock may be moved. */
      until,
      /** Waits for the next move. */
      moved: Effect.suspend(() => moves.after(moves.count())),
      /** Throws if the new time exceeds the range of ids. */
      advance: (by: Duration.Input): void => {
        const millis = Duration.toMillis(by)
        if (!(base.currentTimeMillisUnsafe() + offset + millis < end)) {
          throw new RangeError("advance leads beyond 2247, where the clock ends")
        }
        offset += millis
        moves.notify()
      },
      /** Sets the clock, which keeps running. Throws if the time is out of range: see {@link isInstant}. */
      set,
      /** The time at which the clock started, or to which it was last set. */
      origin: (): number => origin,
      /** Undoes all moves. */
      reset: (): void => {
        offset = begin
        origin = begun + begin
        moves.notify()
      },
      /** Returns a function that undoes all later moves. */
      mark: () => {
        const marked = [offset, origin] as const
        return (): void => {
          ;[offset, origin] = marked
          moves.notify()
        }
      },
      /** Runs an effect with this clock. The clock of the current fiber may differ from the one at creation. */
      provide: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.clockWith((clock) => Effect.provideService(effect, Clock.Clock, over(clock)))
    })
  })
