/**
 * The destination of a client's own log lines. By default they are logged like those of any Effect; a Layer that the client is
 * built with can redirect them without affecting the program's own lines.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import { identity } from "effect/Function"

/** Transforms the Effect that logs a line. */
export const Logging: Context.Reference<(line: Effect.Effect<void>) => Effect.Effect<void>> = Context.Reference(
  "@postwire/core/runtime/Logging",
  { defaultValue: () => identity }
)
