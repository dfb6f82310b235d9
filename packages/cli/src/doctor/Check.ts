/** The results of doctor. */
import * as Advice from "../terminal/Advice.ts"
import { statementOf } from "../terminal/ErrorReport.ts"

export interface Check {
  readonly name: string
  /** `bad` prevents commands from working, `warning` may, `info` names what is not used. */
  readonly status: "ok" | "info" | "warning" | "bad"
  readonly finding: string
  readonly advice: string
  /** Figures, for programs. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

export const result = (
  name: string,
  status: Check["status"],
  finding: string,
  advice: string,
  details?: Readonly<Record<string, unknown>>
): Check => ({ name, status, finding, advice, details })

/** The result of a check that has found an error. */
export const faulty = (name: string, status: Check["status"], error: Error): Check =>
  result(name, status, statementOf(error), Advice.of(error, [], {}) ?? "")
