/** Functions of the program that are args what happens. Nothing depends on what becomes of them. */
import * as Predicate from "effect/Predicate"

/** Calls one. What it throws is ignored, and so is what it rejects with when it is asynchronous. */
export const call = <A extends ReadonlyArray<unknown>>(hook: (...args: A) => unknown, ...args: A): void => {
  try {
    const result = hook(...args)
    if (Predicate.isPromiseLike(result)) result.then(undefined, () => {})
  } catch {
    // It must not decide whether a call succeeds.
  }
}
