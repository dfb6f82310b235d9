/** The results of doctor. */

/** One result. */
export interface Check {
  readonly name: string
  /** `bad` prevents commands from working, `warning` may, `info` names what is not used. */
  readonly status: "ok" | "info" | "warning" | "bad"
  readonly finding: string
  readonly advice: string
  /** Figures, for programs. */
  readonly details?: Readonly<Record<string, unknown>>
}
