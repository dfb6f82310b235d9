/** Spaces: live audio rooms. */
import * as Terms from "../text/Terms.ts"
import type { Database } from "./Database.ts"
import { idList, ids, inOrder } from "./Ids.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

export type SpaceState = "live" | "scheduled" | "ended"

/** The people and topics of a space. */
export interface People {
  readonly host_ids?: ReadonlyArray<string>
  readonly speaker_ids?: ReadonlyArray<string>
  readonly invited_user_ids?: ReadonlyArray<string>
  readonly topic_ids?: ReadonlyArray<string>
}

// The scheduled, start and end times may be in the future.
const stored = Records.record("s", {
  id: Records.id(),
  state: Records.text<SpaceState>(
    "CASE WHEN s.ended_at <= :now THEN 'ended' WHEN s.started_at <= :now THEN 'live' ELSE 'scheduled' END"
  ),
  created_at: Records.created("key"),
  updated_at: Records.time(
    `CASE WHEN s.ended_at <= :now THEN s.ended_at WHEN s.started_at <= :now THEN s.started_at
       ELSE s.key >> ${Snowflake.counterBits} END`
  ),
  creator_id: Records.id(),
  title: Records.optional(Records.text()),
  lang: Records.text(),
  is_ticketed: Records.flag(),
  participant_count: Records.number(),
  subscriber_count: Records.number(),
  scheduled_start: Records.optional(Records.time()),
  started_at: Records.optional(Records.time("CASE WHEN s.started_at <= :now THEN s.started_at END")),
  ended_at: Records.optional(Records.time("CASE WHEN s.ended_at <= :now THEN s.ended_at END")),
  people: Records.json<People>()
})

const space = Records.map(stored, ({ people, ...space }) => ({ ...space, ...people }))

export type Space = Records.Of<typeof space>

/**
 * The input of `insert`. Times are milliseconds since the epoch; the state of the space changes when a future time is
 * reached.
 */
export interface NewSpace {
  readonly creatorId: string
  readonly createdAt: number
  readonly title?: string | undefined
  readonly scheduledStart?: number | undefined
  readonly startedAt?: number | undefined
  readonly endedAt?: number | undefined
  readonly isTicketed?: boolean | undefined
  /** Default `und`. */
  readonly lang?: string | undefined
  readonly people?: People | undefined
  readonly participants?: number | undefined
  readonly subscribers?: number | undefined
}

