/** What users put on posts: likes and bookmarks. */
import type { Database } from "./Database.ts"
import type { Teller } from "./Happenings.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

/** One kind of mark. */
export interface Marks {
  /** Puts a mark on an existing post, or takes it off; returns the state after. Repeating changes nothing. */
  readonly set: (userId: string, postId: string, marked: boolean) => boolean
  readonly has: (userId: string, postId: string) => boolean
  /**
   * The posts that a user marked, the latest mark first. `cap` limits them to the latest so many, counted before what
   * `viewer` may not see is left out.
   */
  readonly posts: (
    options: PageRequest & {
      readonly userId: string
      readonly cap?: number | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post.Post>
  /** The users who marked a post, the latest mark first. */
  readonly users: (options: PageRequest & { readonly postId: string }) => Page<Users.User>
}

/** The marks in one table of a database. */
export const make = (database: Database, table: "likes" | "bookmarks", happenings: Teller): Marks => {
  const add = database.command(`INSERT OR IGNORE INTO ${table} (user_id, post_id) VALUES (:user, :post)`)
  const remove = database.command(`DELETE FROM ${table} WHERE user_id = :user AND post_id = :post`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE user_id = :user AND post_id = :post`)
  const column = table === "likes" ? "like_count" : "bookmark_count"
  const countPost = database.command(`UPDATE posts SET ${column} = ${column} + :by WHERE id = :id`)
  // Bookmarks are private: no user shows how many there are.
  const countUser = table === "likes"
    ? database.command("UPDATE users SET like_count = like_count + :by WHERE id = :id")
    : undefined
  // What is no bookmark any more is in no folder either.
  const unfile = table === "bookmarks"
    ? database.command(`
      DELETE FROM bookmark_folder_posts
      WHERE post_id = :post AND folder_id IN (SELECT id FROM bookmark_folders WHERE user_id = :user)`)
    : undefined
  const oldestOfLatest = database.query<{ readonly key: number | null }>(`
    SELECT min(key) AS key FROM (SELECT key FROM ${table} WHERE user_id = :user ORDER BY key DESC LIMIT :cap)`)
  const posts = pager<Post.Row, Post.Post>(database, {
    select: Post.columns,
    from: `${table} m JOIN posts p ON p.id = m.post_id`,
    where: `m.user_id = :user AND ${Visibility.post("p")}`,
    key: "m.key"
  }, Post.decode)
  const users = pager<Users.Row, Users.User>(database, {
    select: Users.columns,
    from: `${table} m JOIN users u ON u.id = m.user_id`,
    where: "m.post_id = :post",
    key: "m.key"
  }, Users.decode)

  return {
    set: (userId, postId, marked) =>
      database.transaction(() => {
        const user = Snowflake.parse(userId)
        const post = Snowflake.parse(postId)
        if ((marked ? add : remove)({ user, post }) > 0) {
          const by = marked ? 1 : -1
          countPost({ id: post, by })
          countUser?.({ id: user, by })
          if (!marked) unfile?.({ user, post })
          // Bookmarks are private.
          if (table === "likes") happenings.tell({ _tag: marked ? "Liked" : "Unliked", userId, postId })
        }
        return marked
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
