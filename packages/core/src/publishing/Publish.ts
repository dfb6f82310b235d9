/** Publishes a post with its files: everything is checked, then uploaded, then posted. A failed upload posts nothing. */
import * as Effect from "effect/Effect"
import type { Client } from "../client/Client.ts"
import type { AnyError, InvalidParameters } from "../errors/Errors.ts"
import type { SourceFailure } from "../errors/UploadErrors.ts"
import type { Prepared } from "../media/Upload.ts"
import * as Draft from "./internal/draft.ts"
import * as FindPost from "./internal/findPost.ts"
import type { CreatePost, Post, PublishedPost, PublishError, PublishOptions } from "./PublishOptions.ts"

export type { Media, Poll, Post, Progress, PublishedPost, PublishError, PublishOptions } from "./PublishOptions.ts"

/** A post that may be published. */
export interface CheckedPost {
  /** The parameters of `createPost`, without the ids of its files. */
  readonly parameters: CreatePost
  readonly files: ReadonlyArray<Pick<Prepared, "type" | "category" | "size">>
}

/** Checks a post and its files as `publish` does, and sends nothing. */
export const check = (
  post: Post,
  options: PublishOptions = {}
): Effect.Effect<CheckedPost, InvalidParameters | SourceFailure, Client> =>
  Effect.scoped(Effect.map(open(post, options), ({ draft, files }) => ({ parameters: draft.parameters, files })))

/**
 * Publishes a post with its files. Everything is checked before anything is sent; then the files are uploaded, and the post is sent
 * once.
 *
 * ```ts
 * const { id } = yield* publish({ text: "Hello", media: [{ file: picture, alt: "A cat on a keyboard" }] })
 * ```
 */
export const publish = (post: Post, options: PublishOptions = {}): Effect.Effect<PublishedPost, PublishError, Client> =>
  Effect.scoped(Effect.gen(function*() {
    const { draft, files } = yield* open(post, options)
    const media = yield* Effect.all(files.map(({ send }) => send), { concurrency: Draft.filesAtOnce })
    Draft.report(options, { phase: "sending", ...one })
    const { id, text } = yield* Draft.post(draft, media, options)
    Draft.report(options, { phase: "posted", id, ...one })
    return { id, text, media }
  }))

/** The circumstances of a post of unknown outcome. */
export interface FindOptions extends Pick<PublishOptions, "user_auth"> {
  readonly authorId: string
  /** A time before it was sent. Posts of more than a minute before that are not read: they are others, which may be equal. */
  readonly notBefore: Date
  /** True if it had files, whose ids are unknown: any others are taken for them. */
  readonly hasMedia: boolean
}

/**
 * Looks once for a post of unknown outcome among those of its author, and returns its id. A post may take a minute to appear. Of two
 * equal posts the older one is found.
 */
export const find = (
  { in_reply_to_post_id: inReplyTo, quote_post_id: quoted, text = "" }: Post,
  { authorId, hasMedia, notBefore, user_auth }: FindOptions
): Effect.Effect<string | undefined, AnyError, Client> =>
  Effect.map(
    FindPost.look(
      {
        text,
        inReplyTo: inReplyTo === undefined ? undefined : String(inReplyTo),
        quoted: quoted === undefined ? undefined : String(quoted),
        mediaIds: [],
        isContinuation: hasMedia,
        authorId,
        after: undefined,
        from: notBefore.getTime() - FindPost.clockMargin,
        witness: undefined
      },
      { user_auth },
      20
    ),
    (seen) => typeof seen === "string" ? undefined : seen.id
  )

const one = { part: 1, parts: 1 }

const open = Effect.fnUntraced(function*(post: Post, options: PublishOptions) {
  const invalid = Draft.checkOptions("publish", options)
  if (invalid !== undefined) return yield* invalid
  const draft = yield* Draft.check(post, { operation: "publish", prefix: "", ...one }, options)
  return { draft, files: yield* Draft.open(draft, options) }
})
