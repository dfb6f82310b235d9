/** What the service asks of those who call an operation: how often they may, and what their credential must allow. */
import type { Name } from "@postwire/core/Catalogue"
import type { Access, Scope } from "./store/Credentials.ts"

/** The terms of one operation. */
export interface Policy {
  /** Requests per window of 15 minutes, of an app as of a user. */
  readonly requests: number
  /** The scope that a user's OAuth 2.0 token needs besides those of all operations. */
  readonly scope?: Scope
  /** What the project must have. */
  readonly access?: Access
  /** Refuses an app alone, although its bearer token is of the right form. */
  readonly userOnly?: true
}

/** The scopes that every operation needs. */
export const commonScopes: ReadonlyArray<Scope> = ["post.read", "users.read"]

/** The terms of every operation; the numbers are those that the live service announced in 2021 and 2022. */
export const policies: { readonly [N in Name]: Policy } = {
  block: { requests: 50, scope: "block.write" },
  bookmark: { requests: 50, scope: "bookmark.write" },
  createDirectMessage: { requests: 200, scope: "dm.write" },
  createDirectMessageConversation: { requests: 200, scope: "dm.write" },
  createPost: { requests: 200, scope: "post.write" },
  deletePost: { requests: 50, scope: "post.write" },
  followUser: { requests: 50, scope: "follows.write" },
  getAllPostsCount: { requests: 300, access: "research" },
  getBlocked: { requests: 15, scope: "block.read" },
  getBookmarks: { requests: 180, scope: "bookmark.read" },
  getDirectMessageEvents: { requests: 300, scope: "dm.read" },
  getFollowedLists: { requests: 15, scope: "list.read" },
  getHomeTimeline: { requests: 180 },
  getLikedPosts: { requests: 75, scope: "like.read" },
  getLikingUsers: { requests: 75, scope: "like.read" },
  getListFollowers: { requests: 180, scope: "list.read" },
  getListPosts: { requests: 900, scope: "list.read" },
  getMe: { requests: 75 },
  getMuted: { requests: 15, scope: "mute.read" },
  getPost: { requests: 300 },
  getPosts: { requests: 300 },
  getQuotePosts: { requests: 75 },
  getRecentPostsCount: { requests: 300 },
  getReposters: { requests: 75 },
  getSpace: { requests: 300, scope: "space.read" },
  getSpaceBuyers: { requests: 300, scope: "space.read", userOnly: true },
  getSpacePosts: { requests: 300, scope: "space.read" },
  getSpaces: { requests: 300, scope: "space.read" },
  getUser: { requests: 300 },
  getUsers: { requests: 300 },
  getUsersFollowers: { requests: 15, scope: "follows.read" },
  getUsersFollowing: { requests: 15, scope: "follows.read" },
  getUsersMentions: { requests: 450 },
  getUsersPosts: { requests: 1500 },
  hideReply: { requests: 50, scope: "post.moderate.write" },
  like: { requests: 50, scope: "like.write" },
  mute: { requests: 50, scope: "mute.write" },
  removeBookmark: { requests: 50, scope: "bookmark.write" },
  repost: { requests: 50, scope: "post.write" },
  searchAllPosts: { requests: 300, access: "research" },
  searchRecentPosts: { requests: 450 },
  searchSpaces: { requests: 300, scope: "space.read" },
  unblock: { requests: 50, scope: "block.write" },
  unfollowList: { requests: 50, scope: "list.write" },
  unfollowUser: { requests: 50, scope: "follows.write" },
  unhideReply: { requests: 50, scope: "post.moderate.write" },
  unlike: { requests: 50, scope: "like.write" },
  unmute: { requests: 50, scope: "mute.write" },
  unrepost: { requests: 50, scope: "post.write" }
}
