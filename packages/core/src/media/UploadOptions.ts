/** What an upload takes, tells, gives and fails with. */
import type { AnyError, ConflictingIdentifiers, OutcomeUnknown, PaginationStuck } from "../errors/Errors.ts"
import type { MediaNotReady, MediaProcessingFailed, SourceFailure, UploadExpired } from "../errors/UploadErrors.ts"
import type { Id } from "../schema/Parameters.ts"
import type { MediaType } from "./MediaFile.ts"
import type { Changes, MediaCategory } from "./MediaRules.ts"
import type * as Source from "./Source.ts"

/** Subtitles of a video. */
export interface Subtitles {
  /** A file of SubRip (SRT) or WebVTT. */
  readonly file: Source.Input
  /** Two capital letters, as `EN`. */
  readonly language: string
  /** How the language is called where it is chosen, as `English`. */
  readonly name: string
}

/** What an upload may be told. */
export interface UploadOptions {
  /** What the media is for, which decides its category. Default: `post`. */
  readonly purpose?: "post" | "directMessage" | undefined
  /** Default: by the type and the purpose. */
  readonly category?: MediaCategory | undefined
  /** Default: what its first bytes say. */
  readonly type?: MediaType | undefined
  /**
   * Limits in place of those that the service's documentation has, which `MediaRules.limits` lists: `{ video: { longestMillis: 600_000 } }`
   * for an account that may post videos of ten minutes.
   */
  readonly limits?: Changes | undefined
  /** What the picture shows, for those who do not see it: 1 to 1,000 characters. */
  readonly alt?: string | undefined
  /** Of a video, in several languages. */
  readonly subtitles?: ReadonlyArray<Subtitles> | undefined
  /** Users who may use the media as well. */
  readonly additional_owners?: ReadonlyArray<Id> | undefined
  readonly shared?: boolean | undefined
  /** How much is sent at a time, in bytes. Default: 1 to 4 MiB by the size, such that 1,000 segments do. */
  readonly chunkBytes?: number | undefined
  /** So long the service may process the media, in milliseconds. Default: 10 minutes. */
  readonly maxWait?: number | undefined
  /** Called with every step. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly user_auth?: boolean | undefined
}

/** How far an upload is. */
export interface Progress {
  readonly phase: "upload" | "processing"
  /** What the service has accepted. */
  readonly sentBytes: number
  readonly totalBytes: number
  /** Of the phase, 0 to 1. */
  readonly fraction: number
}

/** Media that can be used in a post or a message. */
export interface UploadedMedia {
  readonly id: string
  readonly media_key: string | undefined
  readonly type: MediaType
  readonly category: MediaCategory
  /** In bytes. */
  readonly size: number
  /** Until then it must have been used. */
  readonly expiresAt: Date | undefined
}

/** What an upload can fail with. Nothing that it sends is harmful twice, so no outcome stays unknown. */
export type UploadError =
  | Exclude<AnyError, ConflictingIdentifiers | OutcomeUnknown | PaginationStuck>
  | MediaProcessingFailed
  | MediaNotReady
  | UploadExpired
  | SourceFailure
