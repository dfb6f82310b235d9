import * as Effect from "effect/Effect"
import { type Handlers, listed } from "../Handler.ts"
import * as Caller from "./Caller.ts"
import * as Marks from "./Marks.ts"

/** Only so many of a user's latest bookmarks can be listed. */
const cap = 800

/** Bookmarks. */
export const handlers = {
  bookmark: (call) =>
    Effect.map(Marks.set(call, call.store.bookmarks, true), (bookmarked) => ({ data: { bookmarked } })),
  removeBookmark: (call) =>
    Effect.map(Marks.set(call, call.store.bookmarks, false), (bookmarked) => ({ data: { bookmarked } })),

  getBookmarks: ({ caller, page, store }) =>
    Effect.map(
      Caller.user(caller),
      ({ userId }) => listed(store.bookmarks.posts({ userId, cap, viewer: caller, ...page }))
    )
} satisfies Partial<Handlers>
