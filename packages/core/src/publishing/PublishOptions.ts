/** What publishing takes, tells, gives and fails with: of a post, and of a thread. */
import type { CallOptions } from "../client/CallOptions.ts"
import type { Operation } from "../client/Operation.ts"
import type { AnyError, ConflictingIdentifiers, PaginationStuck } from "../errors/Errors.ts"
import type * as Source from "../media/Source.ts"
import type * as Upload from "../media/UploadOptions.ts"
import type { createPost } from "../operations/Posts.ts"

/** The parameters of `createPost`. */
export type CreatePost = typeof createPost extends Operation<infer P, infer _R, infer _Sel, infer _E> ? P : never

/** A file of a post, and how it is uploaded. `Input` is what a client takes as one. */
export interface Media<Input = Source.Input> extends
  Pick<
    Upload.UploadOptions,
    "category" | "type" | "limits" | "alt" | "additional_owners" | "shared" | "chunkBytes" | "maxWait"
  >
{
  readonly file: Input
  /** Of a video, in several languages. */
  readonly subtitles?: ReadonlyArray<Omit<Upload.Subtitles, "file"> & { readonly file: Input }> | undefined
}

/** A poll of a post. */
export interface Poll {
  /** 2 to 4, each of up to 25 characters. */
  readonly options: ReadonlyArray<string>
  /** 5 to 10,080. */
  readonly duration_minutes: number
  readonly reply_settings?: CreatePost["poll_reply_settings"]
}

/**
 * A post to publish: what `createPost` takes, with files and a poll. It has one of media, a poll, a quoted post and a card; its
 * media are four images, or one GIF, or one video.
 */
export interface Post<Input = Source.Input> extends
  Omit<
    CreatePost,
    "poll_options" | "poll_duration_minutes" | "poll_reply_settings" | "user_auth"
  >
{
  /** Files, which are uploaded. What is uploaded already goes into `media_ids`, and comes before them. */
  readonly media?: ReadonlyArray<Input | Media<Input>> | undefined
  readonly poll?: Poll | undefined
}

/** How publishing goes on. Parts count from 1; a single post is part 1 of 1. */
export type Progress =
  & { readonly part: number; readonly parts: number }
  & (
    | (Upload.Progress & {
      /** Which of the part's files, from 1. */
      readonly file: number
    })
    /** It is sent; it was posted; its outcome is unknown, and it is looked for. */
    | { readonly phase: "sending" | "looking" }
    | { readonly phase: "posted"; readonly id: string }
  )

/** What publishing may be told. `timeout` and `retries` are those of the call that posts: uploads have the client's. */
export interface PublishOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** The most that a text may weigh; more than 280 for authors who have longer posts. See `PostText.length`. */
  readonly maxWeight?: number | undefined
  /** Called with every step. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** As `createPost` has it; it holds for the uploads too. */
  readonly user_auth?: boolean | undefined
}

/** A post that exists. */
export interface PublishedPost {
  readonly id: string
  /** As the service has it. */
  readonly text: string
  readonly media: ReadonlyArray<Upload.UploadedMedia>
}

/** What publishing a post can fail with. `OutcomeUnknown` is of the post alone: its media are uploaded then. */
export type PublishError = Exclude<AnyError, ConflictingIdentifiers | PaginationStuck> | Upload.UploadError

/** What publishing a thread is told. */
export interface ThreadOptions extends PublishOptions {
  /** Names the thread in the journal, for ever: 1 to 128 characters. */
  readonly key: string
  /**
   * What becomes of a part of which it cannot be told whether it was posted: `continue` sends it, `abandon` ends the thread
   * there. Without a decision the call fails with `ThreadUndecided`, and the next one looks again. After that, `abandon` ends
   * the thread even where the part is found.
   */
  readonly undecided?: "continue" | "abandon" | undefined
  /**
   * How long after it was sent a part may take to appear among the posts of its author, in milliseconds; default 60,000. When
   * it is not there by then, it was not posted.
   */
  readonly lag?: number | undefined
}
