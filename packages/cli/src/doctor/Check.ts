/** The results of doctor. */
import * as Advice from "../terminal/Advice.ts"
import { statementOf } from "../terminal/ErrorReport.ts"

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

/** The check that has found an error. */
export const faulty = (name: string, status: Check["status"], error: Error): Check => ({
  name,
  status,
  finding: statementOf(error),
  advice: Advice.of(error, [], {}) ?? ""
})
