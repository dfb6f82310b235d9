/** The library of encrypted chat, which the service's company publishes: a peer that may be absent. */
import { beforeEach } from "vitest"

const missing = await import("@xdevplatform/chat-xdk").then(() => undefined, (error: Error) => error.message)

/** Skips the tests of a file, or of a suite, that need the library where it is missing. */
export const needsLibrary = (): void =>
  beforeEach(({ skip }) => skip(missing !== undefined, `skipped, for want of @xdevplatform/chat-xdk: ${missing}`))
