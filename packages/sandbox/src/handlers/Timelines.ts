import * as Effect from "effect/Effect"
import { listedPosts } from "../projection/Reply.ts"
import type { Window } from "../store/Window.ts"
import * as Caller from "./Caller.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/**
 * The number of latest posts that can be listed: by a user, by a user without replies, mentioning a user, and in the home
 * timeline.
 */
const caps = { posts: 3_200, postsWithoutReplies: 800, mentions: 800, home: 3_200 }

export const handlers = {
  getUsersPosts: (call) =>
    Subject.ofUser(call, ({ id }) => {
      const excluded = exclusions(call.parameters)
      return listedPosts(call.store.timelines.byAuthor({
        authorId: id,
        cap: excluded.excludeReplies ? caps.postsWithoutReplies : caps.posts,
        viewer: call.caller,
        ...excluded,
        ...window(call.parameters),
        ...call.page
      }))
    }),

  getUsersMentions: (call) =>
    Subject.ofUser(call, ({ id }) =>
      listedPosts(call.store.timelines.mentions({
        userId: id,
        cap: caps.mentions,
        viewer: call.caller,
        ...window(call.parameters),
        ...call.page
      }))),

  getHomeTimeline: ({ caller, page, parameters, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) =>
      listedPosts(store.timelines.home({
        userId,
        cap: caps.home,
        ...exclusions(parameters),
        ...window(parameters),
        ...page
      })))
} satisfies Partial<Handlers>

const exclusions = ({ exclude = [] }: { readonly exclude?: ReadonlyArray<string> }) => ({
  excludeReplies: exclude.includes("replies"),
  excludeReposts: exclude.includes("retweets") || exclude.includes("reposts")
})

const window = (parameters: {
  readonly start_time?: number
  readonly end_time?: number
  readonly since_id?: string
  readonly until_id?: string
}): Window => ({
  sinceId: parameters.since_id,
  untilId: parameters.until_id,
  from: parameters.start_time,
  // Both bounds are inclusive here, to the second.
  until: parameters.end_time === undefined ? undefined : parameters.end_time + 1_000
})