export interface Topic {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** The spaces of a store. `now` is in milliseconds since the epoch. */
export const make = (database: Database, events: EventPublisher) => {
  const nextKey = ids(database, "spaces")
  const byIds = database.select(space, "FROM spaces s WHERE s.id IN (SELECT value FROM json_each(:ids))")
  const byCreators = database.select(
    space,
    "FROM spaces s WHERE s.creator_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids)) ORDER BY s.key DESC"
  )
  const search = database.select(
    space,
    `FROM spaces s
     WHERE NOT EXISTS (SELECT 1 FROM json_each(:terms) t WHERE instr(s.terms, ' ' || t.value || ' ') = 0)
       AND (:state IS NULL OR state = :state)
     ORDER BY s.key DESC LIMIT :limit`
  )
  const buyers = Users.pages(database, {
    from: "space_buyers b JOIN users u ON u.id = b.user_id",
    where: "b.space_id = :space",
    key: "b.key"
  })
  const shared = Post.pages(database, {
    from: "space_posts s JOIN posts p ON p.id = s.post_id",
    where: `s.space_id = :space AND ${Visibility.post("p")}`,
    key: "s.key"
  })
  const end = database.command("UPDATE spaces SET ended_at = :now WHERE id = :id")
  const topics = database.query<Topic>(
    "SELECT id, name, description FROM topics WHERE id IN (SELECT value FROM json_each(:ids))"
  )

  return {
    /** Returns the id. */
    insert: ({ createdAt, creatorId, title, ...space }: NewSpace): string => {
      const key = nextKey(createdAt)
      const id = `1${[...key.toString(36).padStart(12, "0")].map((digit) => digits[parseInt(digit, 36)]).join("")}`
      database.insert("spaces", {
        key,
        id,
        creator_id: creatorId,
        title,
        terms: ` ${termsOfTitle(title ?? "").join(" ")} `,
        scheduled_start: space.scheduledStart,
        started_at: space.startedAt,
        ended_at: space.endedAt,
        is_ticketed: space.isTicketed ?? false,
        lang: space.lang ?? "und",
        people: space.people ?? {},
        participant_count: space.participants ?? 0,
        subscriber_count: space.subscribers ?? 0
      })
      if (space.startedAt !== undefined && space.endedAt === undefined) {
        events.publish({ _tag: "Talked", type: "spaces.start", id, userId: creatorId })
      }
      return id
    },
    /** Ends a space now, in milliseconds. */
    end: ({ creator_id, id }: Space, now: number): void => {
      end({ id, now })
      events.publish({ _tag: "Talked", type: "spaces.end", id, userId: creator_id })
    },
    /** In the order of `ids`, without duplicates and unknown ids. */
    byIds: (ids: ReadonlyArray<string>, now: number) =>
      inOrder(ids, byIds.all({ ids: JSON.stringify(ids), now }), ({ id }) => id),
    /** The spaces of these creators, latest first. */
    byCreators: (userIds: ReadonlyArray<string>, now: number) => byCreators.all({ ids: idList(userIds), now }),
    /** Spaces whose titles contain every word, hashtag and mention of a text, latest first. */
    search: ({ limit, now, state, text }: {
      readonly text: string
      readonly state?: SpaceState | undefined
      readonly limit: number
      readonly now: number
    }): ReadonlyArray<Space> => {
      const terms = termsOfQuery(text)
      return terms.length === 0 ? [] : search.all({ terms: JSON.stringify(terms), state: state ?? null, limit, now })
    },
    /** Records that a user has a ticket. Idempotent. */
    sell: (spaceId: string, userId: string): void =>
      void database.insert("space_buyers", { space_id: spaceId, user_id: userId }, "IGNORE"),
    /** The ticket holders, latest first. */
    buyers: ({ spaceId: space, ...request }: PageRequest & { readonly spaceId: string }) =>
      buyers({ space }, unbounded, request),
    /** Shares an existing post. Idempotent. */
    share: (spaceId: string, postId: string): void =>
      void database.insert("space_posts", { space_id: spaceId, post_id: postId }, "IGNORE"),
    /** The shared posts that the viewer may see, latest first. */
    posts: ({ spaceId: space, viewer, ...request }: PageRequest & {
      readonly spaceId: string
      readonly viewer?: Visibility.Viewer | undefined
    }) => shared({ space, viewer: Visibility.valueOf(viewer) }, unbounded, request),
    insertTopic: (topic: Topic): void => void database.insert("topics", { ...topic }, "REPLACE"),
    topicsByIds: (ids: ReadonlyArray<string>) => inOrder(ids, topics.all({ ids: JSON.stringify(ids) }), ({ id }) => id)
  }
}

// The alphabet of ids, chosen so that an id resembles neither a number nor a word.
const digits = "jkmnpqrstvwxyzABCDEFGHJKLMNPQRSTVWXY"

const sign = /(?<![\p{L}\p{M}\p{N}_])[#@][\p{L}\p{M}\p{N}_]+/gu

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/** The search terms of a title: words, hashtags and mentions, the latter two also with their signs. */
const termsOfTitle = (title: string): ReadonlyArray<string> => [
  ...Terms.words(title),
  ...fold(title).match(sign) ?? []
]

/** The search terms of a query: plain words, hashtags and mentions. */
const termsOfQuery = (text: string): ReadonlyArray<string> => [
  ...Terms.words(fold(text).replace(sign, " ")),
  ...fold(text).match(sign) ?? []
]
