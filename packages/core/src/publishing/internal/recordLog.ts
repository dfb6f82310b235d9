/** A record of the journal while it changes. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { StorageFailure } from "../../errors/StorageErrors.ts"

/** A record, whose changes are durable before they are visible. */
export interface RecordLog<in out A> {
  readonly current: () => A
  /** Changes the record, one change at a time; `undefined` changes nothing. */
  readonly change: (next: (record: A) => A | undefined) => Effect.Effect<void, StorageFailure>
}

/** Makes the log of a record. */
export const make = <A>(write: (record: A) => Effect.Effect<void, StorageFailure>, begun: A): RecordLog<A> => {
  let record = begun
  const turn = Semaphore.makeUnsafe(1)
  return {
    current: () => record,
    change: (next) =>
      turn.withPermit(Effect.suspend(() => {
        const changed = next(record)
        return changed === undefined
          ? Effect.void
          : Effect.tap(write(changed), () => Effect.sync(() => record = changed))
      }))
  }
}
