/** A seat of a shared stream: how a process gets it, keeps it, and learns that it is lost. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../Monotonic.ts"
import type { LeaseLost, Seat, Store, StreamLogUnavailable } from "../StreamLog.ts"

/** So soon a log is asked again that did not answer. */
const againMillis = 250

/** So often those who want a seat ask for one that another has: it may be given back before it lapses. */
const pollMillis = 500

/** A log, and who is told when it does not answer. */
export interface Patience {
  readonly log: Store
  /** Called with each failure. */
  readonly onAway: (error: StreamLogUnavailable, at: Date) => void
  /** Called when there is an answer to what had failed. */
  readonly onBack: () => void
}

/** Asks until there is an answer. */
export const patiently = <A>(
  { onAway, onBack }: Patience,
  step: Effect.Effect<A, StreamLogUnavailable>
): Effect.Effect<A> =>
  Effect.catch(step, (first) => {
    const again = (error: StreamLogUnavailable): Effect.Effect<A> =>
      Clock.clockWith((clock) => {
        onAway(error, new Date(clock.currentTimeMillisUnsafe()))
        return Effect.delay(Effect.catch(Effect.tap(step, () => Effect.sync(onBack)), again), againMillis)
      })
    return again(first)
  })

/** Does what only who has a seat may do. `false` where it is lost. */
export const ifHeld = (
  patience: Patience,
  step: Effect.Effect<void, LeaseLost | StreamLogUnavailable>
): Effect.Effect<boolean> =>
  patiently(patience, step.pipe(Effect.as(true), Effect.catchTag("LeaseLost", () => Effect.succeed(false))))

/** A seat that was had. */
export interface Seated {
  readonly token: number
  /** When it was asked for at the latest, in milliseconds of time that only passes. */
  readonly since: number
}

/** Waits for a seat. */
export const take = Effect.fnUntraced(function*(
  patience: Patience,
  seat: Seat,
  holder: string,
  millis: number
): Effect.fn.Return<Seated> {
  while (true) {
    const since = yield* Monotonic.millis
    const lease = yield* patiently(patience, patience.log.acquire(seat, holder, millis))
    if (lease._tag === "Held") return { token: lease.token, since }
    yield* Effect.sleep(Math.min(Math.max(lease.millis, 1), pollMillis))
  }
})

/** Keeps a seat, and ends when it is lost: another has it, or may have it, since the log has not answered for so long. */
export const keep = Effect.fnUntraced(function*(
  patience: Patience,
  seat: Seat,
  { since, token }: Seated,
  millis: number
) {
  let known = since
  while (true) {
    yield* Effect.sleep(millis / 4)
    const asked = yield* Monotonic.millis
    const isKept = yield* Effect.timeoutOrElse(ifHeld(patience, patience.log.prolong(seat, token, millis)), {
      duration: Math.max(0, known + millis - asked),
      orElse: () => Effect.succeed(false)
    })
    if (!isKept) return
    known = asked
  }
})
