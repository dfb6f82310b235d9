/** Every operation by name. Only faces import this module: a program that uses one operation bundles one. */
import * as Blocks from "./operations/Blocks.ts"
import * as Bookmarks from "./operations/Bookmarks.ts"
import * as Counts from "./operations/Counts.ts"
import * as DirectMessages from "./operations/DirectMessages.ts"
import * as Follows from "./operations/Follows.ts"
import * as Likes from "./operations/Likes.ts"
import * as Lists from "./operations/Lists.ts"
import * as Mutes from "./operations/Mutes.ts"
import * as Posts from "./operations/Posts.ts"
import * as QuotePosts from "./operations/QuotePosts.ts"
import * as Replies from "./operations/Replies.ts"
import * as Reposts from "./operations/Reposts.ts"
import * as Search from "./operations/Search.ts"
import * as Spaces from "./operations/Spaces.ts"
import * as Timelines from "./operations/Timelines.ts"
import * as Users from "./operations/Users.ts"

/** Every operation by name, the aliases included. */
export const catalogue = {
  ...Blocks,
  ...Bookmarks,
  ...Counts,
  ...DirectMessages,
  ...Follows,
  ...Likes,
  ...Lists,
  ...Mutes,
  ...Posts,
  ...QuotePosts,
  ...Replies,
  ...Reposts,
  ...Search,
  ...Spaces,
  ...Timelines,
  ...Users
}

/** The type of `catalogue`. */
export type Catalogue = typeof catalogue

/** Second names, with the operations that they stand for. */
export const aliases = {
  createDm: "createDirectMessage",
  createDmConversation: "createDirectMessageConversation",
  follow: "followUser",
  getDmEvents: "getDirectMessageEvents",
  unfollow: "unfollowUser"
} as const satisfies { readonly [Alias in keyof Catalogue]?: keyof Catalogue }

/** The name of an operation, aliases left out. */
export type Name = Exclude<keyof Catalogue, keyof typeof aliases>
