/** Every operation by name. Only clients import this module: a program that uses one operation bundles one. */
import { closestMatch } from "leven"
import * as Errors from "./errors/Errors.ts"
import * as AccountActivity from "./operations/AccountActivity.ts"
import * as Activity from "./operations/Activity.ts"
import * as Analytics from "./operations/Analytics.ts"
import * as Articles from "./operations/Articles.ts"
import * as Blocks from "./operations/Blocks.ts"
import * as Bookmarks from "./operations/Bookmarks.ts"
import * as Broadcasts from "./operations/Broadcasts.ts"
import * as Chat from "./operations/Chat.ts"
import * as ChatMedia from "./operations/ChatMedia.ts"
import * as Communities from "./operations/Communities.ts"
import * as CommunityNotes from "./operations/CommunityNotes.ts"
import * as ComplianceJobs from "./operations/ComplianceJobs.ts"
import * as Connections from "./operations/Connections.ts"
import * as Counts from "./operations/Counts.ts"
import * as DirectMessages from "./operations/DirectMessages.ts"
import * as Follows from "./operations/Follows.ts"
import * as Likes from "./operations/Likes.ts"
import * as Lists from "./operations/Lists.ts"
import * as Media from "./operations/Media.ts"
import * as Mutes from "./operations/Mutes.ts"
import * as News from "./operations/News.ts"
import * as OpenApi from "./operations/OpenApi.ts"
import * as Posts from "./operations/Posts.ts"
import * as PublicKeys from "./operations/PublicKeys.ts"
import * as QuotePosts from "./operations/QuotePosts.ts"
import * as Replies from "./operations/Replies.ts"
import * as Reposts from "./operations/Reposts.ts"
import * as Rules from "./operations/Rules.ts"
import * as Search from "./operations/Search.ts"
import * as Spaces from "./operations/Spaces.ts"
import * as Timelines from "./operations/Timelines.ts"
import * as Trends from "./operations/Trends.ts"
import * as Usage from "./operations/Usage.ts"
import * as Users from "./operations/Users.ts"
import * as Webhooks from "./operations/Webhooks.ts"
import { type Scope, scopes } from "./schema/Scopes.ts"
import * as ActivityStreams from "./streams/operations/ActivityStreams.ts"
import * as ComplianceStreams from "./streams/operations/ComplianceStreams.ts"
import * as Streams from "./streams/operations/Streams.ts"

/** Every operation by name, the aliases included. */
export const catalogue = {
  ...AccountActivity,
  ...Activity,
  ...ActivityStreams,
  ...Analytics,
  ...Articles,
  ...Blocks,
  ...Bookmarks,
  ...Broadcasts,
  ...Chat,
  ...ChatMedia,
  ...Communities,
  ...CommunityNotes,
  ...ComplianceJobs,
  ...ComplianceStreams,
  ...Connections,
  ...Counts,
  ...DirectMessages,
  ...Follows,
  ...Likes,
  ...Lists,
  ...Media,
  ...Mutes,
  ...News,
  ...OpenApi,
  ...Posts,
  ...PublicKeys,
  ...QuotePosts,
  ...Replies,
  ...Reposts,
  ...Rules,
  ...Search,
  ...Spaces,
  ...Streams,
  ...Timelines,
  ...Trends,
  ...Usage,
  ...Users,
  ...Webhooks
}

/** The modules of the operations by name. */
export const areas = {
  AccountActivity,
  Activity,
  ActivityStreams,
  Analytics,
  Articles,
  Blocks,
  Bookmarks,
  Broadcasts,
  Chat,
  ChatMedia,
  Communities,
  CommunityNotes,
  ComplianceJobs,
  ComplianceStreams,
  Connections,
  Counts,
  DirectMessages,
  Follows,
  Likes,
  Lists,
  Media,
  Mutes,
  News,
  OpenApi,
  Posts,
  PublicKeys,
  QuotePosts,
  Replies,
  Reposts,
  Rules,
  Search,
  Spaces,
  Streams,
  Timelines,
  Trends,
  Usage,
  Users,
  Webhooks
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

/** The name of an operation, without aliases. */
export type Name = Exclude<keyof Catalogue, keyof typeof aliases>

/**
 * The scopes that an app needs for calling these operations with a user's OAuth 2.0 token, in the order of `Scopes.scopes`:
 * those of the operations, and `offline.access`, without which the user has to sign in again every two hours. Throws
 * `InvalidParameters` for an unknown name.
 *
 * ```ts
 * const scopes = scopesFor(["createPost", "getBookmarks"])
 * ```
 */
export const scopesFor = (operations: ReadonlyArray<keyof Catalogue>): ReadonlyArray<Scope> => {
  const needed = new Set<Scope>(["offline.access"])
  for (const name of operations) {
    if (!Object.hasOwn(catalogue, name)) throw unknownOperation(name)
    for (const scope of catalogue[name].definition.scopes) needed.add(scope)
  }
  return scopes.filter((scope) => needed.has(scope))
}

const unknownOperation = (name: string): Errors.InvalidParameters => {
  const meant = closestMatch(String(name), Object.keys(catalogue), { maxDistance: 3 })
  const rule = `must be names of operations${meant === undefined ? "" : ` (did you mean ${meant}?)`}`
  return Errors.invalidParameter("scopesFor", "operations", rule, name)
}
