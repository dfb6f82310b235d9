import { listed } from "../projection/Reply.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

export const handlers = {
  getQuotePosts: (call) =>
    Subject.ofPost(call, ({ id }) =>
      // A quote is never a repost, so excluding reposts has no effect.
      listed(call.store.posts.quotesOf({
        postId: id,
        excludeReplies: call.parameters.exclude?.includes("replies"),
        viewer: call.caller,
        ...call.page
      })))
} satisfies Partial<Handlers>
