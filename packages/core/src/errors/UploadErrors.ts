/**
 * Errors of uploads and threads, beside those of the calls themselves; re-exported by `Errors`. They are a module of their own
 * because a program that uploads nothing does not need them.
 */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/** The service processed the file and rejected it. This is permanent: encode it differently. */
export class MediaProcessingFailed extends Data.TaggedError("MediaProcessingFailed")<{
  readonly mediaId: string
  /** The service's name of the failure, such as `InvalidMedia`. */
  readonly reason?: string | undefined
  /** The detail that the service gave. */
  readonly detail?: string | undefined
  readonly code?: number | undefined
}> {
  override get message(): string {
    const said = [this.reason, this.detail].filter((text) => text !== undefined).join(": ").replace(/\.$/, "")
    return `The service cannot process media ${this.mediaId}${said === "" ? "" : ` (${said})`}. ${this.advice}`
  }
  get advice(): string {
    return "The file may be damaged, or of a type that the service does not accept."
  }
}

/** The file is still being processed after `maxWait`; it may be ready later. */
export class MediaNotReady extends Data.TaggedError("MediaNotReady")<{
  readonly mediaId: string
  /** The time waited, in milliseconds. */
  readonly waited: number
}> {
  override get message(): string {
    return `The service is still processing media ${this.mediaId} after ${
      Math.round(this.waited / 1000)
    } s. ${this.advice}`
  }
  get advice(): string {
    return "Nothing is lost: check with getMediaUploadStatus, or set a longer maxWait."
  }
}

/** The service has discarded the uploaded part, and the source cannot be read from its beginning again. */
export class UploadExpired extends Data.TaggedError("UploadExpired")<{
  readonly mediaId: string
}> {
  override get message(): string {
    return `The service no longer knows the upload of media ${this.mediaId}. ${this.advice}`
  }
  get advice(): string {
    return "Upload the file again."
  }
}

/** The fault of a source. */
export type SourceFault =
  /** There is no such file. */
  | "absent"
  /** This user has no permission to read it. */
  | "forbidden"
  /** It changed while it was read, or since the part of it that was sent. */
  | "changed"
  /** It ended before its size. */
  | "short"
  /** It continues beyond its size. */
  | "long"
  /** It cannot be read. */
  | "unreadable"

const sourceFaults: Readonly<Record<SourceFault, string>> = {
  absent: "there is no such file",
  forbidden: "this user has no permission to read it",
  changed: "it has changed since a part of it was sent",
  short: "it ended before its size",
  long: "it continues beyond its size",
  unreadable: "it cannot be read"
}

/** The file to upload cannot be read, or does not match its description. */
export class SourceFailure extends Data.TaggedError("SourceFailure")<{
  /** Its name; for a file, without its folders. */
  readonly source: string
  readonly fault: SourceFault
  /** The detail that the system gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return `Cannot upload ${this.source}: ${sourceFaults[this.fault]}${saidOf(this)}.`
  }
}

brand([MediaProcessingFailed, MediaNotReady, UploadExpired, SourceFailure])
