// The files of a worker share its globals and its modules: each test hands them on as it found them.
import { afterEach, vi } from "vitest"

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.useRealTimers()
})
