/** Inserts and deletes posts, and keeps their counts, mentions and search index entries up to date. */
import * as PostText from "@postwire/core/text/PostText"
import * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Post from "./Post.ts"
import type { Account, PostIndex } from "./PostIndex.ts"
import * as Relation from "./Relation.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"

const accountColumns = "CAST(id AS TEXT) AS id, username, verified_type <> 'none' AS verified, protected"

const statements = (database: Database) => {
  const count = (table: string, column: string) =>
    database.command(`UPDATE ${table} SET ${column} = ${column} + :by WHERE id = :id`)
  return {
    stored: database.select(Post.stored, "FROM posts p WHERE p.id = :id"),
    account: database.query<Account>(`SELECT ${accountColumns} FROM users WHERE id = :id`),
    named: database.query<Account>(`SELECT ${accountColumns} FROM users WHERE username = :username`),
    referenced: database.query<{ readonly author_id: string; readonly conversation_id: string }>(
      `SELECT CAST(author_id AS TEXT) AS author_id, CAST(conversation_id AS TEXT) AS conversation_id
       FROM posts WHERE id = :id`
    ),
    setHistory: database.command(`
      UPDATE posts SET unlisted = 1, facts = json_set(coalesce(facts, '{}'), '$.history', json(:history))
      WHERE id IN (SELECT value FROM json_each(:ids))`),
    countPost: count("users", "post_count"),
    countReply: count("posts", "reply_count"),
    countQuote: count("posts", "quote_count"),
    countRepost: count("posts", "repost_count"),
    mentions: Relation.make(database, "mentions", ["user_id", "post_id"]),
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
  readonly #database: Database
  readonly #nextId: (millis: number) => bigint
  readonly #sql: ReturnType<typeof statements>
  readonly #index: PostIndex
  readonly #events: EventPublisher

  constructor(database: Database, index: PostIndex, events: EventPublisher) {
    this.#database = database
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
    const edited = post.editOf === undefined ? undefined : this.#sql.stored.get({ id: post.editOf })
    const versions = edited && Post.of(edited).edit_history_post_ids
    const history = versions && [...versions, id]
    const conversation = answered?.conversation_id ?? edited?.conversation_id ?? id
    const { note, ...shown } = this.#textOf(post)
    this.#database.insert("posts", {
      ...cellsOf(post),
      id,
      text: shown.text,
      entities: shown.entities,
      conversation_id: conversation,
      in_reply_to_user_id: answered?.author_id,
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
      for (const { id: user } of entities?.mentions ?? []) this.#sql.mentions.set(user, id, true)
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
    const stored = this.#sql.stored.get({ id })
    if (stored === undefined) return false
    for (const version of Post.of(stored).edit_history_post_ids) this.#deleteVersion(version)
    return true
  }

  #deleteVersion(id: string): void {
    const stored = this.#sql.stored.get({ id })
    if (stored === undefined) return
    for (const repost of this.#sql.repostsOf.all({ id })) this.delete(repost.id)
    this.#withdraw(stored)
    for (const remove of this.#sql.removals) remove({ id })
    this.#events.publish({ _tag: "Deleted", id, authorId: stored.author_id, quotedId: stored.quoted_post_id })
  }

  /** Removes a post from the counts, mentions and the search index. */
  #withdraw({ entities, facts, id, unlisted, ...post }: Post.Stored): void {
    if (unlisted) return
    this.#count(-1, {
      authorId: post.author_id,
      inReplyToPostId: post.in_reply_to_post_id,
      quotedPostId: post.quoted_post_id,
      repostedPostId: post.reposted_post_id
    })
    const { mentions = [] } = facts?.note_post?.entities ?? entities ?? {}
    for (const { id: user } of mentions) this.#sql.mentions.set(user, id, false)
    this.#index.remove(Snowflake.parse(id))
  }

  #count(
    by: 1 | -1,
    post: Pick<Post.NewPost, "authorId" | "inReplyToPostId" | "quotedPostId" | "repostedPostId">
  ): void {
    this.#sql.countPost({ id: post.authorId, by })
    if (post.inReplyToPostId !== undefined) this.#sql.countReply({ id: post.inReplyToPostId, by })
    if (post.quotedPostId !== undefined) this.#sql.countQuote({ id: post.quotedPostId, by })
    if (post.repostedPostId !== undefined) this.#sql.countRepost({ id: post.repostedPostId, by })
  }

  #account(id: string): Account | undefined {
    return this.#sql.account.get({ id })
  }

  #referenced(id: string | undefined) {
    return id === undefined ? undefined : this.#sql.referenced.get({ id })
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

/** The cells that depend on nothing but the post itself. */
const cellsOf = (post: Post.NewPost) => ({
  author_id: post.authorId,
  in_reply_to_post_id: post.inReplyToPostId,
  quoted_post_id: post.quotedPostId,
  reposted_post_id: post.repostedPostId,
  lang: post.lang ?? "und",
  source: post.source ?? "Postwire Sandbox",
  reply_settings: post.replySettings ?? "everyone",
  possibly_sensitive: post.possiblySensitive ?? false,
  unlisted: post.unlisted ?? false,
  audience: post.audience ?? "all",
  attachments: jsonOrNull({
    media_keys: post.mediaKeys?.length ? post.mediaKeys : undefined,
    poll_ids: post.pollId === undefined ? undefined : [post.pollId]
  }),
  place_id: post.placeId,
  extra: post.extra,
  impression_count: post.impressions ?? 0
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
const jsonOrNull = (object: object): string | null => {
  const json = JSON.stringify(object)
  return json === "{}" ? null : json
}
