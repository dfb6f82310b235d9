/**
 * What an upload and a thread can fail with besides the calls themselves; programs find it in `Errors`. Apart from those, for a
 * program that uploads nothing has no need of them.
 */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** The service has looked at a medium and refuses it. It stays so: the file has to be made in another way. */
export class MediaProcessingFailed extends Data.TaggedError("MediaProcessingFailed")<{
  readonly mediaId: string
  /** What the service calls it, as `InvalidMedia`. */
  readonly reason?: string | undefined
  /** What the service says of it. */
  readonly detail?: string | undefined
  readonly code?: number | undefined
}> {
  override get message(): string {
    const said = [this.reason, this.detail].filter((text) => text !== undefined).join(": ").replace(/\.$/, "")
    return `The service cannot process media ${this.mediaId}${said === "" ? "" : ` (${said})`}. ` +
      "The file may be damaged, or of a kind that the service does not take."
  }
}

/** A medium is still being processed after `maxWait`. It is with the service, and may be ready later. */
export class MediaNotReady extends Data.TaggedError("MediaNotReady")<{
  readonly mediaId: string
  /** How long it was waited for, in milliseconds. */
  readonly waited: number
}> {
  override get message(): string {
    return `The service still processes media ${this.mediaId} after ${Math.round(this.waited / 1000)} s. ` +
      "Nothing is lost: look with getMediaUploadStatus, or set a longer maxWait."
  }
}

/** The service does not keep what was sent any more, and the source cannot be read from its beginning again. */
export class UploadExpired extends Data.TaggedError("UploadExpired")<{
  readonly mediaId: string
}> {
  override get message(): string {
    return `The service no longer knows the upload of media ${this.mediaId}. Upload the file again.`
  }
}

/** What is wrong with a source. */
export type SourceFault =
  /** There is no such file. */
  | "absent"
  /** This user may not read it. */
  | "forbidden"
  /** It changed while it was read, or since the part of it that was sent. */
  | "changed"
  /** It ended before its size. */
  | "short"
  /** It goes on beyond its size. */
  | "long"
  /** It cannot be read. */
  | "unreadable"

const sourceFaults: Readonly<Record<SourceFault, string>> = {
  absent: "there is no such file",
  forbidden: "this user may not read it",
  changed: "it has changed since a part of it was sent",
  short: "it ended before its size",
  long: "it goes on beyond its size",
  unreadable: "it cannot be read"
}

/** What was to be uploaded cannot be read, or is not what it was said to be. */
export class SourceFailure extends Data.TaggedError("SourceFailure")<{
  /** Its name: of a file that without its folders. */
  readonly source: string
  readonly fault: SourceFault
  /** What the system said. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const said = this.detail === undefined ? "" : ` (${this.detail.replace(/\.$/, "")})`
    return `Cannot upload ${this.source}: ${sourceFaults[this.fault]}${said}.`
  }
}

/** What is wrong with a journal. */
export type JournalFault =
  /** Somebody else works with the same key. */
  | "locked"
  /** It is not there, or cannot be reached. */
  | "unavailable"
  /** It cannot be written, or not be read, by this user. */
  | "forbidden"
  /** Other users of the machine may change it. */
  | "exposed"
  /** There is no room left. */
  | "full"
  /** What it holds cannot be read. */
  | "damaged"
  /** What it holds is of a later version of Postwire. */
  | "newer"

const journalFaults: Readonly<Record<JournalFault, string>> = {
  locked: "it is locked",
  unavailable: "it is unavailable",
  forbidden: "it is not ours to use",
  exposed: "it is open to other users",
  full: "there is no room",
  damaged: "it is damaged",
  newer: "it is of a later version"
}

const journalAdvice: Readonly<Record<JournalFault, string>> = {
  locked: "Another process works with the same key: wait for it, or end it.",
  unavailable: "Check its place and that it can be reached.",
  forbidden: "Give this user the right to read and write it.",
  exposed: "Make sure that nobody else has changed it.",
  full: "Make room, then try again: nothing was lost.",
  damaged: "Remove it to begin anew.",
  newer: "Update Postwire."
}

/** The journal of uploads and threads could not be read, written or locked. What it holds is as it was. */
export class JournalFailure extends Data.TaggedError("JournalFailure")<{
  /** Which: a file, or `in memory`. */
  readonly journal: string
  readonly fault: JournalFault
  /** What was to be done. */
  readonly action: "read" | "write" | "lock"
  /** What the system said. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const said = this.detail === undefined ? "" : ` (${this.detail.replace(/\.$/, "")})`
    return `The journal ${this.journal} cannot be ${journalActions[this.action]}: ${
      journalFaults[this.fault]
    }${said}. ${journalAdvice[this.fault]}`
  }
}

const journalActions = { read: "read", write: "written", lock: "locked" } as const

brand([MediaProcessingFailed, MediaNotReady, UploadExpired, SourceFailure, JournalFailure])
