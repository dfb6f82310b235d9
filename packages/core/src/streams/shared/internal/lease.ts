/** Takes and keeps seats of a shared stream, and notices when one is lost. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../../runtime/Monotonic.ts"
import type { LeaseLost, Seat, Store, StreamLogUnavailable } from "../StreamLog.ts"

/** The pause after a failed request to the log. */
const againMillis = 250

/** How often to request a seat that another process has: it may be released before its lease expires. */
const pollMillis = 500

/** A log, with callbacks for its failures. */
export interface Patience {
  readonly log: Store
  /** Called with each failure. */
  readonly onAway: (error: StreamLogUnavailable, at: Date) => void
  /** Called when a request succeeds that had failed. */
  readonly onBack: () => void
}

/** Retries until the log responds. */
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

/** Runs a step that only the holder of a seat may make. Returns `undefined` if the seat is lost. */
export const ifHeld = <A>(
  patience: Patience,
  step: Effect.Effect<A, LeaseLost | StreamLogUnavailable>
): Effect.Effect<A | undefined> => patiently(patience, step.pipe(Effect.catchTag("LeaseLost", () => Effect.undefined)))

/** A seat that was taken. */
export interface Seated {
  readonly token: number
  /** When it was requested, in monotonic milliseconds. */
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

/** Keeps a seat. Ends when it is lost: another process has it, or may have it because the log has been silent for too long. */
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
