/** Publishes a post with its files: everything is checked, then uploaded, then posted. A failed upload posts nothing. */
import * as Effect from "effect/Effect"
import type { Client } from "../client/Client.ts"
import * as Draft from "./internal/draft.ts"
import type { Post, PublishedPost, PublishError, PublishOptions } from "./PublishOptions.ts"

export type { Media, Poll, Post, Progress, PublishedPost, PublishError, PublishOptions } from "./PublishOptions.ts"

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
    const invalid = Draft.checkOptions("publish", options)
    if (invalid !== undefined) return yield* invalid
    const one = { part: 1, parts: 1 }
    const draft = yield* Draft.check(post, { operation: "publish", prefix: "", ...one }, options)
    const files = yield* Draft.open(draft, options)
    const media = yield* Effect.all(files.map(({ send }) => send), { concurrency: Draft.filesAtOnce })
    Draft.report(options, { phase: "sending", ...one })
    const { id, text } = yield* Draft.post(draft, media, options)
    Draft.report(options, { phase: "posted", id, ...one })
    return { id, text, media }
  }))
