/** Malformed requests to a sandbox in process. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Fuzz from "../../../packages/sandbox/test/support/Fuzz.ts"

/** The number of requests after which another sandbox takes its place. */
const mostOfOne = 20_000

/** The number of requests below which the heap shows nothing. */
const fewestWeighed = 4_000

/** Sends requests. Returns the message of the first broken rule, if any. */
export const run = async (cases: number, seed: number, say: (done: number) => void): Promise<string | undefined> => {
  for (let done = 0; done < cases; done += mostOfOne) {
    const count = Math.min(mostOfOne, cases - done)
    try {
      const { heap, statuses } = await Effect.runPromise(
        Effect.scoped(Fuzz.run(seed * 1_000 + done / mostOfOne, count)).pipe(Effect.provide(TestClock.layer()))
      )
      if (count >= fewestWeighed) Fuzz.checkRun(statuses, heap, count)
    } catch (error) {
      return String(error instanceof Error ? error.message : error)
    }
    say((done + count) / cases)
  }
  return undefined
}
