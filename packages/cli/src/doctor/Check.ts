/** What doctor finds. */

/** One thing that was looked at. */
export interface Check {
  readonly name: string
  /** `bad` keeps the command from working, `warning` may, `info` says what is not used. */
  readonly status: "ok" | "info" | "warning" | "bad"
  readonly finding: string
  readonly advice: string
  /** Figures, for programs. */
  readonly details?: Readonly<Record<string, unknown>>
}
