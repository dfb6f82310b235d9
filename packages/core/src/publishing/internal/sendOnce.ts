/**
 * A create that may wait for long before it leaves: for credentials, for a rate limit. While it goes on, that is noted now and
 * then, so that whoever finds the note knows how old it is at most.
 */
import * as Effect from "effect/Effect"
import { SendGate, SendTracker } from "../../client/SendGate.ts"

/** How old a note is at most, in milliseconds: a sixth of what a post may take to appear. */
export const ageOf = (lag: number): number => Math.max(Math.ceil(lag / 6), 100)

/** Runs a create, and what is to happen to its success, whatever else ends meanwhile. */
export const run = <A, E, R, E2, R2, E3, R3, E4, R4>(
  create: Effect.Effect<A, E, R>,
  { every, note, onSuccess, onUnsent }: {
    readonly onSuccess: (value: A) => Effect.Effect<void, E2, R2>
    readonly note: Effect.Effect<void, E3, R3>
    /** How often that is, in milliseconds. */
    readonly every: number
    /** Where it is interrupted before anything of it has left. */
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
