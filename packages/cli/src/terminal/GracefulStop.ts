/** Graceful stop: the first Ctrl-C asks the work to end, the second ends the process. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ErrorReport from "./ErrorReport.ts"
import * as Report from "./Report.ts"

/** Runs work that can be stopped. `finishing` is shown at the first Ctrl-C, `stopped` runs when the work has then ended. */
export const run = Effect.fnUntraced(function*<A, E, R, E2, R2>(
  work: (stop: Effect.Effect<void>) => Effect.Effect<A, E, R>,
  { finishing, stopped }: { readonly finishing: string; readonly stopped: (result: A) => Effect.Effect<void, E2, R2> }
) {
  const stop = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkDetach(work(Deferred.await(stop)), { startImmediately: true })
  return yield* Fiber.join(fiber).pipe(
    Effect.onInterrupt(() =>
      Effect.gen(function*() {
        yield* Deferred.succeed(stop, undefined)
        for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(ErrorReport.interrupted))
        yield* Report.say(finishing)
        const exit = yield* Fiber.await(fiber)
        if (exit._tag === "Success") yield* stopped(exit.value)
      })
    )
  )
})
