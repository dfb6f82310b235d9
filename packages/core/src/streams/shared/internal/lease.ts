/** A seat of a shared stream: how a process gets it, keeps it, and learns that it is lost. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../../runtime/Monotonic.ts"
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

/** A step that only the holder of a seat may make; `undefined` where the seat is lost. */
export const ifHeld = <A>(
  patience: Patience,
  step: Effect.Effect<A, LeaseLost | StreamLogUnavailable>
): Effect.Effect<A | undefined> => patiently(patience, step.pipe(Effect.catchTag("LeaseLost", () => Effect.undefined)))

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
    const kept = Effect.as(patience.log.prolong(seat, token, millis), true)
    const isKept = yield* Effect.timeoutOrElse(ifHeld(patience, kept), {
      duration: Math.max(0, known + millis - asked),
      orElse: () => Effect.undefined
    })
    if (isKept === undefined) return
    known = asked
  }
})
