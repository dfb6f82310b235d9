/** A post and its database row. */
import type * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { pager, type PageSource } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"

export interface Post extends Notes {
  readonly id: string
  readonly text: string
  readonly edit_history_post_ids: ReadonlyArray<string>
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
  readonly geo?: { readonly place_id?: string; readonly coordinates?: Coordinates }
  readonly community_id?: string
  readonly card_uri?: string
  /** The full text, of which `text` is the beginning. */
  readonly note_post?: Note
  readonly scopes?: { readonly followers: boolean }
  /** True if the author declared it as a paid partnership. */
  readonly paid_partnership?: boolean
  readonly withheld?: Withheld
  /** True if posts of its kind cannot be edited. */
  readonly fixed?: boolean
  /** Fields that the service omits although they are requested. */
  readonly left_out?: ReadonlyArray<string>
  readonly public_metrics: {
    readonly repost_count: number
    readonly reply_count: number
    readonly like_count: number
    readonly quote_count: number
    readonly bookmark_count: number
    readonly impression_count: number
  }
}

/** The accounts that may reply. */
export type ReplySettings = "everyone" | "mentionedUsers" | "following" | "subscribers" | "verified"

/** The audience of a post among those who may see its author. Subscribers are verified followers. */
export type Audience = "all" | "followers" | "subscribers"

/** A point, longitude first. */
export interface Coordinates {
  readonly type: "Point"
  readonly coordinates: readonly [longitude: number, latitude: number]
}

/** A text that exceeds the usual length of posts. */
export interface Note {
  readonly text: string
  readonly entities?: Entities.Entities | undefined
}

/** Community notes of a post. */
export interface Notes {
  readonly matched_media_notes?: ReadonlyArray<{ readonly note_id: string; readonly match_status: string }>
  readonly note_request_suggestions?: ReadonlyArray<{
    readonly suggestion_id: string
    readonly suggestion: string
    readonly source_link: string
  }>
}

/** The countries in which a post is withheld. */
export interface Withheld {
  readonly copyright: boolean
  readonly country_codes: ReadonlyArray<string>
  readonly scope: "post"
}

/**
 * The input of `insert`. Referenced users and posts must exist, except quoted and replied-to posts, which may have been
 * deleted.
 */
export interface NewPost {
  readonly authorId: string
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Default: derived from `createdAt`, and larger than all existing ids. */
  readonly id?: string | undefined
  readonly inReplyToPostId?: string | undefined
  readonly quotedPostId?: string | undefined
  readonly repostedPostId?: string | undefined
  readonly mediaKeys?: ReadonlyArray<string> | undefined
  readonly pollId?: string | undefined
  readonly placeId?: string | undefined
  readonly coordinates?: Coordinates | undefined
  readonly communityId?: string | undefined
  readonly cardUri?: string | undefined
  /** The id of the version that this one replaces: the latest version of the post. */
  readonly editOf?: string | undefined
  /** Default `all`. */
  readonly audience?: Audience | undefined
  /** True if it is excluded from timelines, search and counts. */
  readonly unlisted?: boolean | undefined
  readonly withheld?: Withheld | undefined
  readonly paidPartnership?: boolean | undefined
  readonly notes?: Notes | undefined
  readonly leftOut?: ReadonlyArray<string> | undefined
  /** Default `und`. */
  readonly lang?: string | undefined
  readonly source?: string | undefined
  readonly replySettings?: ReplySettings | undefined
  readonly possiblySensitive?: boolean | undefined
  readonly impressions?: number | undefined
  /** Stored but never shown: tagged users, excluded repliers and the like. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** The columns that {@link decode} reads, for queries that join posts as `p`. */
export const columns = `
  CAST(p.id AS TEXT) AS id, p.id >> ${Snowflake.counterBits} AS millis, CAST(p.author_id AS TEXT) AS author_id, p.text,
  CAST(p.conversation_id AS TEXT) AS conversation_id, CAST(p.in_reply_to_user_id AS TEXT) AS in_reply_to_user_id,
  CAST(p.in_reply_to_post_id AS TEXT) AS in_reply_to_post_id, CAST(p.quoted_post_id AS TEXT) AS quoted_post_id,
  CAST(p.reposted_post_id AS TEXT) AS reposted_post_id, p.lang, p.source, p.reply_settings, p.possibly_sensitive,
  p.entities, p.attachments, p.place_id, p.facts, p.impression_count, p.like_count, p.reply_count, p.repost_count, p.quote_count,
  p.bookmark_count, p.unlisted`

/** The JSON of rarely used fields. */
export interface Facts extends
  Notes,
  Pick<
    Post,
    "community_id" | "card_uri" | "fixed" | "note_post" | "paid_partnership" | "scopes" | "withheld" | "left_out"
  >
{
  readonly coordinates?: Coordinates | undefined
  /** True if its location was removed. */
  readonly geo_scrubbed?: boolean | undefined
  /** The ids of all versions of an edited post, oldest first. */
  readonly history?: ReadonlyArray<string> | undefined
}

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
  readonly facts: string | null
  readonly impression_count: number
  readonly like_count: number
  readonly reply_count: number
  readonly repost_count: number
  readonly quote_count: number
  readonly bookmark_count: number
  readonly unlisted: number
}

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
  if (row.facts !== null) {
    const { coordinates, geo_scrubbed: _, history, ...facts }: Facts = JSON.parse(row.facts)
    Object.assign(post, facts)
    if (history !== undefined) post.edit_history_post_ids = history
    if (coordinates !== undefined) post.geo = { ...post.geo, coordinates }
  }
  return post
}

/** Pages of posts; the source calls them `p`. */
export const pages = (database: Database, source: PageSource) => pager(database, { select: columns, ...source }, decode)
