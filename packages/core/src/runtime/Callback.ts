/** Callbacks of the program. Their outcome has no effect. */
import * as Predicate from "effect/Predicate"

/** Calls a callback and ignores its exceptions and rejections. */
export const call = <A extends ReadonlyArray<unknown>>(hook: (...args: A) => unknown, ...args: A): void => {
  try {
    const result = hook(...args)
    if (Predicate.isPromiseLike(result)) result.then(undefined, () => {})
  } catch {
    // A callback must not make a call fail.
  }
}
