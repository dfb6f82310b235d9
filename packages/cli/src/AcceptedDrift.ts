/** Where the catalogue differs from the service's published documents on purpose, and why. */
import type { Accepted } from "./Drift.ts"

/** Every difference that is accepted. One that is no longer there is reported as stale. */
export const acceptedDrift: ReadonlyArray<Accepted> = []
