import { assert } from "@effect/vitest"

/** The error that a call throws. */
export const thrown = (call: () => unknown): unknown => {
  try {
    call()
  } catch (error) {
    return error
  }
  return assert.fail("nothing was thrown")
}
