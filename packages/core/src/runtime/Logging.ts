/**
 * Where the lines go that a client logs itself. They are the program's, like those of any Effect, unless a Layer that the
 * client is built with sends them elsewhere; the program's own lines stay where they are.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import { identity } from "effect/Function"

/** What is done with a line. */
export const Logging: Context.Reference<(line: Effect.Effect<void>) => Effect.Effect<void>> = Context.Reference(
  "@postwire/core/runtime/Logging",
  { defaultValue: () => identity }
)
