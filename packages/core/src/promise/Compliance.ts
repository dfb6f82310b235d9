/** Checks of what is stored, with Promises. */
import type { ComplianceJob } from "../schema/models/ComplianceJob.ts"
import type * as Core from "../workflows/Compliance.ts"
import * as Calls from "./Calls.ts"
import * as Iteration from "./internal/iteration.ts"
import * as Workflows from "./Workflows.ts"

export type { Ids, Job, Progress, Result, Type } from "../workflows/Compliance.ts"

/** What is checked, and how; `I` is what the platform takes for a file. */
export interface CheckOptions<I> extends Calls.Signalled<Omit<Core.CheckOptions, "ids">> {
  /** Ids, or a text of them with one on a line. */
  readonly ids: Core.Ids | I
}

/** Which of the posts or users that an app has stored are gone, hidden or changed since. */
export interface Compliance<I> {
  /** Sends the ids of a job to its `upload_url`; resolves with how many there were. */
  readonly upload: (job: Core.Job, ids: Core.Ids | I, options?: Calls.Signalled<{}>) => Promise<number>
  /** Waits until a job is complete, with pauses that grow from one second to half a minute. */
  readonly wait: (job: Pick<Core.Job, "id">, options?: Calls.Signalled<Core.WaitOptions>) => Promise<ComplianceJob>
  /** The results of a complete job. Little of them is in memory at a time, and what is cut goes on where it was. */
  readonly results: (job: Core.Job, options?: Calls.Signalled<{}>) => AsyncIterable<Core.Result>
  /**
   * Checks ids from the beginning to the end: creates a job, sends its ids, waits for it and fetches its results; then the next
   * one, where there are more ids than a job has. An app has one unfinished job of a type at a time.
   */
  readonly check: (options: CheckOptions<I>) => AsyncIterable<Core.Result>
}

/** How errors tell of them. */
export const calls = {
  upload: { name: "Compliance.upload", effect: "toggle" },
  wait: { name: "Compliance.wait", effect: "read" },
  results: { name: "Compliance.results", effect: "read" },
  check: { name: "Compliance.check", effect: "toggle" }
} as const

/** The methods of a client. */
export const make = <I>(context: Calls.Context, inputOf: Workflows.InputOf<I>): Compliance<I> => {
  const effects = Workflows.on(inputOf)
  return {
    upload: (job, ids, options) =>
      Calls.call(context, calls.upload, options, () => effects.uploadComplianceIds(job, ids)),
    wait: (job, options) => Calls.call(context, calls.wait, options, (own) => effects.waitForCompliance(job, own)),
    results: (job, options) =>
      Iteration.iterable(context, calls.results, options, () => effects.openComplianceResults(job)),
    check: (options) =>
      Iteration.iterable(context, calls.check, options, (own = options) => effects.openComplianceCheck(own))
  }
}
