/** Streams as async iterables: what comes next is fetched when the loop gets there. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Calls from "../Calls.ts"
import type { CallDescription } from "../Methods.ts"
import type { Opening } from "../Workflows.ts"

/** What a stream has, anew with each loop. It is opened with the options of a method. */
export const iterable = <O extends Calls.Signalled<object>, A>(
  context: Calls.Context,
  told: CallDescription,
  options: O | undefined,
  open: (options: Omit<O, "signal"> | undefined) => Opening<A>
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const [signal, own] = Calls.split(told, options)
    return run(context, told, Effect.suspend(() => open(own)), signal)
  }
})

/** Ends what is left behind. */
async function* run<A>(
  context: Calls.Context,
  told: CallDescription,
  open: Opening<A>,
  signal: AbortSignal | undefined
): AsyncGenerator<A> {
  const scope = Scope.makeUnsafe()
  try {
    const next = Calls.valueOf(await Calls.run(context, told, Scope.provide(open, scope), signal), signal, run)
    while (true) {
      const some = Calls.valueOf(await Calls.run(context, told, next, signal), signal, run)
      if (some === undefined) return
      for (const one of some) {
        yield one
        signal?.throwIfAborted()
      }
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
