/** A post and its database row. */
import type * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import { pager, type PageSource } from "./Pages.ts"
import * as Records from "./Records.ts"

/** A post as it is stored; {@link shape} adds what is derived. */
export const stored = Records.record("p", {
  id: Records.id(),
  text: Records.text(),
  author_id: Records.id(),
  created_at: Records.created("id"),
  conversation_id: Records.id(),
  in_reply_to_user_id: Records.optional(Records.id()),
  in_reply_to_post_id: Records.optional(Records.id()),
  quoted_post_id: Records.optional(Records.id()),
  reposted_post_id: Records.optional(Records.id()),
  lang: Records.text(),
  source: Records.text(),
  reply_settings: Records.text<ReplySettings>(),
  possibly_sensitive: Records.flag(),
  unlisted: Records.flag(),
  entities: Records.optional(Records.json<Entities.Entities>()),
  attachments: Records.optional(
    Records.json<{ readonly media_keys?: ReadonlyArray<string>; readonly poll_ids?: ReadonlyArray<string> }>()
  ),
  place_id: Records.optional(Records.text()),
  facts: Records.optional(Records.json<Facts>()),
  public_metrics: {
    repost_count: Records.number(),
    reply_count: Records.number(),
    like_count: Records.number(),
    quote_count: Records.number(),
    bookmark_count: Records.number(),
    impression_count: Records.number()
  }
})

export type Stored = Records.Of<typeof stored>

type Hidden = "in_reply_to_post_id" | "quoted_post_id" | "reposted_post_id" | "unlisted" | "place_id" | "facts"

export interface Post extends Omit<Stored, Hidden>, Omit<Facts, "coordinates" | "geo_scrubbed" | "history"> {
  readonly edit_history_post_ids: ReadonlyArray<string>
  readonly referenced_posts?: ReadonlyArray<
    { readonly type: "reposted" | "quoted" | "replied_to"; readonly id: string }
  >
  readonly geo?: { readonly place_id?: string; readonly coordinates?: Coordinates }
}

/** The JSON of rarely used fields. */
export interface Facts extends Notes {
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
  readonly coordinates?: Coordinates | undefined
  /** True if its location was removed. */
  readonly geo_scrubbed?: boolean | undefined
  /** The ids of all versions of an edited post, oldest first. */
  readonly history?: ReadonlyArray<string> | undefined
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

/** The post of a stored one. */
export const of = (
  { facts, in_reply_to_post_id, place_id, quoted_post_id, reposted_post_id, unlisted: _, ...post }: Stored
): Post => {
  const { coordinates, geo_scrubbed: __, history = [post.id], ...more } = facts ?? {}
  const referenced_posts = [
    ...(reposted_post_id === undefined ? [] : [{ type: "reposted" as const, id: reposted_post_id }]),
    ...(quoted_post_id === undefined ? [] : [{ type: "quoted" as const, id: quoted_post_id }]),
    ...(in_reply_to_post_id === undefined ? [] : [{ type: "replied_to" as const, id: in_reply_to_post_id }])
  ]
  return {
    ...post,
    ...more,
    edit_history_post_ids: history,
    ...(referenced_posts.length > 0 && { referenced_posts }),
    ...((place_id !== undefined || coordinates !== undefined) && {
      geo: { ...(place_id !== undefined && { place_id }), ...(coordinates !== undefined && { coordinates }) }
    })
  }
}

/** The fields of a stored post that those of a post come from. Those without a column are in `facts`. */
const sources = (selection: Records.Selection): Records.Selection =>
  new Set([
    "id",
    "facts",
    ...selection,
    ...(selection.has("referenced_posts") ? ["in_reply_to_post_id", "quoted_post_id", "reposted_post_id"] : []),
    ...(selection.has("geo") ? ["place_id"] : [])
  ])

export const shape = Records.map(stored, of, sources)

/** Pages of posts; the source calls them `p`. */
export const pages = (database: Database, source: PageSource) => pager(database, shape, source)
