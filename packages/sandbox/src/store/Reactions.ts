/** Likes and bookmarks. */
import type { Database } from "./Database.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

/** The likes, or the bookmarks, of a store. */
export interface Reactions {
  /** Adds or removes a reaction to an existing post. Idempotent; returns the new state. */
  readonly set: (userId: string, postId: string, active: boolean) => boolean
  readonly has: (userId: string, postId: string) => boolean
  /**
   * The posts that a user reacted to, latest reaction first. `cap` limits them to the latest ones, counted before those
   * that `viewer` may not see are filtered out.
   */
  readonly posts: (
    options: PageRequest & {
      readonly userId: string
      readonly cap?: number | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post.Post>
  /** The users who reacted to a post, latest reaction first. */
  readonly users: (options: PageRequest & { readonly postId: string }) => Page<Users.User>
}

export const make = (database: Database, table: "likes" | "bookmarks", events: EventPublisher): Reactions => {
  const add = database.command(`INSERT OR IGNORE INTO ${table} (user_id, post_id) VALUES (:user, :post)`)
  const remove = database.command(`DELETE FROM ${table} WHERE user_id = :user AND post_id = :post`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE user_id = :user AND post_id = :post`)
  const column = table === "likes" ? "like_count" : "bookmark_count"
  const countPost = database.command(`UPDATE posts SET ${column} = ${column} + :by WHERE id = :id`)
  // Bookmarks are private: users have no bookmark count.
  const countUser = table === "likes"
    ? database.command("UPDATE users SET like_count = like_count + :by WHERE id = :id")
    : undefined
  // A removed bookmark leaves its folders too.
  const unfile = table === "bookmarks"
    ? database.command(`
      DELETE FROM bookmark_folder_posts
      WHERE post_id = :post AND folder_id IN (SELECT id FROM bookmark_folders WHERE user_id = :user)`)
    : undefined
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
    set: (userId, postId, active) =>
      database.transaction(() => {
        const user = Snowflake.parse(userId)
        const post = Snowflake.parse(postId)
        if ((active ? add : remove)({ user, post }) > 0) {
          const by = active ? 1 : -1
          countPost({ id: post, by })
          countUser?.({ id: user, by })
          if (!active) unfile?.({ user, post })
          // Bookmarks are private.
          if (table === "likes") events.publish({ _tag: active ? "Liked" : "Unliked", userId, postId })
        }
        return active
      }),
    has: (userId, postId) => has.get({ user: Snowflake.parse(userId), post: Snowflake.parse(postId) }) !== undefined,
    posts: ({ cap, userId, viewer, ...request }) => {
      const user = Snowflake.parse(userId)
      const oldest = cap === undefined ? undefined : oldestOfLatest.get({ user, cap })?.key
      return posts(
        { user, viewer: Visibility.valueOf(viewer) },
        { ...unbounded, low: BigInt(oldest ?? 0) - 1n },
        request
      )
    },
    users: ({ postId, ...request }) => users({ post: Snowflake.parse(postId) }, unbounded, request)
  }
}
