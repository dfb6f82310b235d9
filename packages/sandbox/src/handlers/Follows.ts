import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import * as Caller from "./Caller.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

export const handlers = {
  followUser: Effect.fnUntraced(function*(call) {
    const { blocks, follows } = call.store
    const { target, userId } = yield* Subject.other(call)
    if (blocks.has(target.id, userId)) return yield* Problem.forbidden("This user blocks you.")
    if (blocks.has(userId, target.id)) return yield* Problem.forbidden("You block this user.")
    const isFollowing = follows.state(userId, target.id) === "following" || !target.protected
    follows.set(userId, target.id, isFollowing ? "following" : "requested")
    return { data: { following: isFollowing, pending_follow: !isFollowing } }
  }),

  // Also withdraws a pending follow request; there is no other way.
  unfollowUser: ({ caller, parameters: { target_user_id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { following: store.follows.set(userId, target_user_id, "none") === "following" }
    })),

  getUsersFollowers: (call) =>
    Subject.ofUser(call, ({ id }) => listed(call.store.follows.followers({ userId: id, ...call.page }))),
  getUsersFollowing: (call) =>
    Subject.ofUser(call, ({ id }) => listed(call.store.follows.following({ userId: id, ...call.page })))
} satisfies Partial<Handlers>
