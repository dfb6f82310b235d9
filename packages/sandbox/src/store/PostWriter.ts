/** Inserts and deletes posts, and keeps their counts, mentions and search index entries up to date. */
import * as PostText from "@postwire/core/text/PostText"
import * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { idList, ids, optionalId } from "./Ids.ts"
import * as Post from "./Post.ts"
import type { Account, PostIndex } from "./PostIndex.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"

const accountColumns = "CAST(id AS TEXT) AS id, username, verified_type <> 'none' AS verified, protected"

const statements = (database: Database) => {
  const count = (table: string, column: string) =>
    database.command(`UPDATE ${table} SET ${column} = ${column} + :by WHERE id = :id`)
  return {
    row: database.query<Post.Row>(`SELECT ${Post.columns} FROM posts p WHERE p.id = :id`),
    account: database.query<Account>(`SELECT ${accountColumns} FROM users WHERE id = :id`),
    named: database.query<Account>(`SELECT ${accountColumns} FROM users WHERE username = :username`),
    referenced: database.query<{ readonly author_id: string; readonly conversation_id: string }>(
      `SELECT CAST(author_id AS TEXT) AS author_id, CAST(conversation_id AS TEXT) AS conversation_id
       FROM posts WHERE id = :id`
    ),
    insert: database.command(`
      INSERT INTO posts (id, author_id, text, conversation_id, in_reply_to_user_id, in_reply_to_post_id, quoted_post_id,
        reposted_post_id, lang, source, reply_settings, possibly_sensitive, unlisted, audience, entities, attachments,
        place_id, facts, extra, impression_count)
      VALUES (:id, :author, :text, :conversation, :replyUser, :reply, :quoted, :reposted, :lang, :source, :replySettings,
        :sensitive, :unlisted, :audience, :entities, :attachments, :place, :facts, :extra, :impressions)`),
    setHistory: database.command(`
      UPDATE posts SET unlisted = 1, facts = json_set(coalesce(facts, '{}'), '$.history', json(:history))
      WHERE id IN (SELECT value FROM json_each(:ids))`),
    countPost: count("users", "post_count"),
    countReply: count("posts", "reply_count"),
    countQuote: count("posts", "quote_count"),
    countRepost: count("posts", "repost_count"),
    mention: database.command("INSERT OR IGNORE INTO mentions (user_id, post_id) VALUES (:user, :post)"),
    unmention: database.command("DELETE FROM mentions WHERE user_id = :user AND post_id = :post"),
    repostsOf: database.query<{ readonly id: string }>(
      "SELECT CAST(id AS TEXT) AS id FROM posts WHERE reposted_post_id = :id"
    ),
    removals: [
      "DELETE FROM space_posts WHERE post_id = :id",
      "UPDATE users SET pinned_post_id = NULL WHERE id = (SELECT author_id FROM posts WHERE id = :id) AND pinned_post_id = :id",
      "UPDATE users SET like_count = like_count - 1 WHERE id IN (SELECT user_id FROM likes WHERE post_id = :id)",
      "DELETE FROM posts WHERE id = :id",
      "DELETE FROM likes WHERE post_id = :id",
      "DELETE FROM bookmarks WHERE post_id = :id",
      "DELETE FROM bookmark_folder_posts WHERE post_id = :id"
    ].map(database.command)
  }
}

/** Callers wrap each method in a transaction. */
export class PostWriter {
  readonly #nextId: (millis: number) => bigint
  readonly #sql: ReturnType<typeof statements>
  readonly #index: PostIndex
  readonly #events: EventPublisher

  constructor(database: Database, index: PostIndex, events: EventPublisher) {
    this.#nextId = ids(database, "posts")
    this.#sql = statements(database)
    this.#index = index
    this.#events = events
  }

