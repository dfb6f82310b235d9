import * as Effect from "effect/Effect"
import { type Handlers, listed } from "../Handler.ts"
import * as Problem from "../Problem.ts"
import * as Caller from "./Caller.ts"
import * as Subject from "./Subject.ts"

/** Lists. */
export const handlers = {
  getListPosts: (call) =>
    Subject.ofList(
      call,
      ({ id }) => listed(call.store.timelines.ofList({ listId: id, viewer: call.caller, ...call.page }))
    ),

  getListFollowers: (call) =>
    Subject.ofList(call, ({ id }) => listed(call.store.lists.followers({ listId: id, ...call.page }))),

  getFollowedLists: (call) =>
    // The declaration knows no bounds; these are those of the other operations on lists.
    call.page.limit >= 1 && call.page.limit <= 100
      ? Subject.ofUser(call, ({ id }) =>
        listed(call.store.lists.followedBy({ userId: id, viewer: call.caller, ...call.page })))
      : Problem.invalidRequest(`The \`max_results\` parameter value [${call.page.limit}] is not between 1 and 100`, {
        max_results: String(call.page.limit)
      }),

  unfollowList: ({ caller, parameters: { list_id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { following: store.lists.setFollower(list_id, userId, false) }
    }))
} satisfies Partial<Handlers>
