/** A conversation as a tree: its posts in their places, and the places of those that are missing. */
import type { Complete } from "../../schema/Selection.ts"
import * as Ancestry from "./ancestry.ts"

/** A post of a conversation. Fields that nothing asked for are missing. */
export type Post = Default<"post", "id" | "text" | "edit_history_post_ids">

/** Who wrote a post. */
export type Author = Default<"user", "id" | "name" | "username">

type Default<K extends "post" | "user", Names extends keyof Complete<K>> =
  & Pick<Complete<K>, Names>
  & Partial<Omit<Complete<K>, Names>>

/** Why a post is missing. */
export type MissingReason =
  /** It was deleted, or never was. */
  | "deleted"
  /** Its account shows its posts to followers only, blocks the reader, or is suspended where the service does not say so. */
  | "protected"
  /** Its account is suspended, as the service says. */
  | "suspended"
  /** The service says something else; `detail` has it. */
  | "unavailable"

/** A post that others reply to and that the service does not show. */
export interface Missing {
  readonly id: string
  readonly reason: MissingReason
  /** In the words of the service. */
  readonly detail: string | undefined
}

/** A span of time that no search reaches. What was posted in it is there only where something later replies to it. */
export interface OutOfReach {
  /** The times of its ends, as the service writes them. */
  readonly from: string
  readonly to: string
}

/** A part of a conversation as it comes. */
export type Part =
  | { readonly _tag: "Post"; readonly post: Post; readonly author: Author | undefined }
  | Missing & { readonly _tag: "Missing" }
  | OutOfReach & { readonly _tag: "OutOfReach" }

/** A post in its place, or the place of one that is missing. */
export interface Node {
  readonly id: string
  /** 0 for the first post, 1 for what replies to it, and so on. */
  readonly depth: number
  /** The post that it replies to; that of a missing one is unknown, which stands below the first. */
  readonly parent: string | undefined
  readonly post: Post | undefined
  readonly author: Author | undefined
  /** Why there is no post. */
  readonly missing: Missing | undefined
  /** How many replies to it are here. */
  readonly replies: number
  /** How many more the service counts: they are deleted or protected, or no search has brought them. */
  readonly unseen: number
}

/** A conversation as a tree. */
export interface Conversation {
  /** That of its first post. */
  readonly id: string
  /** Each one before the replies to it, of which the oldest comes first. The first is the root. */
  readonly nodes: ReadonlyArray<Node>
  /** How many posts are here. */
  readonly posts: number
  readonly missing: ReadonlyArray<Missing>
  readonly outOfReach: OutOfReach | undefined
}

/** Puts the parts of a conversation in their places. */
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
  // Conversations may be deeper than calls can nest.
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
