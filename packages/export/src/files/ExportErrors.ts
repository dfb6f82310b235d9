/**
 * The errors of an export, besides those of its calls. None of them loses data: the files are those of the last checkpoint, and
 * the same command with `resume` continues. `advice` says what to do.
 */
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/** A file or an unfinished export exists, and the mode is neither `resume` nor `force`. Nothing was changed. */
export class FileExists extends Schema.TaggedError<FileExists>()("FileExists", {
  path: Schema.String,
  /** True if the export is complete but for moving it to its place. */
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

/** The output file or its folder exists and may not be replaced by an export. Nothing was touched. */
export class OutputRefused extends Schema.TaggedError<OutputRefused>()("OutputRefused", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot export to ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Choose another name; for pipes and devices, use --out - and redirect it."
  }
}

/**
 * The disk is full, or a quota or the largest file size is reached. The rows up to the last checkpoint are safe; pages that were read
 * after it are requested again by a resume.
 */
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

/** The file cannot be written: no permission, a read-only disk, or no such folder. What was written before stays. */
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

/** Any other failure of a file, such as an error of the disk. The last checkpoint stays valid unless the disk has lost it. */
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

/**
 * The reader of standard output has stopped, as `head` does. The process ends silently. The service may charge for pages that were
 * requested and not read.
 */
export class PipeClosed extends Schema.TaggedError<PipeClosed>()("PipeClosed", {}) {
  /** The exit code that a shell shows for a program ended by a closed pipe. */
  override readonly [Runtime.errorExitCode] = 141
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return "The reader of standard output has stopped"
  }
  get advice(): string {
    return "Nothing needs to be done."
  }
}

/** The checkpoint belongs to another export: the query, the fields or the format differ. Nothing was changed. */
export class CheckpointMismatch extends Schema.TaggedError<CheckpointMismatch>()("CheckpointMismatch", {
  path: Schema.String,
  /** The differences: name, value in the checkpoint, value of this run. */
  differences: Schema.Array(Schema.Struct({ name: Schema.String, saved: Schema.String, asked: Schema.String }))
}) {
  override get message(): string {
    const listed = this.differences.map(({ asked, name, saved }) => `${name} was ${saved} and is now ${asked}`)
    return `${this.path} belongs to another export: ${listed.join("; ")}`
  }
  get advice(): string {
    return "Repeat the former query, choose another name, or start over (--force)."
  }
}

/** The checkpoint or a file beside it was changed, is damaged or is of another version. Nothing more was written. */
export class CheckpointUnusable extends Schema.TaggedError<CheckpointUnusable>()("CheckpointUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot continue from ${this.path}: ${this.reason}`
  }
  get advice(): string {
    return "Restore the files, or start over (--force)."
  }
}

/** Another process is writing this export. Nothing was changed. */
export class AlreadyRunning extends Schema.TaggedError<AlreadyRunning>()("AlreadyRunning", { path: Schema.String }) {
  override get message(): string {
    return `Another process is writing ${this.path}`
  }
  get advice(): string {
    return "Wait for it to end, or choose another name."
  }
}

/** The errors of the files of an export. */
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
