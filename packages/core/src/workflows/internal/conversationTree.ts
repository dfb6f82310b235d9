/** A conversation as a tree of its posts, with placeholders for missing ones. */
import type { Complete } from "../../schema/Selection.ts"
import * as Ancestry from "./ancestry.ts"

/** A post of a conversation, with the requested fields. */
export type Post = Default<"post", "id" | "text" | "edit_history_post_ids">

/** The author of a post. */
export type Author = Default<"user", "id" | "name" | "username">

type Default<K extends "post" | "user", Names extends keyof Complete<K>> =
  & Pick<Complete<K>, Names>
  & Partial<Omit<Complete<K>, Names>>

/** The reason why a post is missing. */
export type MissingReason =
  /** It was deleted, or never existed. */
  | "deleted"
  /** Its account shows posts to followers only, blocks the reader, or is suspended without the service saying so. */
  | "protected"
  /** Its account is suspended. */
  | "suspended"
  /** Any other reason; see `detail`. */
  | "unavailable"

/** A post that others reply to but the service does not show. */
export interface Missing {
  readonly id: string
  readonly reason: MissingReason
  /** The text of the service. */
  readonly detail: string | undefined
}

/** A time range that no search reaches. Posts from it are included only if a later post replies to them. */
export interface OutOfReach {
  /** ISO 8601 times. */
  readonly from: string
  readonly to: string
}

/** A part of a conversation in the stream. */
export type Part =
  | { readonly _tag: "Post"; readonly post: Post; readonly author: Author | undefined }
  | Missing & { readonly _tag: "Missing" }
  | OutOfReach & { readonly _tag: "OutOfReach" }

/** A post in the tree, or the placeholder of a missing one. */
export interface Node {
  readonly id: string
  /** 0 for the first post, 1 for replies to it, and so on. */
  readonly depth: number
  /** The post that it replies to. A missing post has an unknown parent and is placed below the first post. */
  readonly parent: string | undefined
  readonly post: Post | undefined
  readonly author: Author | undefined
  /** The reason if there is no post. */
  readonly missing: Missing | undefined
  /** The number of replies in the tree. */
  readonly replies: number
  /** Further replies that the service counts: deleted, protected, or not found by the search. */
  readonly unseen: number
}

/** A conversation as a tree. */
export interface Conversation {
  /** The id of its first post. */
  readonly id: string
  /** Each node before its replies, which are sorted from the oldest. The first one is the root. */
  readonly nodes: ReadonlyArray<Node>
  /** The number of posts in the tree. */
  readonly posts: number
  readonly missing: ReadonlyArray<Missing>
  readonly outOfReach: OutOfReach | undefined
}

/** Builds the tree from the parts of a conversation. */
export const treeOf = (id: string, parts: Iterable<Part>): Conversation => {
  const posts = new Map<string, Part & { readonly _tag: "Post" }>()
  const missing = new Map<string, Missing>()
  let outOfReach: OutOfReach | undefined
  for (const part of parts) {
    if (part._tag === "Post") posts.set(part.post.id, part)
    else if (part._tag === "OutOfReach") outOfReach = { from: part.from, to: part.to }
    else missing.set(part.id, { id: part.id, reason: part.reason, detail: part.detail })
  }
  const repliesTo = new Map<string, Array<string>>()
  for (const child of [...posts.keys(), ...missing.keys()].sort(Ancestry.byAge)) {
    if (child === id) continue
    const post = posts.get(child)
    const stated = post && Ancestry.parentOf(post.post)
    const parent = stated !== undefined && (posts.has(stated) || missing.has(stated)) ? stated : id
    const siblings = repliesTo.get(parent)
    if (siblings === undefined) repliesTo.set(parent, [child])
    else siblings.push(child)
  }
  const nodes: Array<Node> = []
  // Recursion could exceed the stack: conversations can be thousands of levels deep.
  const left: Array<Pick<Node, "id" | "depth" | "parent">> = [{ id, depth: 0, parent: undefined }]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const replies = repliesTo.get(at.id) ?? []
    const found = posts.get(at.id)
    nodes.push({
      ...at,
      parent: found === undefined ? undefined : at.parent,
      post: found?.post,
      author: found?.author,
      missing: missing.get(at.id),
      replies: replies.length,
      unseen: Math.max(0, (found?.post.public_metrics?.reply_count ?? 0) - replies.length)
    })
    for (const reply of replies.toReversed()) left.push({ id: reply, depth: at.depth + 1, parent: at.id })
  }
  return { id, nodes, posts: posts.size, missing: [...missing.values()], outOfReach }
}
