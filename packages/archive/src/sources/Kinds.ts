/** The kinds of sources: which operation lists them, what an item means, and how only new items are read. */
import { getBookmarks } from "@postwire/core/operations/Bookmarks"
import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import { getUsersFollowers, getUsersFollowing } from "@postwire/core/operations/Follows"
import { getLikedPosts } from "@postwire/core/operations/Likes"
import { getListMembers, getListPosts, getOwnedLists } from "@postwire/core/operations/Lists"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import { getHomeTimeline, getUsersMentions, getUsersPosts } from "@postwire/core/operations/Timelines"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Edge } from "../copy/Copy.ts"
import { fields, type TableName } from "../copy/Tables.ts"

/** A kind of paged source. */
export interface Kind {
  readonly definition: Definition
  /** The resources that its `of` names: users, lists, or nothing but the account itself; searches have a `query`. */
  readonly of: "users" | "lists" | "me" | "query"
  readonly table: TableName
  /**
   * How a run reads only what is new:
   *
   * - `since`: the service lists what came after the newest item
   * - `overlap`: newest first, until some items in a row are known; the whole list from time to time, to see what was removed
   */
  readonly how: "since" | "overlap"
  /** The relation of an item to the subject; none where the item has it by itself. */
  readonly edge?: {
    readonly kind: string
    /** The end of the edge that is the subject. */
    readonly subject: "from_id" | "to_id"
  }
  /** The service lists only so many of the newest. In a copy that has more, removed ones and older ones look alike. */
  readonly most?: number
  /** False if items are never removed from the list, or only with the resource itself. Default true. */
  readonly isSet?: boolean
}

const from = (kind: string): NonNullable<Kind["edge"]> => ({ kind, subject: "from_id" })

/** Every kind of paged source, by its name. */
export const kinds = {
  posts: { definition: getUsersPosts.definition, of: "users", table: "posts", how: "since" },
  mentions: {
    definition: getUsersMentions.definition,
    of: "users",
    table: "posts",
    how: "since",
    edge: from("mentions")
  },
  timeline: { definition: getHomeTimeline.definition, of: "me", table: "posts", how: "since", edge: from("timeline") },
  search: { definition: searchRecentPosts.definition, of: "query", table: "posts", how: "since", edge: from("found") },
  search_all: { definition: searchAllPosts.definition, of: "query", table: "posts", how: "since", edge: from("found") },
  list_posts: {
    definition: getListPosts.definition,
    of: "lists",
    table: "posts",
    how: "overlap",
    edge: from("list_posts"),
    isSet: false
  },
  bookmarks: {
    definition: getBookmarks.definition,
    of: "me",
    table: "posts",
    how: "overlap",
    edge: from("bookmarks"),
    most: 800
  },
  likes: { definition: getLikedPosts.definition, of: "users", table: "posts", how: "overlap", edge: from("likes") },
  followers: {
    definition: getUsersFollowers.definition,
    of: "users",
    table: "users",
    how: "overlap",
    edge: { kind: "follows", subject: "to_id" }
  },
  following: {
    definition: getUsersFollowing.definition,
    of: "users",
    table: "users",
    how: "overlap",
    edge: from("follows")
  },
  lists: { definition: getOwnedLists.definition, of: "users", table: "lists", how: "overlap", edge: from("owns") },
  members: {
    definition: getListMembers.definition,
    of: "lists",
    table: "users",
    how: "overlap",
    edge: from("members")
  },
  messages: {
    definition: getDirectMessageEvents.definition,
    of: "me",
    table: "messages",
    how: "overlap",
    edge: from("messages"),
    isSet: false
  }
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds

/** The expansions that cost nothing: authors and referenced posts are looked up once, instead of once a day with every item. */
const free = ["attachments.media_keys", "attachments.poll_ids", "geo.place_id"]

/** The parameters of each request: the fields that the copy has columns for. */
export const parametersOf = ({ definition }: Kind, userAuth: boolean): Readonly<Record<string, unknown>> => {
  const { query = {} } = definition
  const selected = Object.entries(fields).filter(([name]) => name in query)
  const model = "model" in definition.result ? definition.result.model : undefined
  const expansions = free.filter((name) => model !== undefined && name in model.expansions)
  return {
    ...Object.fromEntries(selected),
    ...definition.userAuth === undefined ? {} : { user_auth: userAuth },
    ..."expansions" in query && expansions.length > 0 ? { expansions } : {}
  }
}

/** The edges of items. */
export const edgesOf = ({ edge }: Kind, subject: string, ids: ReadonlyArray<string>): ReadonlyArray<Edge> =>
  edge === undefined
    ? []
    : ids.map((id) =>
      edge.subject === "from_id"
        ? { kind: edge.kind, from: subject, to: id }
        : { kind: edge.kind, from: id, to: subject }
    )
