/**
 * A thread does not end half-posted: what was sent is noted by a key before and after, so that the same call goes on where
 * another was interrupted, and posts no part twice.
 */
import type * as Effect from "effect/Effect"
import type { Client } from "./Client.ts"
import type { Journal } from "./Journal.ts"
import type { Post, PublishedPost, PublishError, PublishOptions } from "./Publish.ts"
import type * as Source from "./Source.ts"
import type { ThreadBroken, ThreadUndecided } from "./ThreadErrors.ts"
import type { JournalFailure } from "./UploadErrors.ts"

/** What publishing a thread is told. */
export interface ThreadOptions extends PublishOptions {
  /** Names the thread in the journal, for ever: 1 to 128 characters. */
  readonly key: string
  /**
   * What becomes of a part of which it cannot be told whether it was posted: `continue` sends it, `abandon` ends the thread there.
   * Without a decision the call fails with `ThreadUndecided`, and the next one looks again.
   */
  readonly undecided?: "continue" | "abandon" | undefined
  /**
   * How long after it was sent a part may take to appear among the posts of its author, in milliseconds; default 60,000. When it is
   * not there by then, it was not posted.
   */
  readonly lag?: number | undefined
}

/** A thread that was published. */
export interface PublishedThread {
  /** In their order; all of them, unless it was abandoned. */
  readonly posts: ReadonlyArray<PublishedPost>
  /** Whether some of them were posted by an earlier call. */
  readonly resumed: boolean
  /** Whether it ends before its last part, because somebody decided so. */
  readonly abandoned: boolean
}

/** What publishing a thread can fail with. */
export type ThreadError = PublishError | ThreadUndecided | ThreadBroken | JournalFailure

/**
 * Publishes posts, each in reply to the one before. The files of all are uploaded before the first is posted.
 */
export type PublishThread = (
  posts: ReadonlyArray<Post<Source.Input>>,
  options: ThreadOptions
) => Effect.Effect<PublishedThread, ThreadError, Client | Journal>
