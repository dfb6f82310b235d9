/** What checks of compliance can fail with besides the calls themselves; programs find it in `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** A job, or an address of it, is over its time. */
export class ComplianceExpired extends Data.TaggedError("ComplianceExpired")<{
  readonly jobId: string
  /** What came too late: sending the ids, fetching the results, or the job as a whole. */
  readonly what: "upload" | "download" | "job"
}> {
  override get message(): string {
    return `Compliance job ${this.jobId} ${expired[this.what]}. Create another one.`
  }
}

const expired = {
  upload: "takes no ids any more",
  download: "does not have its results any more",
  job: "has expired"
} as const

/** A job has no results yet. It goes on, and may have them later. */
export class ComplianceNotComplete extends Data.TaggedError("ComplianceNotComplete")<{
  readonly jobId: string
  /** `created` of one that has no ids yet. */
  readonly status: string
  /** How long it was waited for, in milliseconds. */
  readonly waited?: number | undefined
}> {
  override get message(): string {
    const waited = this.waited === undefined ? "" : ` after ${Math.round(this.waited / 1000)} s`
    return `Compliance job ${this.jobId} is not complete${waited}: it is ${this.status}. ` +
      "Nothing is lost: look with getComplianceJob, or set a longer maxWait."
  }
}

/** The service could not do a job. */
export class ComplianceFailed extends Data.TaggedError("ComplianceFailed")<{
  readonly jobId: string
}> {
  override get message(): string {
    return `Compliance job ${this.jobId} has failed. Look at the ids that it was given, and create another one.`
  }
}

/** The address of a job refuses its file. */
export class ComplianceRefused extends Data.TaggedError("ComplianceRefused")<{
  readonly jobId: string
  readonly what: "upload" | "download"
  readonly status: number
  /** The first 2,000 characters of the answer. */
  readonly excerpt?: string | undefined
}> {
  override get message(): string {
    return `Compliance job ${this.jobId}: its ${this.what} was refused (${this.status}).`
  }
}

/** The results of a job are not as they should be, or not whole. What came before was given out. */
export class ComplianceUnreadable extends Data.TaggedError("ComplianceUnreadable")<{
  readonly jobId: string
  /** The line at fault, from 1; none of the file as a whole. */
  readonly line?: number | undefined
  readonly reason: string
}> {
  override get message(): string {
    const line = this.line === undefined ? "" : `, line ${this.line}`
    return `Compliance job ${this.jobId}: cannot read its results${line}: ${this.reason}.`
  }
}

brand([ComplianceExpired, ComplianceNotComplete, ComplianceFailed, ComplianceRefused, ComplianceUnreadable])
