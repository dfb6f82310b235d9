/**
 * A create that is sent once. It may wait long before that, for credentials or a rate limit. Meanwhile its note can be renewed
 * regularly, so that its age has an upper limit.
 */
import * as Effect from "effect/Effect"
import { SendGate, SendTracker } from "../../client/SendGate.ts"

/** The highest age of a note in milliseconds: a sixth of the time in which a post appears. */
export const ageOf = (lag: number): number => Math.max(Math.ceil(lag / 6), 100)

/** The steps of a create. */
interface Steps<in A, out E2, out R2, out E4, out R4> {
  /** Runs after its success, even if the fiber is interrupted. */
  readonly onSuccess: (value: A) => Effect.Effect<void, E2, R2>
  /** Runs if it is interrupted before anything was sent. */
  readonly onUnsent: Effect.Effect<void, E4, R4>
}

/** Runs a create. */
export const once = <A, E, R, E2, R2, E4, R4>(
  create: Effect.Effect<A, E, R>,
  { onSuccess, onUnsent }: Steps<A, E2, R2, E4, R4>
): Effect.Effect<void, E | E2, R | R2 | R4> =>
  Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(watched(create, Effect.ignore(onUnsent))), onSuccess))

/** Runs a create that may wait long, and renews its note meanwhile. */
export const run = <A, E, R, E2, R2, E3, R3, E4, R4>(
  create: Effect.Effect<A, E, R>,
  { every, note, ...steps }: Steps<A, E2, R2, E4, R4> & {
    readonly note: Effect.Effect<void, E3, R3>
    /** The interval of notes in milliseconds. */
    readonly every: number
  }
): Effect.Effect<void, E | E2, R | R2 | R3 | R4> =>
  Effect.raceFirst(
    once(create, steps),
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
