import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import { listed, listedUncounted } from "../projection/Reply.ts"
import type { Reactions } from "../store/Reactions.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** The number of latest bookmarks that can be listed. */
const cap = 800

/** Likes and bookmarks. */
export const handlers = {
  like: (call) => Effect.map(set(call, call.store.likes, true), (liked) => ({ data: { liked } })),
  unlike: (call) => Effect.map(set(call, call.store.likes, false), (liked) => ({ data: { liked } })),

  getLikingUsers: (call) =>
    Subject.ofPost(call, ({ id }) => listed(call.store.likes.users({ postId: id, ...call.page }))),

  getLikedPosts: (call) =>
    Subject.ofUser(call, ({ id }) => listed(call.store.likes.posts({ userId: id, viewer: call.caller, ...call.page }))),

  bookmark: Effect.fnUntraced(function*(call) {
    const { caller, parameters: { folder_id: id, post_id }, store } = call
    const { userId } = yield* Caller.user(caller)
    if (id !== undefined && store.bookmarkFolders.byId(userId, id) === undefined) {
      return yield* Problem.missing(Problem.notFound({ kind: "bookmark_folder", id, parameter: "folder_id" }))
    }
    const bookmarked = yield* set(call, store.bookmarks, true)
    if (id !== undefined) store.bookmarkFolders.add(id, post_id)
    return { data: { bookmarked } }
  }),
  removeBookmark: (call) =>
    Effect.map(set(call, call.store.bookmarks, false), (bookmarked) => ({ data: { bookmarked } })),

  getBookmarks: ({ caller, page, store }) =>
    Effect.map(
      Caller.user(caller),
      ({ userId }) => listed(store.bookmarks.posts({ userId, cap, viewer: caller, ...page }))
    ),

  getBookmarkFolders: ({ caller, page, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => listedUncounted(store.bookmarkFolders.of({ userId, ...page }))),

  createBookmarkFolder: ({ caller, now, parameters: { name }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => ({
      data: { id: store.bookmarkFolders.insert({ userId, name, createdAt: now }), name }
    })),

  getBookmarkFolderPosts: ({ caller, page, parameters: { folder_id: id }, store }) =>
    Effect.map(Caller.user(caller), ({ userId }) => {
      if (store.bookmarkFolders.byId(userId, id) === undefined) {
        return { errors: [Problem.notFound({ kind: "bookmark_folder", id, parameter: "folder_id" })] }
      }
      const posts = store.bookmarkFolders.posts({ folderId: id, viewer: caller, ...page })
      return listedUncounted({ ...posts, items: posts.items.map(({ id }) => ({ id })) })
    })
} satisfies Partial<Handlers>

/** Adds or removes a like or bookmark of the caller. Removing one that does not exist succeeds. */
const set = Effect.fnUntraced(
  function*(call: Call<{ readonly post_id: string }>, reactions: Reactions, active: boolean) {
    const { userId } = yield* Caller.user(call.caller)
    const { post_id } = call.parameters
    if (active) yield* Subject.post(call, post_id, "post_id")
    return reactions.set(userId, post_id, active)
  }
)
