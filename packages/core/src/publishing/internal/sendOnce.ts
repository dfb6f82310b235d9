/**
 * A create that may wait long before it is sent, for credentials or a rate limit. Meanwhile its note is renewed regularly, so that
 * its age has an upper limit.
 */
import * as Effect from "effect/Effect"
import { SendGate, SendTracker } from "../../client/SendGate.ts"

/** The highest age of a note in milliseconds: a sixth of the time in which a post appears. */
export const ageOf = (lag: number): number => Math.max(Math.ceil(lag / 6), 100)

/** Runs a create. After its success `onSuccess` runs even if the fiber is interrupted. */
export const run = <A, E, R, E2, R2, E3, R3, E4, R4>(
  create: Effect.Effect<A, E, R>,
  { every, note, onSuccess, onUnsent }: {
    readonly onSuccess: (value: A) => Effect.Effect<void, E2, R2>
    readonly note: Effect.Effect<void, E3, R3>
    /** The interval of notes in milliseconds. */
    readonly every: number
    /** Runs if the create is interrupted before anything was sent. */
    readonly onUnsent: Effect.Effect<void, E4, R4>
  }
): Effect.Effect<void, E | E2, R | R2 | R3 | R4> =>
  Effect.raceFirst(
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(watched(create, Effect.ignore(onUnsent))), onSuccess)
    ),
    Effect.forever(Effect.delay(Effect.uninterruptible(Effect.ignore(note)), every))
  )

const watched = <A, E, R, R2>(create: Effect.Effect<A, E, R>, onUnsent: Effect.Effect<void, never, R2>) =>
  Effect.flatMap(SendGate, (outer) => {
    const own = new SendTracker()
    const gate: SendGate = {
      maySend: () => outer?.maySend() !== false && own.maySend(),
      withoutEffect: () => {
        outer?.withoutEffect()
        own.withoutEffect()
      }
    }
    return create.pipe(
      Effect.provideService(SendGate, gate),
      Effect.onInterrupt(() => own.isOut ? Effect.void : onUnsent)
    )
  })
