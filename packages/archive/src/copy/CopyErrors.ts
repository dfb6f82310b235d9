/** The errors of a copy, besides those of calls and of its database (`SqlError`). */
import * as Schema from "effect/Schema"

/** The database is not a copy, or not one that this release can continue. Nothing was changed. */
export class CopyUnusable extends Schema.TaggedError<CopyUnusable>()("CopyUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.path} cannot be used: ${this.reason}`
  }
  get advice(): string {
    return "Name another file, or update Postwire."
  }
}

/** Another process syncs into the copy. This one has requested and changed nothing. */
export class SyncRunning extends Schema.TaggedError<SyncRunning>()("SyncRunning", { path: Schema.String }) {
  override get message(): string {
    return `Another process is syncing into ${this.path}`
  }
  get advice(): string {
    return "Wait until it has ended."
  }
}

/**
 * The service does not show a subject of a source, such as a user who does not exist or is protected. Other subjects are read, and what
 * the copy has of this one stays.
 */
export class SubjectUnavailable extends Schema.TaggedError<SubjectUnavailable>()("SubjectUnavailable", {
  /** The user, list or query, as the source names it. */
  subject: Schema.String,
  /** The detail that the service gave. */
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.subject} cannot be read: ${this.reason}`
  }
  get advice(): string {
    return "Correct the name, or remove the source."
  }
}

/** The error of a subject from the problems of a response. */
export const unavailable = (
  subject: string,
  [problem]: ReadonlyArray<{ readonly detail?: unknown; readonly title?: unknown }>
): SubjectUnavailable =>
  new SubjectUnavailable({ subject, reason: String(problem?.detail ?? problem?.title ?? "the response has no data") })

/** The file is not an archive of the service, or not one that can be trusted. Nothing of it was imported. */
export class TakeoutUnusable extends Schema.TaggedError<TakeoutUnusable>()("TakeoutUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.path} cannot be imported: ${this.reason}`
  }
  get advice(): string {
    return "Name the ZIP file that the service gave you, as it was downloaded."
  }
}
