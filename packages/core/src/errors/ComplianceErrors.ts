/** Errors of compliance checks, beside those of the calls themselves; re-exported by `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** A compliance job, or one of its URLs, has expired. */
export class ComplianceExpired extends Data.TaggedError("ComplianceExpired")<{
  readonly jobId: string
  /** Which deadline has passed: for uploading the ids, downloading the results, or the whole job. */
  readonly what: "upload" | "download" | "job"
}> {
  override get message(): string {
    return `Compliance job ${this.jobId} ${expired[this.what]}. ${this.advice}`
  }
  get advice(): string {
    return "Create another one."
  }
}

const expired = {
  upload: "no longer accepts ids",
  download: "no longer has its results",
  job: "has expired"
} as const

/** A job has no results yet. It is still running and may have them later. */
export class ComplianceNotComplete extends Data.TaggedError("ComplianceNotComplete")<{
  readonly jobId: string
  /** `created` for a job that has no ids yet. */
  readonly status: string
  /** The time waited, in milliseconds. */
  readonly waited?: number | undefined
}> {
  override get message(): string {
    const waited = this.waited === undefined ? "" : ` after ${Math.round(this.waited / 1000)} s`
    return `Compliance job ${this.jobId} is not complete${waited}: it is ${this.status}. ${this.advice}`
  }
  get advice(): string {
    return "Nothing is lost: check with getComplianceJob, or set a longer maxWait."
  }
}

/** The service could not complete a job. */
export class ComplianceFailed extends Data.TaggedError("ComplianceFailed")<{
  readonly jobId: string
}> {
  override get message(): string {
    return `Compliance job ${this.jobId} has failed. ${this.advice}`
  }
  get advice(): string {
    return "Check the ids that were uploaded, and create another job."
  }
}

/** The upload or download URL of a job refused the request. */
export class ComplianceRefused extends Data.TaggedError("ComplianceRefused")<{
  readonly jobId: string
  readonly what: "upload" | "download"
  readonly status: number
  /** The first 2,000 characters of the response. */
  readonly excerpt?: string | undefined
}> {
  override get message(): string {
    return `Compliance job ${this.jobId}: its ${this.what} was refused (${this.status}).`
  }
}

/** The results of a job are malformed or incomplete. Results before the fault were already emitted. */
export class ComplianceUnreadable extends Data.TaggedError("ComplianceUnreadable")<{
  readonly jobId: string
  /** The malformed line, from 1; absent if the file as a whole is at fault. */
  readonly line?: number | undefined
  readonly reason: string
}> {
  override get message(): string {
    const line = this.line === undefined ? "" : `, line ${this.line}`
    return `Compliance job ${this.jobId}: cannot read its results${line}: ${this.reason}.`
  }
}

brand([ComplianceExpired, ComplianceNotComplete, ComplianceFailed, ComplianceRefused, ComplianceUnreadable])
