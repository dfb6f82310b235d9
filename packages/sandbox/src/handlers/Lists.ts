import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed } from "../projection/Reply.ts"
import * as Caller from "./Caller.ts"
import { type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** The maximum number of lists of a user, of members of a list, and of pinned lists. */
const most = { lists: 1000, members: 5000, pins: 5 }

export const handlers = {
  createList: Effect.fnUntraced(function*({ caller, now, parameters: { name, ...more }, store }) {
    const { userId: ownerId } = yield* Caller.user(caller)
    if (store.lists.countOwned(ownerId) >= most.lists) {
      return yield* Problem.forbidden(`You cannot own more than ${most.lists} Lists.`)
    }
    return { data: { id: store.lists.insert({ ownerId, name, createdAt: now, ...more }), name } }
  }),

  updateList: Effect.fnUntraced(function*(call) {
    const { id, ...change } = call.parameters
    yield* Subject.ownList(call)
    call.store.lists.update(id, change)
    return { data: { updated: true } }
  }),

  deleteList: (call) =>
    Effect.map(Subject.ownList(call), ({ id }) => {
      call.store.lists.delete(id)
      return { data: { deleted: true } }
    }),

  getList: (call) => Subject.ofList(call, (list) => ({ data: list })),

  getListMembers: (call) =>
    Subject.ofList(call, ({ id }) => listed(call.store.lists.members({ listId: id, ...call.page }))),

  addListMember: Effect.fnUntraced(function*(call) {
    const { parameters: { user_id: id }, store: { blocks, lists, users } } = call
    const list = yield* Subject.ownList(call)
    const user = users.byId(id)
    if (user === undefined) {
      return yield* Problem.missing(Problem.notFound({ kind: "user", id, parameter: "user_id" }))
    }
    if (user.suspended) return yield* Problem.forbidden(`User has been suspended: [${id}].`)
    if (blocks.has(id, list.owner_id)) return yield* Problem.forbidden("This user blocks you.")
    if (list.member_count >= most.members && !lists.isMember(list.id, id)) {
      return yield* Problem.forbidden(`A List cannot have more than ${most.members} members.`)
    }
    return { data: { is_member: lists.setMember(list.id, id, true) } }
  }),

  removeListMember: (call) =>
    Effect.map(Subject.ownList(call), ({ id }) => ({
      data: { is_member: call.store.lists.setMember(id, call.parameters.user_id, false) }
    })),

  getListPosts: (call) =>
    Subject.ofList(
      call,
      ({ id }) => listed(call.store.timelines.ofList({ listId: id, viewer: call.caller, ...call.page }))
    ),

  getListFollowers: (call) =>
    Subject.ofList(call, ({ id }) => listed(call.store.lists.followers({ listId: id, ...call.page }))),

  getOwnedLists: (call) =>
    Subject.ofUser(
      call,
      ({ id }) => listed(call.store.lists.ownedBy({ userId: id, viewer: call.caller, ...call.page }))
    ),

  getListMemberships: (call) =>
    Subject.ofUser(
      call,
      ({ id }) => listed(call.store.lists.withMember({ userId: id, viewer: call.caller, ...call.page }))
    ),

  getFollowedLists: (call) =>
    Subject.ofUser(
      call,
      ({ id }) => listed(call.store.lists.followedBy({ userId: id, viewer: call.caller, ...call.page }))
    ),

  followList: Effect.fnUntraced(function*(call) {
    const { list, userId } = yield* Subject.listFor(call)
    if (list.private) return yield* Problem.forbidden("A private List cannot be followed.")
    return { data: { following: call.store.lists.setFollower(list.id, userId, true) } }
  }),

  unfollowList: ({ caller, parameters: { list_id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { following: store.lists.setFollower(list_id, userId, false) }
    })),

  getPinnedLists: ({ caller, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => {
      const lists = store.lists.pinnedBy(userId)
      return { ...(lists.length === 0 ? {} : { data: lists }), meta: { result_count: lists.length } }
    }),

  pinList: Effect.fnUntraced(function*(call) {
    const { list, userId } = yield* Subject.listFor(call)
    const { lists } = call.store
    if (list.owner_id !== userId && !lists.isFollowing(list.id, userId)) {
      return yield* Problem.forbidden("You can only pin Lists that you own or follow.")
    }
    const pinned = lists.pinnedBy(userId)
    if (pinned.length >= most.pins && !pinned.some(({ id }) => id === list.id)) {
      return yield* Problem.forbidden(`You cannot pin more than ${most.pins} Lists.`)
    }
    return { data: { pinned: lists.setPinned(list.id, userId, true) } }
  }),

  unpinList: ({ caller, parameters: { list_id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { pinned: store.lists.setPinned(list_id, userId, false) }
    }))
} satisfies Partial<Handlers>
