import * as Effect from "effect/Effect"
import { type Handlers, listed } from "../Handler.ts"

/** Quote posts. */
export const handlers: Pick<Handlers, "getQuotePosts"> = {
  getQuotePosts: ({ cursor, parameters: { exclude = [], id, max_results: limit = 10 }, store }) =>
    Effect.succeed(
      // A quote is never a repost, so leaving reposts out leaves nothing out.
      listed(store.posts.quotesOf({ postId: id, excludeReplies: exclude.includes("replies"), limit, cursor }))
    )
}
