/** Every operation by name. Only faces import this module: a program that uses one operation bundles one. */
import * as Bookmarks from "./operations/Bookmarks.ts"
import * as DirectMessages from "./operations/DirectMessages.ts"
import * as Likes from "./operations/Likes.ts"
import * as Posts from "./operations/Posts.ts"
import * as QuotePosts from "./operations/QuotePosts.ts"
import * as Search from "./operations/Search.ts"
import * as Timelines from "./operations/Timelines.ts"
import * as Users from "./operations/Users.ts"

/** Every operation by name. */
export const catalogue = {
  ...Bookmarks,
  ...DirectMessages,
  ...Likes,
  ...Posts,
  ...QuotePosts,
  ...Search,
  ...Timelines,
  ...Users
}

/** The type of `catalogue`. */
export type Catalogue = typeof catalogue

/** The name of an operation. */
export type Name = keyof Catalogue
