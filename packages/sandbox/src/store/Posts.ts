/** Posts: written, read, deleted. */
import * as PostText from "@postwire/core/text/PostText"
import * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import type { Teller } from "./Happenings.ts"
import { idList, ids, inOrder } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as PostIndex from "./PostIndex.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

/** The posts of a store. */
export interface Posts extends PostIndex.Searches {
  /** Returns the id. */
  readonly insert: (post: Post.NewPost) => string
  readonly byId: (id: string) => Post.Post | undefined
  /** In the order of `ids`, once each, without those that do not exist or, when given, that `viewer` may not see. */
  readonly byIds: (ids: ReadonlyArray<string>, viewer?: Visibility.Viewer) => ReadonlyArray<Post.Post>
  /** Those that everybody may see of the ids between two, the oldest first. */
  readonly between: (
    options: { readonly after: bigint; readonly before: bigint; readonly limit: number }
  ) => ReadonlyArray<Post.Post>
  /** The largest id. */
  readonly latest: () => bigint
  /** Removes a post, in all its versions, with its likes, bookmarks and reposts; false when there is none. */
  readonly delete: (id: string) => boolean
  /** Takes the places of a post away, for ever. */
  readonly scrubGeo: (id: string) => void
  /** The repost of a post by a user. */
  readonly repostBy: (userId: string, postId: string) => string | undefined
  /** Who reposted a post, the latest first. */
  readonly reposters: (options: PageRequest & { readonly postId: string }) => Page<Users.User>
  /** The reposts of a post that a viewer may see, the latest first. */
  readonly repostsOf: (
    options: PageRequest & { readonly postId: string; readonly viewer?: Visibility.Viewer | undefined }
  ) => Page<Post.Post>
  /** Posts of a user that others have reposted, the latest first. */
  readonly repostedOf: (options: PageRequest & { readonly authorId: string }) => Page<Post.Post>
  /** Hides a reply, or shows it again; returns the state after. Repeating changes nothing. */
  readonly setHidden: (id: string, hidden: boolean) => boolean
  readonly isHidden: (id: string) => boolean
  /** Whether its author has said the same, to the same post and about the same one, at `since` or later, in milliseconds. */
  readonly isRepeated: (post: Post.NewPost, since: number) => boolean
  /** Posts that quote a post, the latest first. */
  readonly quotesOf: (
    options: PageRequest & {
      readonly postId: string
      readonly excludeReplies?: boolean | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post.Post>
}

/** The posts in a database. */
export const make = (database: Database, happenings: Teller): Posts => {
  const nextId = ids(database, "posts")
  const byId = database.query<Post.Row>(`SELECT ${Post.columns} FROM posts p WHERE p.id = :id`)
  const byIds = database.query<Post.Row>(`
    SELECT ${Post.columns} FROM posts p WHERE p.id IN (SELECT value FROM json_each(:ids)) AND ${Visibility.post("p")}`)
  // As bounds of a range the values themselves would have the statement prepared anew, each time that they are others.
  const between = database.query<Post.Row>(`
    SELECT ${Post.columns} FROM posts p WHERE p.id > (SELECT :after) AND p.id < (SELECT :before) AND ${
    Visibility.post("p")
  }
    ORDER BY p.id LIMIT :limit`)
  const latest = database.query<{ readonly id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM posts ORDER BY id DESC LIMIT 1"
  )
  const account = database.query<PostIndex.Account>(`SELECT ${accountColumns} FROM users WHERE id = :id`)
  const named = database.query<PostIndex.Account>(`SELECT ${accountColumns} FROM users WHERE username = :username`)
  const parent = database.query<{ readonly author_id: string; readonly conversation_id: string }>(
    `SELECT CAST(author_id AS TEXT) AS author_id, CAST(conversation_id AS TEXT) AS conversation_id
     FROM posts WHERE id = :id`
  )
  const insert = database.command(`
    INSERT INTO posts (id, author_id, text, conversation_id, in_reply_to_user_id, in_reply_to_post_id, quoted_post_id,
      reposted_post_id, lang, source, reply_settings, possibly_sensitive, unlisted, audience, entities, attachments, place_id,
      facts, extra, impression_count)
    VALUES (:id, :author, :text, :conversation, :replyUser, :reply, :quoted, :reposted, :lang, :source, :replySettings,
      :sensitive, :unlisted, :audience, :entities, :attachments, :place, :facts, :extra, :impressions)`)
  const setHistory = database.command(`
    UPDATE posts SET unlisted = 1, facts = json_set(coalesce(facts, '{}'), '$.history', json(:history))
    WHERE id IN (SELECT value FROM json_each(:ids))`)
  const index = PostIndex.make(database)
  const count = (table: string, column: string) =>
    database.command(`UPDATE ${table} SET ${column} = ${column} + :by WHERE id = :id`)
  const countPost = count("users", "post_count")
  const countReply = count("posts", "reply_count")
  const countQuote = count("posts", "quote_count")
  const countRepost = count("posts", "repost_count")
  const remove = [
    "posts WHERE id",
    "likes WHERE post_id",
    "bookmarks WHERE post_id",
    "bookmark_folder_posts WHERE post_id"
  ]
    .map((rows) => database.command(`DELETE FROM ${rows} = :id`))
  const uncountLikes = database.command(`
    UPDATE users SET like_count = like_count - 1 WHERE id IN (SELECT user_id FROM likes WHERE post_id = :id)`)
  const unshare = database.command("DELETE FROM space_posts WHERE post_id = :id")
  const mention = database.command("INSERT OR IGNORE INTO mentions (user_id, post_id) VALUES (:user, :post)")
  const unmention = database.command("DELETE FROM mentions WHERE user_id = :user AND post_id = :post")
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
  const unpin = database.command("UPDATE users SET pinned_post_id = NULL WHERE id = :author AND pinned_post_id = :id")
  const repostsOf = database.query<{ readonly id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM posts WHERE reposted_post_id = :id"
  )
  const repostBy = database.query<{ readonly id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM posts WHERE reposted_post_id = :post AND author_id = :user"
  )
  const reposters = pager<Users.Row, Users.User>(database, {
    select: Users.columns,
    from: "posts p JOIN users u ON u.id = p.author_id",
    where: "p.reposted_post_id = :post",
    key: "p.id"
  }, Users.decode)
  const reposting = pager<Post.Row, Post.Post>(database, {
    select: Post.columns,
    from: "posts p",
    where: `p.reposted_post_id = :post AND ${Visibility.post("p")}`,
    key: "p.id"
  }, Post.decode)
  const reposted = pager<Post.Row, Post.Post>(database, {
    select: Post.columns,
    from: "posts p",
    where: `p.author_id = :author AND p.unlisted = 0 AND EXISTS (
      SELECT 1 FROM posts r WHERE r.reposted_post_id = p.id AND r.author_id <> p.author_id)`,
    key: "p.id"
  }, Post.decode)
  const quoting = pager<Post.Row, Post.Post>(database, {
    select: Post.columns,
    from: "posts p",
    where: `p.quoted_post_id = :quoted AND p.unlisted = 0 AND (:replies OR p.in_reply_to_user_id IS NULL) AND ${
      Visibility.post("p")
    }`,
    key: "p.id"
  }, Post.decode)
  const mentionable = (username: string) => named.get({ username })

  const write = (post: Post.NewPost): string => {
    const author = account.get({ id: Snowflake.parse(post.authorId) })
    if (author === undefined) throw new Error(`There is no user ${post.authorId}`)
    const id = post.id === undefined ? nextId(post.createdAt) : Snowflake.parse(post.id)
    const answered = post.inReplyToPostId === undefined
      ? undefined
      : parent.get({ id: Snowflake.parse(post.inReplyToPostId) })
    const addressee = answered && account.get({ id: Snowflake.parse(answered.author_id) })
    const reposted = post.repostedPostId === undefined
      ? undefined
      : parent.get({ id: Snowflake.parse(post.repostedPostId) })
    const repostee = reposted && account.get({ id: Snowflake.parse(reposted.author_id) })
    const isLong = post.repostedPostId === undefined && !PostText.fits(post.text)
    const text = isLong ? PostText.truncate(post.text) : post.text
    const found = Entities.find(post.text, mentionable)
    const entities = isLong ? Entities.find(text, mentionable) : found
    const edited = post.editOf === undefined ? undefined : byId.get({ id: Snowflake.parse(post.editOf) })
    const versions = edited && Post.decode(edited).edit_history_post_ids
    const history = versions && [...versions, String(id)]
    const facts: Post.Facts = {
      ...(post.communityId === undefined ? {} : { community_id: post.communityId }),
      ...(post.cardUri === undefined ? {} : { card_uri: post.cardUri }),
      ...(history === undefined ? {} : { history }),
      ...(post.unlisted === true || (post.audience ?? "all") !== "all" ? { fixed: true } : {}),
      ...(post.coordinates === undefined ? {} : { coordinates: post.coordinates }),
      ...(post.withheld === undefined ? {} : { withheld: post.withheld }),
      ...(post.paidPartnership === true ? { paid_partnership: true } : {}),
      ...post.notes,
      ...(post.leftOut?.length ? { left_out: post.leftOut } : {}),
      ...(isLong ? { note_post: { text: post.text, entities: found } } : {}),
      ...(author.protected === 0 ? {} : { scopes: { followers: true } })
    }
    const conversation = answered?.conversation_id ?? edited?.conversation_id ?? String(id)
    const attachments = {
      media_keys: post.mediaKeys?.length ? post.mediaKeys : undefined,
      poll_ids: post.pollId === undefined ? undefined : [post.pollId]
    }
    insert({
      id,
      author: Snowflake.parse(post.authorId),
      text,
      conversation: Snowflake.parse(conversation),
      replyUser: answered === undefined ? null : Snowflake.parse(answered.author_id),
      reply: optionalId(post.inReplyToPostId),
      quoted: optionalId(post.quotedPostId),
      reposted: optionalId(post.repostedPostId),
      lang: post.lang ?? "und",
      source: post.source ?? "Postwire Sandbox",
      replySettings: post.replySettings ?? "everyone",
      sensitive: Number(post.possiblySensitive ?? false),
      unlisted: Number(post.unlisted ?? false),
      audience: post.audience ?? "all",
      entities: entities === undefined ? null : JSON.stringify(entities),
      attachments: attachments.media_keys || attachments.poll_ids ? JSON.stringify(attachments) : null,
      place: post.placeId ?? null,
      facts: Object.keys(facts).length === 0 ? null : JSON.stringify(facts),
      extra: post.extra === undefined ? null : JSON.stringify(post.extra),
      impressions: post.impressions ?? 0
    })
    if (edited !== undefined && versions !== undefined) {
      withdraw(edited)
      setHistory({ ids: idList(versions), history: JSON.stringify(history) })
    }
    happenings.tell({ _tag: "Posted", id: String(id), editOf: post.editOf })
    if (post.unlisted === true) return String(id)
    countPost({ id: Snowflake.parse(post.authorId), by: 1 })
    // A repost says again what somebody else has said.
    if (post.repostedPostId === undefined) {
      for (const { id: user } of found?.mentions ?? []) mention({ user: Snowflake.parse(user), post: id })
    }
    if (post.inReplyToPostId !== undefined) countReply({ id: Snowflake.parse(post.inReplyToPostId), by: 1 })
    if (post.quotedPostId !== undefined) countQuote({ id: Snowflake.parse(post.quotedPostId), by: 1 })
    if (post.repostedPostId !== undefined) countRepost({ id: Snowflake.parse(post.repostedPostId), by: 1 })
    // No search finds what is not public: posts of protected accounts, and those for some only.
    if (author.protected === 0 && (post.audience ?? "all") === "all") {
      index.add(id, { post, conversation, author, addressee, repostee, entities: found })
    }
    return String(id)
  }

  /** Takes a post out of what is counted and found. */
  const withdraw = (row: Post.Row): void => {
    if (row.unlisted === 1) return
    const key = Snowflake.parse(row.id)
    countPost({ id: Snowflake.parse(row.author_id), by: -1 })
    if (row.in_reply_to_post_id !== null) countReply({ id: Snowflake.parse(row.in_reply_to_post_id), by: -1 })
    if (row.quoted_post_id !== null) countQuote({ id: Snowflake.parse(row.quoted_post_id), by: -1 })
    if (row.reposted_post_id !== null) countRepost({ id: Snowflake.parse(row.reposted_post_id), by: -1 })
    const { entities, note_post } = Post.decode(row)
    for (const { id: user } of (note_post?.entities ?? entities)?.mentions ?? []) {
      unmention({ user: Snowflake.parse(user), post: key })
    }
    index.remove(key)
  }

  const erase = (id: string): boolean => {
    const row = byId.get({ id: Snowflake.parse(id) })
    if (row === undefined) return false
    for (const version of Post.decode(row).edit_history_post_ids) eraseOne(version)
    return true
  }

  const eraseOne = (id: string): void => {
    const key = Snowflake.parse(id)
    const row = byId.get({ id: key })
    if (row === undefined) return
    for (const repost of repostsOf.all({ id: key })) erase(repost.id)
    withdraw(row)
    unshare({ id: key })
    unpin({ author: Snowflake.parse(row.author_id), id: key })
    uncountLikes({ id: key })
    for (const command of remove) command({ id: key })
    happenings.tell({
      _tag: "Deleted",
      id,
      authorId: row.author_id,
      quotedId: row.quoted_post_id ?? undefined
    })
  }

  return {
    insert: (post) => database.transaction(() => write(post)),
    byId: (id) => {
      const row = byId.get({ id: Snowflake.parse(id) })
      return row && Post.decode(row)
    },
    byIds: (ids, viewer) =>
      inOrder(
        ids,
        byIds.all({ ids: idList(ids), viewer: Visibility.valueOf(viewer) }).map(Post.decode),
        (post) => post.id
      ),
    between: (options) => between.all({ ...options, viewer: Visibility.valueOf(everybody) }).map(Post.decode),
    latest: () => BigInt(latest.get()?.id ?? 0),
    delete: (id) => database.transaction(() => erase(id)),
    scrubGeo: (id) => {
      const post = byId.get({ id: Snowflake.parse(id) })
      if (post === undefined) return
      scrubGeo({ id: Snowflake.parse(id) })
      happenings.tell({ _tag: "GeoScrubbed", id, authorId: post.author_id })
    },
    repostBy: (userId, postId) => repostBy.get({ user: Snowflake.parse(userId), post: Snowflake.parse(postId) })?.id,
    reposters: ({ postId, ...request }) => reposters({ post: Snowflake.parse(postId) }, unbounded, request),
    repostsOf: ({ postId, viewer, ...request }) =>
      reposting({ post: Snowflake.parse(postId), viewer: Visibility.valueOf(viewer) }, unbounded, request),
    repostedOf: ({ authorId, ...request }) => reposted({ author: Snowflake.parse(authorId) }, unbounded, request),
    setHidden: (id, hidden) => {
      hide({ id: Snowflake.parse(id), hidden: Number(hidden) })
      return hidden
    },
    isRepeated: ({ authorId, inReplyToPostId, quotedPostId, text }, since) =>
      same.get({
        author: Snowflake.parse(authorId),
        since: Snowflake.fromMillis(since),
        text,
        reply: optionalId(inReplyToPostId),
        quoted: optionalId(quotedPostId)
      }) !== undefined,
    isHidden: (id) => hidden.get({ id: Snowflake.parse(id) })?.hidden === 1,
    search: index.search,
    counts: index.counts,
    quotesOf: (options) =>
      quoting(
        {
          quoted: Snowflake.parse(options.postId),
          replies: Number(!options.excludeReplies),
          viewer: Visibility.valueOf(options.viewer)
        },
        unbounded,
        options
      )
  }
}

const everybody: Visibility.Viewer = { userId: undefined }

const accountColumns = "CAST(id AS TEXT) AS id, username, verified_type <> 'none' AS verified, protected"

const optionalId = (id: string | undefined): bigint | null => id === undefined ? null : Snowflake.parse(id)
