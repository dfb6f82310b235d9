/** A clock whose seconds are shorter, for a service and its clients in several processes. */
import { Clock, Duration, Effect } from "effect"

/** What processes that share such a clock are told. */
export interface Pace {
  /** When it shows what other clocks show, in milliseconds. */
  readonly origin: number
  /** How many of its seconds pass in one of others. */
  readonly pace: number
}

const system = Effect.runSync(Clock.clockWith(Effect.succeed))

/** The clock. */
export const clock = ({ origin, pace }: Pace): Clock.Clock => {
  const millis = () => Math.floor(origin + (Date.now() - origin) * pace)
  const nanos = () => BigInt(millis()) * 1_000_000n
  const monotonic = () => BigInt(Math.round(performance.now() * pace * 1_000_000))
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => system.sleep(Duration.millis(Duration.toMillis(duration) / pace))
  }
}