  /** Returns the id. */
  insert(post: Post.NewPost): string {
    const author = this.#account(post.authorId)
    if (author === undefined) throw new Error(`No such user: ${post.authorId}`)
    const key = post.id === undefined ? this.#nextId(post.createdAt) : Snowflake.parse(post.id)
    const id = String(key)
    const answered = this.#referenced(post.inReplyToPostId)
    const reposted = this.#referenced(post.repostedPostId)
    const edited = post.editOf === undefined ? undefined : this.#sql.row.get({ id: Snowflake.parse(post.editOf) })
    const versions = edited && Post.decode(edited).edit_history_post_ids
    const history = versions && [...versions, id]
    const conversation = answered?.conversation_id ?? edited?.conversation_id ?? id
    const { note, ...shown } = this.#textOf(post)
    this.#sql.insert({
      ...valuesOf(post),
      id: key,
      text: shown.text,
      entities: jsonOrNull(shown.entities),
      conversation: Snowflake.parse(conversation),
      replyUser: optionalId(answered?.author_id),
      facts: jsonOrNull({
        ...factsOf(post),
        history,
        note_post: note,
        scopes: author.protected === 0 ? undefined : { followers: true }
      })
    })
    if (edited !== undefined && versions !== undefined) {
      this.#withdraw(edited)
      this.#sql.setHistory({ ids: idList(versions), history: JSON.stringify(history) })
    }
    this.#events.publish({ _tag: "Posted", id, editOf: post.editOf })
    if (post.unlisted === true) return id
    const entities = note === undefined ? shown.entities : note.entities
    this.#count(1, post)
    // A repost mentions nobody: the original post does.
    if (post.repostedPostId === undefined) {
      for (const { id: user } of entities?.mentions ?? []) this.#sql.mention({ user: Snowflake.parse(user), post: key })
    }
    // The search index holds public posts only.
    if (author.protected === 0 && (post.audience ?? "all") === "all") {
      this.#index.add(key, {
        post,
        conversation,
        author,
        addressee: answered && this.#account(answered.author_id),
        repostee: reposted && this.#account(reposted.author_id),
        entities
      })
    }
    return id
  }

  /** Deletes all versions of a post; false if there is none. */
  delete(id: string): boolean {
    const row = this.#sql.row.get({ id: Snowflake.parse(id) })
    if (row === undefined) return false
    for (const version of Post.decode(row).edit_history_post_ids) this.#deleteVersion(version)
    return true
  }

  #deleteVersion(id: string): void {
    const key = Snowflake.parse(id)
    const row = this.#sql.row.get({ id: key })
    if (row === undefined) return
    for (const repost of this.#sql.repostsOf.all({ id: key })) this.delete(repost.id)
    this.#withdraw(row)
    for (const remove of this.#sql.removals) remove({ id: key })
    this.#events.publish({
      _tag: "Deleted",
      id,
      authorId: row.author_id,
      quotedId: row.quoted_post_id ?? undefined
    })
  }

  /** Removes a post from the counts, mentions and the search index. */
  #withdraw(row: Post.Row): void {
    if (row.unlisted === 1) return
    const post = Snowflake.parse(row.id)
    this.#count(-1, {
      authorId: row.author_id,
      inReplyToPostId: row.in_reply_to_post_id ?? undefined,
      quotedPostId: row.quoted_post_id ?? undefined,
      repostedPostId: row.reposted_post_id ?? undefined
    })
    const { entities, note_post } = Post.decode(row)
    for (const { id: user } of (note_post?.entities ?? entities)?.mentions ?? []) {
      this.#sql.unmention({ user: Snowflake.parse(user), post })
    }
    this.#index.remove(post)
  }

  #count(
    by: 1 | -1,
    post: Pick<Post.NewPost, "authorId" | "inReplyToPostId" | "quotedPostId" | "repostedPostId">
  ): void {
    this.#sql.countPost({ id: Snowflake.parse(post.authorId), by })
    if (post.inReplyToPostId !== undefined) this.#sql.countReply({ id: Snowflake.parse(post.inReplyToPostId), by })
    if (post.quotedPostId !== undefined) this.#sql.countQuote({ id: Snowflake.parse(post.quotedPostId), by })
    if (post.repostedPostId !== undefined) this.#sql.countRepost({ id: Snowflake.parse(post.repostedPostId), by })
  }

  #account(id: string): Account | undefined {
    return this.#sql.account.get({ id: Snowflake.parse(id) })
  }

  #referenced(id: string | undefined) {
    return id === undefined ? undefined : this.#sql.referenced.get({ id: Snowflake.parse(id) })
  }

  /** The text that fits a post, with its entities, and the full text if it is longer. */
  #textOf({ repostedPostId, text }: Post.NewPost) {
    const entitiesOf = (text: string) => Entities.find(text, (username) => this.#sql.named.get({ username }))
    const entities = entitiesOf(text)
    if (repostedPostId !== undefined || PostText.fits(text)) return { text, entities, note: undefined }
    const short = PostText.truncate(text)
    return { text: short, entities: entitiesOf(short), note: { text, entities } }
  }
}

/** The columns that depend on nothing but the post itself. */
const valuesOf = (post: Post.NewPost) => ({
  author: Snowflake.parse(post.authorId),
  reply: optionalId(post.inReplyToPostId),
  quoted: optionalId(post.quotedPostId),
  reposted: optionalId(post.repostedPostId),
  lang: post.lang ?? "und",
  source: post.source ?? "Postwire Sandbox",
  replySettings: post.replySettings ?? "everyone",
  sensitive: Number(post.possiblySensitive ?? false),
  unlisted: Number(post.unlisted ?? false),
  audience: post.audience ?? "all",
  attachments: jsonOrNull({
    media_keys: post.mediaKeys?.length ? post.mediaKeys : undefined,
    poll_ids: post.pollId === undefined ? undefined : [post.pollId]
  }),
  place: post.placeId ?? null,
  extra: post.extra === undefined ? null : JSON.stringify(post.extra),
  impressions: post.impressions ?? 0
})

const factsOf = (post: Post.NewPost): { readonly [K in keyof Post.Facts]: Post.Facts[K] | undefined } => ({
  community_id: post.communityId,
  card_uri: post.cardUri,
  fixed: post.unlisted === true || (post.audience ?? "all") !== "all" ? true : undefined,
  coordinates: post.coordinates,
  withheld: post.withheld,
  paid_partnership: post.paidPartnership === true ? true : undefined,
  ...post.notes,
  left_out: post.leftOut?.length ? post.leftOut : undefined
})

/** The JSON of an object, or null if no field of it is defined. */
const jsonOrNull = (object: object | undefined): string | null => {
  const json = JSON.stringify(object ?? {})
  return json === "{}" ? null : json
}
