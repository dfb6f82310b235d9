/** Functions of the program that are told what happens. Nothing depends on what becomes of them. */
import * as Predicate from "effect/Predicate"

/** Calls one. What it throws is ignored, and so is what it rejects with when it is asynchronous. */
export const tell = <A extends ReadonlyArray<unknown>>(hook: (...told: A) => unknown, ...told: A): void => {
  try {
    const result = hook(...told)
    if (Predicate.isPromiseLike(result)) result.then(undefined, () => {})
  } catch {
    // It must not decide whether a call succeeds.
  }
}
