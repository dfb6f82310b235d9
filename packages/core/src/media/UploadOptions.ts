/** Options, progress, result and errors of uploads. */
import type { AnyError, ConflictingIdentifiers, OutcomeUnknown, PaginationStuck } from "../errors/Errors.ts"
import type { MediaNotReady, MediaProcessingFailed, SourceFailure, UploadExpired } from "../errors/UploadErrors.ts"
import type { Id } from "../schema/Parameters.ts"
import type { MediaType } from "./MediaFile.ts"
import type { Changes, MediaCategory } from "./MediaRules.ts"
import type * as Source from "./Source.ts"

/** Subtitles of a video. */
export interface Subtitles {
  /** A SubRip (SRT) or WebVTT file. */
  readonly file: Source.Input
  /** Two capital letters, as `EN`. */
  readonly language: string
  /** The name of the language in menus, as `English`. */
  readonly name: string
}

/** Options of an upload. */
export interface UploadOptions {
  /** The use of the media, which decides the category. Default: `post`. */
  readonly purpose?: "post" | "directMessage" | undefined
  /** Default: by the type and the purpose. */
  readonly category?: MediaCategory | undefined
  /** Default: the type recognised from the bytes. */
  readonly type?: MediaType | undefined
  /**
   * Replaces documented limits (see `MediaRules.limits`): `{ video: { longestMillis: 600_000 } }` for an account that may post
   * videos of ten minutes.
   */
  readonly limits?: Changes | undefined
  /** A description of the picture for those who cannot see it: 1 to 1,000 characters. */
  readonly alt?: string | undefined
  /** Subtitles of a video, in one or more languages. */
  readonly subtitles?: ReadonlyArray<Subtitles> | undefined
  /** Other users who may use the media. */
  readonly additional_owners?: ReadonlyArray<Id> | undefined
  readonly shared?: boolean | undefined
  /** Bytes per segment. Default: 1 to 4 MiB by size, and more if 1,000 segments would not suffice. */
  readonly chunkBytes?: number | undefined
  /** Longest processing time in milliseconds. Default: 10 minutes. */
  readonly maxWait?: number | undefined
  /** Called with every step. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly user_auth?: boolean | undefined
}

/** The progress of an upload. */
export interface Progress {
  readonly phase: "upload" | "processing"
  /** Bytes that the service has accepted. */
  readonly sentBytes: number
  readonly totalBytes: number
  /** The fraction of the phase that is done, 0 to 1. */
  readonly fraction: number
}

/** Media for a post or a message. */
export interface UploadedMedia {
  readonly id: string
  readonly media_key: string | undefined
  readonly type: MediaType
  readonly category: MediaCategory
  /** In bytes. */
  readonly size: number
  /** The time by which it must be used. */
  readonly expiresAt: Date | undefined
}

/** The errors of an upload. All its requests are safe to repeat, so no outcome stays unknown. */
export type UploadError =
  | Exclude<AnyError, ConflictingIdentifiers | OutcomeUnknown | PaginationStuck>
  | MediaProcessingFailed
  | MediaNotReady
  | UploadExpired
  | SourceFailure
