/** Writes, reads and deletes posts. */
import type { Database } from "./Database.ts"
import { idList, inOrder } from "./Ids.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as PostIndex from "./PostIndex.ts"
import { PostWriter } from "./PostWriter.ts"
import type { Selection } from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

type OfPost = PageRequest & { readonly postId: string }

type Seen = { readonly viewer?: Visibility.Viewer | undefined }

export type Posts = ReturnType<typeof make>

export const make = (database: Database, events: EventPublisher) => {
  const index = PostIndex.make(database)
  const writer = new PostWriter(database, index, events)
  const find = database.select(Post.shape, "FROM posts p WHERE p.id = :id")
  const byIds = database.select(
    Post.shape,
    `FROM posts p WHERE p.id IN (SELECT value FROM json_each(:ids)) AND ${Visibility.post("p")}`
  )
  // Subqueries, because SQLite prepares the statement again whenever a bound that is a plain parameter changes.
  const between = database.select(
    Post.shape,
    `FROM posts p WHERE p.id > (SELECT :after) AND p.id < (SELECT :before) AND ${Visibility.post("p")}
     ORDER BY p.id LIMIT :limit`
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
  const byId = (id: string) => find.get({ id })

  return {
    /** Returns the id. */
    insert: (post: Post.NewPost): string => database.transaction(() => writer.insert(post)),
    byId,
    /**
     * In the order of `ids`, without duplicates and without posts that do not exist or that `viewer`, if given, may not see.
     */
    byIds: (ids: ReadonlyArray<string>, viewer?: Visibility.Viewer, selection?: Selection) =>
      inOrder(ids, byIds.all({ ids: idList(ids), viewer: Visibility.valueOf(viewer) }, selection), (post) => post.id),
    /** Publicly visible posts with ids strictly between two ids, oldest first. */
    between: (options: { readonly after: bigint; readonly before: bigint; readonly limit: number }) =>
      between.all({ ...options, viewer: Visibility.valueOf(everybody) }),
    /** The largest post id. */
    latest: (): bigint => BigInt(latest.get()?.id ?? 0),
    /** Deletes all versions of a post, with their likes, bookmarks and reposts; false if there is none. */
    delete: (id: string): boolean => database.transaction(() => writer.delete(id)),
    /** Permanently removes the location of a post. */
    scrubGeo: (id: string): void => {
      const post = byId(id)
      if (post === undefined) return
      scrubGeo({ id })
      events.publish({ _tag: "GeoScrubbed", id, authorId: post.author_id })
    },
    /** The id of a user's repost of a post. */
    repostBy: (user: string, post: string): string | undefined => repostBy.get({ user, post })?.id,
    /** Hides a reply, or shows it again. Idempotent; returns the new state. */
    setHidden: (id: string, hidden: boolean): boolean => {
      hide({ id, hidden: Number(hidden) })
      return hidden
    },
    isHidden: (id: string): boolean => hidden.get({ id })?.hidden === 1,
    /** True if the author posted the same text, with the same reply and quote targets, at `since` (milliseconds) or later. */
    isRepeated: ({ authorId, inReplyToPostId, quotedPostId, text }: Post.NewPost, since: number): boolean =>
      same.get({
        author: authorId,
        since: Snowflake.fromMillis(since),
        text,
        reply: inReplyToPostId ?? null,
        quoted: quotedPostId ?? null
      }) !== undefined,
    search: index.search,
    counts: index.counts,
    ...listings(database)
  }
}

const listings = (database: Database) => {
  const reposters = Users.pages(database, {
    from: "posts p JOIN users u ON u.id = p.author_id",
    where: "p.reposted_post_id = :post",
    key: "p.id"
  })
  const posts = (where: string) => Post.pages(database, { from: "posts p", where, key: "p.id" })
  const reposting = posts(`p.reposted_post_id = :post AND ${Visibility.post("p")}`)
  const reposted = posts(`p.author_id = :author AND p.unlisted = 0 AND EXISTS (
    SELECT 1 FROM posts r WHERE r.reposted_post_id = p.id AND r.author_id <> p.author_id)`)
  const quotes = posts(`p.quoted_post_id = :quoted AND p.unlisted = 0
    AND (:replies OR p.in_reply_to_user_id IS NULL) AND ${Visibility.post("p")}`)
  return {
    /** The users who reposted a post, latest first. */
    reposters: ({ postId: post, ...request }: OfPost) => reposters({ post }, unbounded, request),
    /** The reposts of a post that a viewer may see, latest first. */
    repostsOf: ({ postId: post, viewer, ...request }: OfPost & Seen) =>
      reposting({ post, viewer: Visibility.valueOf(viewer) }, unbounded, request),
    /** Posts of a user that others have reposted, latest first. */
    repostedOf: ({ authorId: author, ...request }: PageRequest & { readonly authorId: string }) =>
      reposted({ author }, unbounded, request),
    /** Posts that quote a post, latest first. */
    quotesOf: (
      { excludeReplies, postId: quoted, viewer, ...request }: OfPost & Seen & {
        readonly excludeReplies?: boolean | undefined
      }
    ) =>
      quotes(
        { quoted, replies: Number(!excludeReplies), viewer: Visibility.valueOf(viewer) },
        unbounded,
        request
      )
  }
}

const everybody: Visibility.Viewer = { userId: undefined }
