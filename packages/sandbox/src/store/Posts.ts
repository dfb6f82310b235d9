/** Posts: reading, writing, searching. */
import type { Query } from "../query/Query.ts"
import * as Terms from "../query/Terms.ts"
import {
  type Cursor,
  type Database,
  idList,
  ids,
  inOrder,
  type Page,
  pager,
  type PageRequest,
  type Range,
  unbounded
} from "./Database.ts"
import * as Entities from "./Entities.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"
import { rangeOf, type Window } from "./Window.ts"

/** A post, with every field that the store knows. */
export interface Post {
  readonly id: string
  readonly text: string
  readonly edit_history_post_ids: readonly [string]
  readonly author_id: string
  readonly created_at: string
  readonly conversation_id: string
  readonly in_reply_to_user_id?: string
  readonly referenced_posts?: ReadonlyArray<
    { readonly type: "reposted" | "quoted" | "replied_to"; readonly id: string }
  >
  readonly lang: string
  readonly source: string
  readonly reply_settings: ReplySettings
  readonly possibly_sensitive: boolean
  readonly entities?: Entities.Entities
  readonly attachments?: {
    readonly media_keys?: ReadonlyArray<string>
    readonly poll_ids?: ReadonlyArray<string>
  }
  readonly geo?: { readonly place_id: string }
  readonly public_metrics: {
    readonly repost_count: number
    readonly reply_count: number
    readonly like_count: number
    readonly quote_count: number
    readonly bookmark_count: number
    readonly impression_count: number
  }
}

/** Who may reply. */
export type ReplySettings = "everyone" | "mentionedUsers" | "following" | "subscribers" | "verified"

