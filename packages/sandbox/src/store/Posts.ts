/** Writes, reads and deletes posts. */
import type { Database } from "./Database.ts"
import { idList, inOrder, optionalId } from "./Ids.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as PostIndex from "./PostIndex.ts"
import { PostWriter } from "./PostWriter.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

export interface Posts extends PostIndex.Searches {
  /** Returns the id. */
  readonly insert: (post: Post.NewPost) => string
  readonly byId: (id: string) => Post.Post | undefined
  /**
   * In the order of `ids`, without duplicates and without posts that do not exist or that `viewer`, if given, may not see.
   */
  readonly byIds: (ids: ReadonlyArray<string>, viewer?: Visibility.Viewer) => ReadonlyArray<Post.Post>
  /** Publicly visible posts with ids strictly between two ids, oldest first. */
  readonly between: (
    options: { readonly after: bigint; readonly before: bigint; readonly limit: number }
  ) => ReadonlyArray<Post.Post>
  /** The largest post id. */
  readonly latest: () => bigint
  /** Deletes all versions of a post, with their likes, bookmarks and reposts; false if there is none. */
  readonly delete: (id: string) => boolean
  /** Permanently removes the location of a post. */
  readonly scrubGeo: (id: string) => void
  /** The id of a user's repost of a post. */
  readonly repostBy: (userId: string, postId: string) => string | undefined
  /** The users who reposted a post, latest first. */
  readonly reposters: (options: PageRequest & { readonly postId: string }) => Page<Users.User>
  /** The reposts of a post that a viewer may see, latest first. */
  readonly repostsOf: (
    options: PageRequest & { readonly postId: string; readonly viewer?: Visibility.Viewer | undefined }
  ) => Page<Post.Post>
  /** Posts of a user that others have reposted, latest first. */
  readonly repostedOf: (options: PageRequest & { readonly authorId: string }) => Page<Post.Post>
  /** Hides a reply, or shows it again. Idempotent; returns the new state. */
  readonly setHidden: (id: string, hidden: boolean) => boolean
  readonly isHidden: (id: string) => boolean
  /** True if the author posted the same text, with the same reply and quote targets, at `since` (milliseconds) or later. */
  readonly isRepeated: (post: Post.NewPost, since: number) => boolean
  /** Posts that quote a post, latest first. */
  readonly quotesOf: (
    options: PageRequest & {
      readonly postId: string
      readonly excludeReplies?: boolean | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post.Post>
}

export const make = (database: Database, events: EventPublisher): Posts => {
  const index = PostIndex.make(database)
  const writer = new PostWriter(database, index, events)
  const byId = database.queryAs(`SELECT ${Post.columns} FROM posts p WHERE p.id = :id`, Post.decode)
  const byIds = database.queryAs(
    `SELECT ${Post.columns} FROM posts p WHERE p.id IN (SELECT value FROM json_each(:ids)) AND ${Visibility.post("p")}`,
    Post.decode
  )
  // Subqueries, because SQLite prepares the statement again whenever a bound that is a plain parameter changes.
  const between = database.queryAs(
    `SELECT ${Post.columns} FROM posts p
     WHERE p.id > (SELECT :after) AND p.id < (SELECT :before) AND ${Visibility.post("p")} ORDER BY p.id LIMIT :limit`,
    Post.decode
  )
  const latest = database.query<{ readonly id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM posts ORDER BY id DESC LIMIT 1"
  )
  const hide = database.command("UPDATE posts SET hidden = :hidden WHERE id = :id")
  const hidden = database.query<{ readonly hidden: number }>("SELECT hidden FROM posts WHERE id = :id")
  const same = database.query(`
    SELECT 1 FROM posts WHERE author_id = :author AND id >= :since AND reposted_post_id IS NULL AND attachments IS NULL
      AND unlisted = 0
      AND coalesce(facts ->> '$.note_post.text', text) = :text AND in_reply_to_post_id IS :reply
      AND quoted_post_id IS :quoted LIMIT 1`)
  const scrubGeo = database.command(`
    UPDATE posts SET place_id = NULL,
      facts = json_remove(json_set(coalesce(facts, '{}'), '$.geo_scrubbed', json('true')), '$.coordinates')
    WHERE id = :id`)
  const repostBy = database.query<{ readonly id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM posts WHERE reposted_post_id = :post AND author_id = :user"
  )
  const find = (id: string) => byId.get({ id: Snowflake.parse(id) })

  return {
    insert: (post) => database.transaction(() => writer.insert(post)),
    byId: find,
    byIds: (ids, viewer) =>
      inOrder(ids, byIds.all({ ids: idList(ids), viewer: Visibility.valueOf(viewer) }), (post) => post.id),
    between: (options) => between.all({ ...options, viewer: Visibility.valueOf(everybody) }),
    latest: () => BigInt(latest.get()?.id ?? 0),
    delete: (id) => database.transaction(() => writer.delete(id)),
    scrubGeo: (id) => {
      const post = find(id)
      if (post === undefined) return
      scrubGeo({ id: Snowflake.parse(id) })
      events.publish({ _tag: "GeoScrubbed", id, authorId: post.author_id })
    },
    repostBy: (userId, postId) => repostBy.get({ user: Snowflake.parse(userId), post: Snowflake.parse(postId) })?.id,
    setHidden: (id, hidden) => {
      hide({ id: Snowflake.parse(id), hidden: Number(hidden) })
      return hidden
    },
    isHidden: (id) => hidden.get({ id: Snowflake.parse(id) })?.hidden === 1,
    isRepeated: ({ authorId, inReplyToPostId, quotedPostId, text }, since) =>
      same.get({
        author: Snowflake.parse(authorId),
        since: Snowflake.fromMillis(since),
        text,
        reply: optionalId(inReplyToPostId),
        quoted: optionalId(quotedPostId)
      }) !== undefined,
    search: index.search,
    counts: index.counts,
    ...listings(database)
  }
}

type Listings = Pick<Posts, "reposters" | "repostsOf" | "repostedOf" | "quotesOf">

const listings = (database: Database): Listings => {
  const reposters = Users.pages(database, {
    from: "posts p JOIN users u ON u.id = p.author_id",
    where: "p.reposted_post_id = :post",
    key: "p.id"
  })
  const posts = (where: string) => Post.pages(database, { from: "posts p", where, key: "p.id" })
  const reposting = posts(`p.reposted_post_id = :post AND ${Visibility.post("p")}`)
  const reposted = posts(`p.author_id = :author AND p.unlisted = 0 AND EXISTS (
    SELECT 1 FROM posts r WHERE r.reposted_post_id = p.id AND r.author_id <> p.author_id)`)
  const quoting = posts(`p.quoted_post_id = :quoted AND p.unlisted = 0
    AND (:replies OR p.in_reply_to_user_id IS NULL) AND ${Visibility.post("p")}`)
  return {
    reposters: ({ postId, ...request }) => reposters({ post: Snowflake.parse(postId) }, unbounded, request),
    repostsOf: ({ postId, viewer, ...request }) =>
      reposting({ post: Snowflake.parse(postId), viewer: Visibility.valueOf(viewer) }, unbounded, request),
    repostedOf: ({ authorId, ...request }) => reposted({ author: Snowflake.parse(authorId) }, unbounded, request),
    quotesOf: ({ excludeReplies, postId, viewer, ...request }) =>
      quoting(
        { quoted: Snowflake.parse(postId), replies: Number(!excludeReplies), viewer: Visibility.valueOf(viewer) },
        unbounded,
        request
      )
  }
}

const everybody: Visibility.Viewer = { userId: undefined }
