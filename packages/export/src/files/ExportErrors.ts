/**
 * What can go wrong with an export besides the calls themselves. Nothing is lost by any of them: the files stand as the
 * last checkpoint says, and the same command with `resume` goes on from there. `advice` says what to do.
 */
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/** A file or an unfinished export is there already, and neither `resume` nor `force` was asked for. */
export class FileExists extends Schema.TaggedError<FileExists>()("FileExists", {
  path: Schema.String,
  /** Whether the export is complete but for its place. */
  isComplete: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return `${this.path} exists already`
  }
  get advice(): string {
    if (this.isComplete === true) return "The export is complete: move that file away, then run it with --resume."
    return "Resume the export that made it (--resume), replace it (--force), or choose another name."
  }
}

/** What has the name of the result, or of its folder, is nothing that an export may replace. Nothing was touched. */
export class OutputRefused extends Schema.TaggedError<OutputRefused>()("OutputRefused", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot export to ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Choose another name; pipes and devices take the standard output of --out -."
  }
}

/** The disk, the quota or the largest size of a file is reached. */
export class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `No room to write ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return this.path === "standard output"
      ? "Make room, then run the same command again."
      : "Make room, then run the same command with --resume: nothing that was written is lost."
  }
}

/** The place cannot be written to: no permission, a read-only disk, no such folder. */
export class NotWritable extends Schema.TaggedError<NotWritable>()("NotWritable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot write ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Choose a folder that exists and that you may write to."
  }
}

/** Any other failure of a file. */
export class FileFailure extends Schema.TaggedError<FileFailure>()("FileFailure", {
  path: Schema.String,
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Look at the disk, then run the same command with --resume."
  }
}

/** Whoever read standard output has stopped reading, as `head` does. A quiet end. */
export class PipeClosed extends Schema.TaggedError<PipeClosed>()("PipeClosed", {}) {
  /** What a shell shows for a program that the closed pipe has ended. */
  override readonly [Runtime.errorExitCode] = 141
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return "The reader of standard output has stopped"
  }
  get advice(): string {
    return "Nothing needs to be done."
  }
}

/** The checkpoint belongs to another export. */
export class CheckpointMismatch extends Schema.TaggedError<CheckpointMismatch>()("CheckpointMismatch", {
  path: Schema.String,
  /** What differs: its name, what the checkpoint has and what was asked for. */
  differences: Schema.Array(Schema.Struct({ name: Schema.String, saved: Schema.String, asked: Schema.String }))
}) {
  override get message(): string {
    const listed = this.differences.map(({ asked, name, saved }) => `${name} was ${saved} and is now ${asked}`)
    return `${this.path} belongs to another export: ${listed.join("; ")}`
  }
  get advice(): string {
    return "Ask for the same as before, choose another name, or begin anew (--force)."
  }
}

/** The checkpoint or a file beside it is not as an export leaves it. */
export class CheckpointUnusable extends Schema.TaggedError<CheckpointUnusable>()("CheckpointUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot go on from ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Put the files back as they were, or begin anew (--force)."
  }
}

/** Another process is writing this export. */
export class AlreadyRunning extends Schema.TaggedError<AlreadyRunning>()("AlreadyRunning", { path: Schema.String }) {
  override get message(): string {
    return `Another process is writing ${this.path}`
  }
  get advice(): string {
    return "Wait for it to end, or choose another name."
  }
}

/** Every error of the files of an export. */
export type ExportError =
  | FileExists
  | OutputRefused
  | DiskFull
  | NotWritable
  | FileFailure
  | PipeClosed
  | CheckpointMismatch
  | CheckpointUnusable
  | AlreadyRunning
