/** Where items wait for a slow consumer when memory is not to hold them. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SpillFailed } from "../errors/StreamErrors.ts"

/** A queue of texts outside of memory. */
export interface SpillQueue {
  /** Puts texts at its end. */
  readonly append: (texts: ReadonlyArray<string>) => Effect.Effect<void, SpillFailed>
  /** Takes texts from its beginning, oldest first: some of them, none only when it is empty. */
  readonly take: Effect.Effect<ReadonlyArray<string>, SpillFailed>
}

/** Makes queues, each of which is gone when its scope is closed. */
export interface Spill {
  readonly open: Effect.Effect<SpillQueue, SpillFailed, Scope.Scope>
}

/** Where streams with `slowConsumer: "spill"` let items wait. The clients of Node have one; else there is none. */
export const Spill: Context.Reference<Spill | undefined> = /*#__PURE__*/ Context.Reference(
  "@postwire/core/streams/Spill",
  { defaultValue: (): Spill | undefined => undefined }
)
