// The files of a worker share its globals and its modules: each test hands them on as it found them.
import { Effect } from "effect"
import { afterEach, vi } from "vitest"
import * as Streaming from "./packages/core/src/streams/Streaming.ts"

// A clock that stands still does not wait for code.
await Effect.runPromise(Streaming.load)

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.useRealTimers()
})
