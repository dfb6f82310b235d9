import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import type { Restrictions } from "../store/Restrictions.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** Follows, blocks and mutes. */
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
    Subject.ofUser(call, ({ id }) => listed(call.store.follows.following({ userId: id, ...call.page }))),

  block: (call) => Effect.map(restrict(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  unblock: (call) => Effect.map(unrestrict(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  getBlocked: (call) => targets(call, call.store.blocks),
  mute: (call) => Effect.map(restrict(call, call.store.mutes), (muting) => ({ data: { muting } })),
  unmute: (call) => Effect.map(unrestrict(call, call.store.mutes), (muting) => ({ data: { muting } })),
  getMuted: (call) => targets(call, call.store.mutes)
} satisfies Partial<Handlers>

type AboutTarget = Call<{ readonly target_user_id: string }>

const restrict = (call: AboutTarget, restrictions: Restrictions) =>
  Effect.map(Subject.other(call), ({ target, userId }) => restrictions.set(userId, target.id, true))

const unrestrict = ({ caller, parameters: { target_user_id } }: AboutTarget, restrictions: Restrictions) =>
  Effect.map(Caller.user(caller), ({ userId }) => restrictions.set(userId, target_user_id, false))

const targets = ({ caller, page }: Call<unknown>, restrictions: Restrictions) =>
  Effect.map(Caller.user(caller), ({ userId }) => listed(restrictions.targets({ userId, ...page })))
