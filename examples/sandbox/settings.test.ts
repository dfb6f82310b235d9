import { sandboxTest } from "@postwire/sandbox/vitest"
import { describe, expect } from "vitest"

const test = sandboxTest({ posts: 0, start: Date.UTC(2026, 0, 1) })

test("begins with no posts, in January", ({ sandbox }) => {
  expect(sandbox.store.counts().posts).toBe(0)
  expect(new Date(sandbox.clock.now()).getUTCMonth()).toBe(0)
})

describe("a suite with other settings", () => {
  const busy = test.override({ sandboxOptions: { posts: 500, seed: 7 } })

  busy("can go back to where it was", ({ sandbox }) => {
    const snapshot = sandbox.snapshot()
    sandbox.ada.post("not for long")
    sandbox.restore(snapshot)
    expect(sandbox.store.counts().posts).toBe(500)
  })
})
