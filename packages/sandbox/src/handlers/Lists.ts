import * as Effect from "effect/Effect"
import { type Handlers, listed } from "../Handler.ts"
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
    Subject.ofUser(
      call,
      ({ id }) => listed(call.store.lists.followedBy({ userId: id, viewer: call.caller, ...call.page }))
    ),

  unfollowList: ({ caller, parameters: { list_id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { following: store.lists.setFollower(list_id, userId, false) }
    }))
} satisfies Partial<Handlers>
