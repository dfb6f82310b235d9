/** Streams as async iterables: the next items are fetched when the loop needs them. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Calls from "../Calls.ts"
import type { CallDescription } from "../Methods.ts"
import type { Opening } from "../Workflows.ts"

/** An iterable over a stream, which every loop opens with the options of a method. */
export const iterable = <O extends Calls.Signalled<object>, A>(
  context: Calls.Context,
  description: CallDescription,
  options: O | undefined,
  open: (options: Omit<O, "signal"> | undefined) => Opening<A>
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const [signal, own] = Calls.split(description, options)
    return run(context, description, Effect.suspend(() => open(own)), signal)
  }
})

/** Iterates over a stream, and closes it with the loop. */
async function* run<A>(
  context: Calls.Context,
  description: CallDescription,
  open: Opening<A>,
  signal: AbortSignal | undefined
): AsyncGenerator<A> {
  const scope = Scope.makeUnsafe()
  try {
    const next = Calls.valueOf(await Calls.run(context, description, Scope.provide(open, scope), signal), signal, run)
    while (true) {
      const some = Calls.valueOf(await Calls.run(context, description, next, signal), signal, run)
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
