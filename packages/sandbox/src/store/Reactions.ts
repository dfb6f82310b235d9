/** Likes and bookmarks. */
import * as Crypto from "node:crypto"
import type { Database } from "./Database.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Relation from "./Relation.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

/** The likes, or the bookmarks, of a store. */
export type Reactions = ReturnType<typeof make>

/** The id of a like. */
export const likeId = (userId: string, postId: string): string => Crypto.hash("md5", `${userId} ${postId}`)

export const make = (database: Database, table: "likes" | "bookmarks", events: EventPublisher) => {
  const { has, set } = Relation.make(database, table, ["user_id", "post_id"])
  const column = table === "likes" ? "like_count" : "bookmark_count"
  const countPost = database.command(`UPDATE posts SET ${column} = ${column} + :by WHERE id = :post`)
  const countUser = database.command("UPDATE users SET like_count = like_count + :by WHERE id = :user")
  const unfile = database.command(`
    DELETE FROM bookmark_folder_posts
    WHERE post_id = :post AND folder_id IN (SELECT id FROM bookmark_folders WHERE user_id = :user)`)
  const oldestOfLatest = database.query<{ readonly key: number | null }>(`
    SELECT min(key) AS key FROM (SELECT key FROM ${table} WHERE user_id = :user ORDER BY key DESC LIMIT :cap)`)
  const posts = Post.pages(database, {
    from: `${table} m JOIN posts p ON p.id = m.post_id`,
    where: `m.user_id = :user AND ${Visibility.post("p")}`,
    key: "m.key"
  })
  const users = Users.pages(database, {
    from: `${table} m JOIN users u ON u.id = m.user_id`,
    where: "m.post_id = :post",
    key: "m.key"
  })

  return {
    /** Adds or removes a reaction to an existing post. Idempotent; returns the new state. */
    set: (user: string, post: string, active: boolean): boolean =>
      database.transaction(() => {
        if (set(user, post, active)) {
          const by = active ? 1 : -1
          countPost({ post, by })
          // Bookmarks are private: users have no bookmark count. A removed bookmark leaves its folders too.
          if (table === "likes") {
            countUser({ user, by })
            events.publish({ _tag: active ? "Liked" : "Unliked", userId: user, postId: post })
          } else if (!active) unfile({ user, post })
        }
        return active
      }),
    has,
    /**
     * The posts that a user reacted to, latest reaction first. `cap` limits them to the latest ones, counted before those
     * that `viewer` may not see are filtered out.
     */
    posts: ({ cap, userId: user, viewer, ...request }: PageRequest & {
      readonly userId: string
      readonly cap?: number | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }) => {
      const oldest = cap === undefined ? undefined : oldestOfLatest.get({ user, cap })?.key
      const range = { ...unbounded, low: BigInt(oldest ?? 0) - 1n }
      return posts({ user, viewer: Visibility.valueOf(viewer) }, range, request)
    },
    /** The users who reacted to a post, latest reaction first. */
    users: ({ postId: post, ...request }: PageRequest & { readonly postId: string }) =>
      users({ post }, unbounded, request)
  }
}
