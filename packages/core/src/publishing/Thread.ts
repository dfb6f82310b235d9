/**
 * Threads that are posted completely or can be continued: a journal records each part under a key before and after it is sent. The
 * same call continues an interrupted one and posts no part twice.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Client } from "../client/Client.ts"
import * as OptionRules from "../client/OptionRules.ts"
import { invalidParameter, type InvalidParameters } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"
import type { ThreadBroken, ThreadUndecided } from "../errors/ThreadErrors.ts"
import { type Entries, isKey, Journal, keyRule } from "../storage/Journal.ts"
import * as Contents from "./internal/contents.ts"
import * as Draft from "./internal/draft.ts"
import * as Owner from "./internal/owner.ts"
import * as RunThread from "./internal/runThread.ts"
import * as ThreadRecord from "./internal/threadRecord.ts"
import type { Post, PublishedPost, PublishError, ThreadOptions } from "./PublishOptions.ts"

export type { ThreadOptions } from "./PublishOptions.ts"

/** A thread that was published. */
export interface PublishedThread {
  /** In order; all of them unless the thread was abandoned. */
  readonly posts: ReadonlyArray<PublishedPost>
  /** An earlier call has posted some of them. */
  readonly resumed: boolean
  /** The thread ends before its last part, as `undecided: "abandon"` decided. */
  readonly abandoned: boolean
}

/** The errors of `publishThread`. */
export type ThreadError = PublishError | ThreadUndecided | ThreadBroken | StorageFailure

const operation = "publishThread"

/**
 * Publishes posts, each in reply to the one before. All files are uploaded before the first post is sent. After an interruption, a
 * call with the same key continues; once the thread is finished, it sends nothing and returns the same posts.
 *
 * A part whose response was lost is looked for among the posts of its author, and retried only if it is absent.
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
  const { key }: ThreadOptions = options
  if (!isKey(key)) return invalidParameter(operation, "key", `${keyRule}, of your choice and unique to the thread`, key)
  return OptionRules.check(operation, options, {
    lag: OptionRules.whole(0, " of milliseconds"),
    undecided: OptionRules.either("continue", "abandon")
  })
}

const check = Effect.fnUntraced(function*(posts: ReadonlyArray<Post>, options: ThreadOptions) {
  if (!Array.isArray(posts) || posts.length === 0) {
    return yield* invalidParameter(operation, "posts", "must be a list of one or more posts", posts)
  }
  const drafts: Array<Draft.Draft> = []
  for (const [i, post] of posts.entries()) {
    const place: Draft.Place = { operation, prefix: `posts[${i}].`, part: i + 1, parts: posts.length }
    if (i > 0 && post?.in_reply_to_post_id !== undefined) {
      const rule = "is allowed for the first post only: each other post replies to the one before"
      return yield* invalidParameter(operation, `${place.prefix}in_reply_to_post_id`, rule, undefined)
    }
    // It will get an id to reply to.
    const reply = i === 0 || !Predicate.isObject(post) ? post : { ...post, in_reply_to_post_id: "1" }
    drafts.push(yield* Draft.check(reply, place, options))
  }
  return drafts
})

/** The journal's record of the thread if it matches, or a new one. */
const begin = Effect.fnUntraced(function*(journal: Entries, posts: ReadonlyArray<Post>, options: ThreadOptions) {
  const { key, user_auth } = options
  const known = yield* ThreadRecord.read(journal, key)
  const { after, ...owner } = yield* Owner.find(known, {
    operation,
    key,
    user_auth,
    noun: "thread",
    contents: Contents.ofPosts(posts)
  })
  if (known?.credential === owner.credential) return known
  const record: ThreadRecord.ThreadRecord = known === undefined
    ? {
      version: 1,
      ...owner,
      ...(after === undefined ? {} : { after }),
      isAbandoned: false,
      parts: posts.map(() => ({ _tag: "waiting" }))
    }
    : { ...known, ...owner }
  yield* ThreadRecord.write(journal, key, record)
  return record
})
