/** The name sets of a service: the neutral names of this library, those of X today, and those of X in February 2026. */
export type WireName = "neutral" | "x" | "x-2026-02"
