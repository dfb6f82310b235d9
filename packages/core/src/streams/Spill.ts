/** Storage outside of memory for the items of a slow consumer. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SpillFailed } from "../errors/StreamErrors.ts"

/** A queue of texts. */
export interface SpillQueue {
  readonly append: (texts: ReadonlyArray<string>) => Effect.Effect<void, SpillFailed>
  /** Takes the oldest texts: some of them, and none only if the queue is empty. */
  readonly take: Effect.Effect<ReadonlyArray<string>, SpillFailed>
}

/** Opens queues. Each is deleted when its scope is closed. */
export interface Spill {
  readonly open: Effect.Effect<SpillQueue, SpillFailed, Scope.Scope>
}

/** The storage of streams with `slowConsumer: "spill"`. The clients for Node.js have one; by default there is none. */
export const Spill: Context.Reference<Spill | undefined> = /*#__PURE__*/ Context.Reference(
  "@postwire/core/streams/Spill",
  { defaultValue: (): Spill | undefined => undefined }
)
