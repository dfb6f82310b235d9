/** Stops of Promise programs. */
import * as Effect from "effect/Effect"

/** Completes when a signal aborts. */
export const aborted = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const end = () => resume(Effect.void)
    if (signal.aborted) return end()
    signal.addEventListener("abort", end, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })
