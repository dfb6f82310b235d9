/** Parameters, options, progress, results and errors of publishing posts and threads. */
import type { CallOptions } from "../client/CallOptions.ts"
import type { Operation } from "../client/Operation.ts"
import type { AnyError, ConflictingIdentifiers, PaginationStuck } from "../errors/Errors.ts"
import type * as Source from "../media/Source.ts"
import type * as Upload from "../media/UploadOptions.ts"
import type { createPost } from "../operations/Posts.ts"

/** The parameters of `createPost`. */
export type CreatePost = typeof createPost extends Operation<infer P, infer _R, infer _Sel, infer _E> ? P : never

/** A file of a post with upload options. `Input` is the type of files that a client accepts. */
export interface Media<Input = Source.Input> extends
  Pick<
    Upload.UploadOptions,
    "category" | "type" | "limits" | "alt" | "additional_owners" | "shared" | "chunkBytes" | "maxWait"
  >
{
  readonly file: Input
  /** Subtitles of a video, in one or more languages. */
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
 * A post to publish: the parameters of `createPost`, with files and a poll. It has at most one of media, a poll, a quoted post and
 * a card. Its media are up to four images, or one GIF, or one video.
 */
export interface Post<Input = Source.Input>
  extends Omit<CreatePost, "poll_options" | "poll_duration_minutes" | "poll_reply_settings" | "user_auth">
{
  /** Files to upload. The ids of uploaded media go into `media_ids` and come first. */
  readonly media?: ReadonlyArray<Input | Media<Input>> | undefined
  readonly poll?: Poll | undefined
}

/** The progress of publishing. Parts count from 1; a single post is part 1 of 1. */
export type Progress =
  & { readonly part: number; readonly parts: number }
  & (
    | (Upload.Progress & {
      /** The file of the part, counted from 1. */
      readonly file: number
    })
    /** The post is sent, or it is looked for because its outcome is unknown. */
    | { readonly phase: "sending" | "looking" }
    | { readonly phase: "posted"; readonly id: string }
  )

/** Options of publishing. `timeout` and `retries` apply to the call that posts; uploads use the client's. */
export interface PublishOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** The highest weight of a text; more than 280 for authors of longer posts. See `PostText.length`. */
  readonly maxWeight?: number | undefined
  /** Called with every step. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** As in `createPost`; applies to the uploads too. */
  readonly user_auth?: boolean | undefined
}

/** A published post. */
export interface PublishedPost {
  readonly id: string
  /** The text as the service returned it. */
  readonly text: string
  readonly media: ReadonlyArray<Upload.UploadedMedia>
}

/** The errors of `publish`. `OutcomeUnknown` concerns only the post: its media are uploaded. */
export type PublishError = Exclude<AnyError, ConflictingIdentifiers | PaginationStuck> | Upload.UploadError

/** Options of publishing a thread. */
export interface ThreadOptions extends PublishOptions {
  /** The permanent name of the thread in the journal: 1 to 128 characters. */
  readonly key: string
  /**
   * How to treat a part of unknown outcome: `continue` sends it, `abandon` ends the thread before it. Without a decision the call
   * fails with `ThreadUndecided`, and the next one looks again. After that, `abandon` ends the thread even if the part is found.
   */
  readonly undecided?: "continue" | "abandon" | undefined
  /**
   * Milliseconds in which a part appears among the posts of its author; default 60,000. A part that is absent after that was not
   * posted.
   */
  readonly lag?: number | undefined
}