/** A post to be. Users and posts that it names must exist; only a quoted or answered post may be gone. */
export interface NewPost {
  readonly authorId: string
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Made from `createdAt`, and larger than every id before, when left out. */
  readonly id?: string | undefined
  readonly inReplyToPostId?: string | undefined
  readonly quotedPostId?: string | undefined
  readonly repostedPostId?: string | undefined
  readonly mediaKeys?: ReadonlyArray<string> | undefined
  readonly pollId?: string | undefined
  readonly placeId?: string | undefined
  /** "und" when left out. */
  readonly lang?: string | undefined
  readonly source?: string | undefined
  readonly replySettings?: ReplySettings | undefined
  readonly possiblySensitive?: boolean | undefined
  readonly impressions?: number | undefined
  /** Facts that are kept but shown nowhere: tagged users, excluded repliers and the like. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** The posts of a store. */
export interface Posts {
  /** Returns the id. */
  readonly insert: (post: NewPost) => string
  readonly byId: (id: string) => Post | undefined
  /** In the order of `ids`, once each, without those that do not exist or, when given, that `viewer` may not see. */
  readonly byIds: (ids: ReadonlyArray<string>, viewer?: Visibility.Viewer) => ReadonlyArray<Post>
  /** Removes a post with its likes, bookmarks and reposts; false when there is none. */
  readonly delete: (id: string) => boolean
  /** The repost of a post by a user. */
  readonly repostBy: (userId: string, postId: string) => string | undefined
  /** Who reposted a post, the latest first. */
  readonly reposters: (options: PageRequest & { readonly postId: string }) => Page<Users.User>
  /** Hides a reply, or shows it again; returns the state after. Repeating changes nothing. */
  readonly setHidden: (id: string, hidden: boolean) => boolean
  readonly isHidden: (id: string) => boolean
  /**
   * Public posts that a query finds: the latest first, or by "relevancy" those seen by very many first, then by many and
   * so on to the rest, of each the latest first. The latter has no way back to earlier pages. Posts of those who block
   * the viewer are left out.
   */
  readonly search: (
    options: Window & PageRequest & {
      readonly query: Query
      readonly order?: "recency" | "relevancy" | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post>
  /** How many public posts a query finds in each span of `size` milliseconds since the epoch, by number of the span. */
  readonly counts: (options: Window & { readonly query: Query; readonly size: number }) => ReadonlyMap<number, number>
  /** Posts that quote a post, the latest first. */
  readonly quotesOf: (
    options: PageRequest & {
      readonly postId: string
      readonly excludeReplies?: boolean | undefined
      readonly viewer?: Visibility.Viewer | undefined
    }
  ) => Page<Post>
}

/** The columns from which {@link decode} makes a post, for queries that join them as `p`. */
export const columns = `
  CAST(p.id AS TEXT) AS id, p.id >> ${Snowflake.counterBits} AS millis, CAST(p.author_id AS TEXT) AS author_id, p.text,
  CAST(p.conversation_id AS TEXT) AS conversation_id, CAST(p.in_reply_to_user_id AS TEXT) AS in_reply_to_user_id,
  CAST(p.in_reply_to_post_id AS TEXT) AS in_reply_to_post_id, CAST(p.quoted_post_id AS TEXT) AS quoted_post_id,
  CAST(p.reposted_post_id AS TEXT) AS reposted_post_id, p.lang, p.source, p.reply_settings, p.possibly_sensitive,
  p.entities, p.attachments, p.place_id, p.impression_count, p.like_count, p.reply_count, p.repost_count, p.quote_count,
  p.bookmark_count`

/** One row of {@link columns}. */
export interface Row {
  readonly id: string
  readonly millis: number
  readonly author_id: string
  readonly text: string
  readonly conversation_id: string
  readonly in_reply_to_user_id: string | null
  readonly in_reply_to_post_id: string | null
  readonly quoted_post_id: string | null
  readonly reposted_post_id: string | null
  readonly lang: string
  readonly source: string
  readonly reply_settings: ReplySettings
  readonly possibly_sensitive: number
  readonly entities: string | null
  readonly attachments: string | null
  readonly place_id: string | null
  readonly impression_count: number
  readonly like_count: number
  readonly reply_count: number
  readonly repost_count: number
  readonly quote_count: number
  readonly bookmark_count: number
}

/** The post in a row. */
export const decode = (row: Row): Post => {
  const post: { -readonly [K in keyof Post]: Post[K] } = {
    id: row.id,
    text: row.text,
    edit_history_post_ids: [row.id],
    author_id: row.author_id,
    created_at: new Date(row.millis).toISOString(),
    conversation_id: row.conversation_id,
    lang: row.lang,
    source: row.source,
    reply_settings: row.reply_settings,
    possibly_sensitive: row.possibly_sensitive === 1,
    public_metrics: {
      repost_count: row.repost_count,
      reply_count: row.reply_count,
      like_count: row.like_count,
      quote_count: row.quote_count,
      bookmark_count: row.bookmark_count,
      impression_count: row.impression_count
    }
  }
  const references = []
  if (row.reposted_post_id !== null) references.push({ type: "reposted" as const, id: row.reposted_post_id })
  if (row.quoted_post_id !== null) references.push({ type: "quoted" as const, id: row.quoted_post_id })
  if (row.in_reply_to_post_id !== null) references.push({ type: "replied_to" as const, id: row.in_reply_to_post_id })
  if (references.length > 0) post.referenced_posts = references
  if (row.in_reply_to_user_id !== null) post.in_reply_to_user_id = row.in_reply_to_user_id
  if (row.entities !== null) post.entities = JSON.parse(row.entities)
  if (row.attachments !== null) post.attachments = JSON.parse(row.attachments)
  if (row.place_id !== null) post.geo = { place_id: row.place_id }
  return post
}

/** The posts in a database. */
export const make = (database: Database): Posts => {
  const nextId = ids(database, "posts")
  const byId = database.query<Row>(`SELECT ${columns} FROM posts p WHERE p.id = :id`)
  const byIds = database.query<Row>(`
    SELECT ${columns} FROM posts p WHERE p.id IN (SELECT value FROM json_each(:ids)) AND ${Visibility.post("p")}`)
  const account = database.query<Account>(`SELECT ${accountColumns} FROM users WHERE id = :id`)
  const named = database.query<Account>(`SELECT ${accountColumns} FROM users WHERE username = :username`)
  const parent = database.query<{ readonly author_id: string; readonly conversation_id: string }>(
    `SELECT CAST(author_id AS TEXT) AS author_id, CAST(conversation_id AS TEXT) AS conversation_id
     FROM posts WHERE id = :id`
  )
  const insert = database.command(`
    INSERT INTO posts (id, author_id, text, conversation_id, in_reply_to_user_id, in_reply_to_post_id, quoted_post_id,
      reposted_post_id, lang, source, reply_settings, possibly_sensitive, entities, attachments, place_id, extra,
      impression_count)
    VALUES (:id, :author, :text, :conversation, :replyUser, :reply, :quoted, :reposted, :lang, :source, :replySettings,
      :sensitive, :entities, :attachments, :place, :extra, :impressions)`)
  const index = database.command("INSERT INTO post_index (rowid, text, facts, urls) VALUES (:id, :text, :facts, :urls)")
  const count = (table: string, column: string) =>
    database.command(`UPDATE ${table} SET ${column} = ${column} + :by WHERE id = :id`)
  const countPost = count("users", "post_count")
  const countReply = count("posts", "reply_count")
  const countQuote = count("posts", "quote_count")
  const countRepost = count("posts", "repost_count")
  const remove = ["posts WHERE id", "post_index WHERE rowid", "likes WHERE post_id", "bookmarks WHERE post_id"]
    .map((rows) => database.command(`DELETE FROM ${rows} = :id`))
  const uncountLikes = database.command(`
    UPDATE users SET like_count = like_count - 1 WHERE id IN (SELECT user_id FROM likes WHERE post_id = :id)`)
  const unshare = database.command("DELETE FROM space_posts WHERE post_id = :id")
  const mention = database.command("INSERT OR IGNORE INTO mentions (user_id, post_id) VALUES (:user, :post)")
  const unmention = database.command("DELETE FROM mentions WHERE user_id = :user AND post_id = :post")
  const hide = database.command("UPDATE posts SET hidden = :hidden WHERE id = :id")
  const hidden = database.query<{ readonly hidden: number }>("SELECT hidden FROM posts WHERE id = :id")
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
  const quoting = pager<Row, Post>(database, {
    select: columns,
    from: "posts p",
    where: `p.quoted_post_id = :quoted AND (:replies OR p.in_reply_to_user_id IS NULL) AND ${Visibility.post("p")}`,
    key: "p.id"
  }, decode)
  const latest = pager<Row, Post>(database, {
    select: columns,
    from: "post_index JOIN posts p ON p.id = post_index.rowid",
    where: `post_index MATCH :match AND ${Visibility.unblocked("p")}`,
    key: "post_index.rowid"
  }, decode)

  const counts = database.query<{ readonly span: number; readonly found: number }>(`
    SELECT (rowid >> ${Snowflake.counterBits}) / :size AS span, count(*) AS found FROM post_index
    WHERE post_index MATCH :match AND rowid > :low AND rowid < :high GROUP BY span`)

  const mentionable = (username: string) => named.get({ username })

  const write = (post: NewPost): string => {
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
    const entities = Entities.find(post.text, mentionable)
    const conversation = answered?.conversation_id ?? String(id)
    const attachments = {
      media_keys: post.mediaKeys?.length ? post.mediaKeys : undefined,
      poll_ids: post.pollId === undefined ? undefined : [post.pollId]
    }
    insert({
      id,
      author: Snowflake.parse(post.authorId),
      text: post.text,
      conversation: Snowflake.parse(conversation),
      replyUser: answered === undefined ? null : Snowflake.parse(answered.author_id),
      reply: optionalId(post.inReplyToPostId),
      quoted: optionalId(post.quotedPostId),
      reposted: optionalId(post.repostedPostId),
      lang: post.lang ?? "und",
      source: post.source ?? "Postwire Sandbox",
      replySettings: post.replySettings ?? "everyone",
      sensitive: Number(post.possiblySensitive ?? false),
      entities: entities === undefined ? null : JSON.stringify(entities),
      attachments: attachments.media_keys || attachments.poll_ids ? JSON.stringify(attachments) : null,
      place: post.placeId ?? null,
      extra: post.extra === undefined ? null : JSON.stringify(post.extra),
      impressions: post.impressions ?? 0
    })
    countPost({ id: Snowflake.parse(post.authorId), by: 1 })
    // A repost says again what somebody else has said.
    if (post.repostedPostId === undefined) {
      for (const { id: user } of entities?.mentions ?? []) mention({ user: Snowflake.parse(user), post: id })
    }
    if (post.inReplyToPostId !== undefined) countReply({ id: Snowflake.parse(post.inReplyToPostId), by: 1 })
    if (post.quotedPostId !== undefined) countQuote({ id: Snowflake.parse(post.quotedPostId), by: 1 })
    if (post.repostedPostId !== undefined) countRepost({ id: Snowflake.parse(post.repostedPostId), by: 1 })
    // Posts of protected accounts are not public, so no search finds them.
    if (author.protected === 0) {
      index({
        id,
        text: Terms.words(post.text).join(" "),
        facts: factsOf(post, { conversation, author, addressee, repostee, entities }).map(Terms.spell).join(" "),
        urls: entities?.urls?.map((link) => Terms.words(link.expanded_url).join(" ")).join(" ") ?? ""
      })
    }
    return String(id)
  }

  const erase = (id: string): boolean => {
    const key = Snowflake.parse(id)
    const row = byId.get({ id: key })
    if (row === undefined) return false
    for (const repost of repostsOf.all({ id: key })) erase(repost.id)
    countPost({ id: Snowflake.parse(row.author_id), by: -1 })
    if (row.in_reply_to_post_id !== null) countReply({ id: Snowflake.parse(row.in_reply_to_post_id), by: -1 })
    if (row.quoted_post_id !== null) countQuote({ id: Snowflake.parse(row.quoted_post_id), by: -1 })
    if (row.reposted_post_id !== null) countRepost({ id: Snowflake.parse(row.reposted_post_id), by: -1 })
    for (const { id: user } of decode(row).entities?.mentions ?? []) {
      unmention({ user: Snowflake.parse(user), post: key })
    }
    unshare({ id: key })
    unpin({ author: Snowflake.parse(row.author_id), id: key })
    uncountLikes({ id: key })
    for (const command of remove) command({ id: key })
    return true
  }

  // To sort all that a common word finds takes long; the index yields each step in the order of time.
  const byRelevancy = (
    query: Query,
    viewer: bigint | null,
    range: Range,
    { cursor, limit }: PageRequest
  ): Page<Post> => {
    const [highest, before] = cursor?.key.split("-") ?? []
    const found: Array<readonly [step: number, post: Post]> = []
    let position: Cursor | undefined = before === undefined ? undefined : { direction: "older", key: before }
    for (let step = Number(highest ?? steps.length); step >= 0 && found.length <= limit; step--) {
      const match = query.matchWith("seen", String(step))
      const page = latest({ match, viewer }, range, { limit: limit + 1 - found.length, cursor: position })
      for (const post of page.items) found.push([step, post])
      position = undefined
    }
    const last = found.length > limit ? found[limit - 1] : undefined
    return {
      items: found.slice(0, limit).map(([, post]) => post),
      next: last && { direction: "older", key: `${last[0]}-${last[1].id}` },
      previous: undefined
    }
  }

  return {
    insert: (post) => database.transaction(() => write(post)),
    byId: (id) => {
      const row = byId.get({ id: Snowflake.parse(id) })
      return row && decode(row)
    },
    byIds: (ids, viewer) =>
      inOrder(
        ids,
        byIds.all({ ids: idList(ids), viewer: Visibility.valueOf(viewer) }).map(decode),
        (post) => post.id
      ),
    delete: (id) => database.transaction(() => erase(id)),
    repostBy: (userId, postId) => repostBy.get({ user: Snowflake.parse(userId), post: Snowflake.parse(postId) })?.id,
    reposters: ({ postId, ...request }) => reposters({ post: Snowflake.parse(postId) }, unbounded, request),
    setHidden: (id, hidden) => {
      hide({ id: Snowflake.parse(id), hidden: Number(hidden) })
      return hidden
    },
    isHidden: (id) => hidden.get({ id: Snowflake.parse(id) })?.hidden === 1,
    search: ({ order, query, ...options }) => {
      const viewer = Visibility.valueOf(options.viewer)
      return order === "relevancy"
        ? byRelevancy(query, viewer, rangeOf(options), options)
        : latest({ match: query.match, viewer }, rangeOf(options), options)
    },
    counts: ({ query, size, ...window }) =>
      new Map(
        counts.all({ match: query.match, size: BigInt(size), ...rangeOf(window) }).map(({ found, span }) =>
          [span, found] as const
        )
      ),
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

const accountColumns = "CAST(id AS TEXT) AS id, username, verified_type <> 'none' AS verified, protected"

interface Account {
  readonly id: string
  readonly username: string
  readonly verified: number
  readonly protected: number
}

/** How often a post was seen that is of a step above the lowest. Finer steps cost searches more than they are worth. */
const steps = [256, 4_096, 65_536, 1_048_576]

const stepOf = (impressions: number): number => steps.filter((least) => impressions >= least).length

const factsOf = (
  post: NewPost,
  { addressee, author, conversation, entities, repostee }: {
    readonly conversation: string
    readonly author: Account
    readonly addressee: Account | undefined
    readonly repostee: Account | undefined
    readonly entities: Entities.Entities | undefined
  }
): ReadonlyArray<Terms.Fact> => {
  const facts: Array<Terms.Fact> = [
    ["is", "post"],
    ["from", author.username],
    ["from", author.id],
    ["conversation", conversation],
    ["lang", post.lang ?? "und"],
    ["seen", String(stepOf(post.impressions ?? 0))]
  ]
  if (author.verified === 1) facts.push(["is", "verified"])
  if (addressee !== undefined) facts.push(["is", "reply"], ["to", addressee.username], ["to", addressee.id])
  if (post.inReplyToPostId !== undefined) facts.push(["answered", canonical(post.inReplyToPostId)])
  if (post.repostedPostId !== undefined) facts.push(["is", "repost"], ["reposted", canonical(post.repostedPostId)])
  if (repostee !== undefined) facts.push(["reposts", repostee.username], ["reposts", repostee.id])
  if (post.quotedPostId !== undefined) facts.push(["is", "quote"], ["quoted", canonical(post.quotedPostId)])
  if (post.placeId !== undefined) facts.push(["has", "geo"])
  if (post.mediaKeys?.length) {
    facts.push(["has", "media"])
    // Keys of photos begin with the number of their kind: see Attachments.
    if (post.mediaKeys.some((key) => key.startsWith("3_"))) facts.push(["has", "images"])
    if (post.mediaKeys.some((key) => !key.startsWith("3_"))) facts.push(["has", "videos"])
  }
  if (entities?.urls) facts.push(["has", "links"])
  if (entities?.hashtags) facts.push(["has", "hashtags"], ...entities.hashtags.map(({ tag }) => ["tag", tag] as const))
  if (entities?.cashtags) {
    facts.push(
      ["has", "cashtags"],
      ...entities.cashtags.map(({ tag }) => ["cashtag", tag] as const)
    )
  }
  if (entities?.mentions) {
    facts.push(["has", "mentions"], ...entities.mentions.map(({ username }) => ["mention", username] as const))
  }
  return facts
}

/** Ids can be written with leading zeros. */
const canonical = (id: string): string => String(Snowflake.parse(id))

const optionalId = (id: string | undefined): bigint | null => id === undefined ? null : Snowflake.parse(id)
