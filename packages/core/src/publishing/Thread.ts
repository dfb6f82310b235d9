/**
 * A thread does not end half-posted: what is sent is noted by a key before and after, so that the same call goes on where
 * another was interrupted, and posts no part twice.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { Client } from "../client/Client.ts"
import { dataOf } from "../client/DataOf.ts"
import { invalidParameter, type InvalidParameters } from "../errors/Errors.ts"
import type { ThreadBroken, ThreadUndecided } from "../errors/ThreadErrors.ts"
import type { JournalFailure } from "../errors/UploadErrors.ts"
import { getMe } from "../operations/Users.ts"
import { type Entries, isKey, Journal, keyRule } from "../storage/Journal.ts"
import * as Draft from "./internal/draft.ts"
import * as RunThread from "./internal/runThread.ts"
import * as ThreadRecord from "./internal/threadRecord.ts"
import type { Post, PublishedPost, PublishError, ThreadOptions } from "./PublishOptions.ts"

export type { ThreadOptions } from "./PublishOptions.ts"

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

const operation = "publishThread"

/**
 * Publishes posts, each in reply to the one before. The files of all are uploaded before the first is posted. Called again with
 * its key, it goes on where it was interrupted; once it is finished, it sends nothing and returns the same posts.
 *
 * A part whose answer did not come is looked for among the posts of its author, and sent again only when it is not there.
 *
 * ```ts
 * const { posts } = yield* publishThread([{ text: "One" }, { text: "Two" }], { key: "counting" })
 * ```
 */
export const publishThread = (
  posts: ReadonlyArray<Post>,
  options: ThreadOptions
): Effect.Effect<PublishedThread, ThreadError, Client | Journal> =>
  Effect.scoped(Effect.gen(function*() {
    const invalid = checkOptions(options)
    if (invalid !== undefined) return yield* invalid
    const drafts = yield* check(posts, options)
    const journal = yield* Journal
    yield* journal.lock(ThreadRecord.nameOf(options.key))
    const record = yield* begin(journal, posts, options)
    const posted = yield* RunThread.run(journal, record, drafts, options)
    return { ...posted, resumed: record.parts.some(({ _tag }) => _tag === "posted") }
  }))

const checkOptions = (options: ThreadOptions): InvalidParameters | undefined => {
  const invalid = Draft.checkOptions(operation, options, ["key", "undecided", "lag"])
  if (invalid !== undefined) return invalid
  const { key, lag, undecided }: ThreadOptions = options
  if (!isKey(key)) return invalidParameter(operation, "key", keyRule, key)
  if (lag !== undefined && !(Number.isSafeInteger(lag) && lag >= 0)) {
    return invalidParameter(operation, "lag", "must be a whole number of milliseconds from 0", lag)
  }
  return undecided === undefined || undecided === "continue" || undecided === "abandon"
    ? undefined
    : invalidParameter(operation, "undecided", "must be continue or abandon", undecided)
}

const check = Effect.fnUntraced(function*(posts: ReadonlyArray<Post>, options: ThreadOptions) {
  if (!Array.isArray(posts) || posts.length === 0) {
    return yield* invalidParameter(operation, "posts", "must be a list of one or more posts", posts)
  }
  const drafts: Array<Draft.Draft> = []
  for (const [i, post] of posts.entries()) {
    const place: Draft.Place = { operation, prefix: `posts[${i}].`, part: i + 1, parts: posts.length }
    if (i > 0 && post?.in_reply_to_post_id !== undefined) {
      const rule = "must not be given, except for the first post: each replies to the one before"
      return yield* invalidParameter(operation, `${place.prefix}in_reply_to_post_id`, rule, undefined)
    }
    // It will have an id to reply to.
    const reply = i === 0 || !Predicate.isObject(post) ? post : { ...post, in_reply_to_post_id: "1" }
    drafts.push(yield* Draft.check(reply, place, options))
  }
  return drafts
})

/** The record of the thread: the one in the journal if it is ours, or a new one. */
const begin = Effect.fnUntraced(function*(journal: Entries, posts: ReadonlyArray<Post>, options: ThreadOptions) {
  const { key, user_auth } = options
  const contents = ThreadRecord.contentsOf(posts)
  const known = yield* ThreadRecord.read(journal, key)
  const credential = yield* (yield* Client).credential(user_auth ?? true)
  const refuse = (rule: string) => invalidParameter(operation, "key", rule, key)
  if (known !== undefined && (known.contents !== contents || known.parts.length !== posts.length)) {
    return yield* refuse("is that of another thread: the posts were others. Choose another key")
  }
  if (known?.credential === credential && credential !== "none") return known
  const author = yield* dataOf("getMe", getMe({ user_fields: ["most_recent_post_id"], user_auth }))
  if (known !== undefined && known.authorId !== author.id) {
    return yield* refuse("is that of a thread of another user. Choose another key")
  }
  const { most_recent_post_id: after } = author
  const record: ThreadRecord.ThreadRecord = known === undefined
    ? {
      version: 1,
      contents,
      authorId: author.id,
      credential,
      ...(after === undefined ? {} : { after }),
      isAbandoned: false,
      parts: posts.map(() => ({ _tag: "waiting" }))
    }
    : { ...known, credential }
  yield* ThreadRecord.write(journal, key, record)
  return record
})
