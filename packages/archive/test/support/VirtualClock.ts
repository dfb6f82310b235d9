/** A clock for programs in one process: when all of them wait, it jumps to the next moment that one of them waits for. */
import { type Clock, Duration, Effect } from "effect"

/** Turns of the event loop in which nobody reads the clock before it jumps. */
const quietTurns = 30

export const make = (start: number) => {
  let now = start
  let turns = 0
  let isRunning = false
  const waiting = new Set<{ readonly at: number; readonly wake: () => void }>()
  const turn = (): void => {
    if (waiting.size === 0) {
      isRunning = false
      return
    }
    if (++turns > quietTurns) {
      turns = 0
      const next = [...waiting].reduce((first, one) => one.at < first.at ? one : first)
      waiting.delete(next)
      now = Math.max(now, next.at)
      next.wake()
    }
    setImmediate(turn)
  }
  const read = (): number => {
    turns = 0
    return now
  }
  const nanos = (): bigint => BigInt(Math.round(read())) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: read,
    currentTimeMillis: Effect.sync(read),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const one = { at: read() + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        waiting.add(one)
        if (!isRunning) {
          isRunning = true
          setImmediate(turn)
        }
        return Effect.sync(() => void waiting.delete(one))
      })
  }
  return {
    clock,
    now: () => now,
    advance: (millis: number): void => void (now += millis)
  }
}
