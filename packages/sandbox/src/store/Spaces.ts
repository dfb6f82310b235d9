/** Spaces: live audio rooms. */
import * as Terms from "../text/Terms.ts"
import type { Database } from "./Database.ts"
import { ids, inOrder } from "./Ids.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

export type SpaceState = "live" | "scheduled" | "ended"

export interface Space extends People {
  readonly id: string
  readonly state: SpaceState
  readonly created_at: string
  readonly updated_at: string
  readonly creator_id: string
  readonly title?: string
  readonly lang: string
  readonly is_ticketed: boolean
  readonly participant_count: number
  readonly subscriber_count: number
  readonly scheduled_start?: string
  readonly started_at?: string
  readonly ended_at?: string
}

/** The people and topics of a space. */
export interface People {
  readonly host_ids?: ReadonlyArray<string>
  readonly speaker_ids?: ReadonlyArray<string>
  readonly invited_user_ids?: ReadonlyArray<string>
  readonly topic_ids?: ReadonlyArray<string>
}

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
export interface Spaces {
  /** Returns the id. */
  readonly insert: (space: NewSpace) => string
  /** In the order of `ids`, without duplicates and unknown ids. */
  readonly byIds: (ids: ReadonlyArray<string>, now: number) => ReadonlyArray<Space>
  /** The spaces of these creators, latest first. */
  readonly byCreators: (userIds: ReadonlyArray<string>, now: number) => ReadonlyArray<Space>
  /** Spaces whose titles contain every word, hashtag and mention of a text, latest first. */
  readonly search: (options: {
    readonly text: string
    readonly state?: SpaceState | undefined
    readonly limit: number
    readonly now: number
  }) => ReadonlyArray<Space>
  /** Records that a user has a ticket. Idempotent. */
  readonly sell: (spaceId: string, userId: string) => void
  /** The ticket holders, latest first. */
  readonly buyers: (options: PageRequest & { readonly spaceId: string }) => Page<Users.User>
  /** Shares an existing post. Idempotent. */
  readonly share: (spaceId: string, postId: string) => void
  /** The shared posts that the viewer may see, latest first. */
  readonly posts: (
    options: PageRequest & { readonly spaceId: string; readonly viewer?: Visibility.Viewer | undefined }
  ) => Page<Post.Post>
  readonly insertTopic: (topic: Topic) => void
  readonly topicsByIds: (ids: ReadonlyArray<string>) => ReadonlyArray<Topic>
}

export const make = (database: Database): Spaces => {
  const nextKey = ids(database, "spaces")
  const insert = database.command(`
    INSERT INTO spaces (key, id, creator_id, title, terms, scheduled_start, started_at, ended_at, is_ticketed, lang,
      people, participant_count, subscriber_count)
    VALUES (:key, :id, :creator, :title, :terms, :scheduled, :started, :ended, :ticketed, :lang, :people, :participants,
      :subscribers)`)
  const byIds = database.query<Row>(
    `SELECT ${columns} FROM spaces s WHERE s.id IN (SELECT value FROM json_each(:ids))`
  )
  const byCreators = database.query<Row>(
    `SELECT ${columns} FROM spaces s WHERE s.creator_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))
     ORDER BY s.key DESC`
  )
  const search = database.query<Row>(`
    SELECT ${columns} FROM spaces s
    WHERE NOT EXISTS (SELECT 1 FROM json_each(:terms) t WHERE instr(s.terms, ' ' || t.value || ' ') = 0)
      AND (:state IS NULL OR ${state} = :state)
    ORDER BY s.key DESC LIMIT :limit`)
  const sell = database.command("INSERT OR IGNORE INTO space_buyers (space_id, user_id) VALUES (:space, :user)")
  const buyers = Users.pages(database, {
    from: "space_buyers b JOIN users u ON u.id = b.user_id",
    where: "b.space_id = :space",
    key: "b.key"
  })
  const share = database.command("INSERT OR IGNORE INTO space_posts (space_id, post_id) VALUES (:space, :post)")
  const shared = Post.pages(database, {
    from: "space_posts s JOIN posts p ON p.id = s.post_id",
    where: `s.space_id = :space AND ${Visibility.post("p")}`,
    key: "s.key"
  })
  const insertTopic = database.command(
    "INSERT OR REPLACE INTO topics (id, name, description) VALUES (:id, :name, :description)"
  )
  const topics = database.query<Topic>(
    "SELECT id, name, description FROM topics WHERE id IN (SELECT value FROM json_each(:ids))"
  )

  return {
    insert: (space) => {
      const key = nextKey(space.createdAt)
      const id = `1${[...key.toString(36).padStart(12, "0")].map((digit) => digits[parseInt(digit, 36)]).join("")}`
      insert({
        key,
        id,
        creator: Snowflake.parse(space.creatorId),
        title: space.title ?? null,
        terms: ` ${termsOfTitle(space.title ?? "").join(" ")} `,
        scheduled: space.scheduledStart ?? null,
        started: space.startedAt ?? null,
        ended: space.endedAt ?? null,
        ticketed: Number(space.isTicketed ?? false),
        lang: space.lang ?? "und",
        people: JSON.stringify(space.people ?? {}),
        participants: space.participants ?? 0,
        subscribers: space.subscribers ?? 0
      })
      return id
    },
    byIds: (ids, now) =>
      inOrder(ids, byIds.all({ ids: JSON.stringify(ids), now }).map((row) => decode(row, now)), ({ id }) => id),
    byCreators: (userIds, now) =>
      byCreators.all({ ids: JSON.stringify(userIds.map((id) => String(Snowflake.parse(id)))), now })
        .map((row) => decode(row, now)),
    search: ({ limit, now, state = null, text }) => {
      const terms = termsOfQuery(text)
      return terms.length === 0
        ? []
        : search.all({ terms: JSON.stringify(terms), state, limit, now }).map((row) => decode(row, now))
    },
    sell: (spaceId, userId) => void sell({ space: spaceId, user: Snowflake.parse(userId) }),
    buyers: ({ spaceId, ...request }) => buyers({ space: spaceId }, unbounded, request),
    share: (spaceId, postId) => void share({ space: spaceId, post: Snowflake.parse(postId) }),
    posts: ({ spaceId, viewer, ...request }) =>
      shared({ space: spaceId, viewer: Visibility.valueOf(viewer) }, unbounded, request),
    insertTopic: ({ description, id, name }) => void insertTopic({ id, name, description }),
    topicsByIds: (ids) => inOrder(ids, topics.all({ ids: JSON.stringify(ids) }), ({ id }) => id)
  }
}

// The alphabet of ids, chosen so that an id resembles neither a number nor a word.
const digits = "jkmnpqrstvwxyzABCDEFGHJKLMNPQRSTVWXY"

const state = `
  CASE WHEN s.ended_at <= :now THEN 'ended' WHEN s.started_at <= :now THEN 'live' ELSE 'scheduled' END`

const columns = `
  s.id, s.key >> ${Snowflake.counterBits} AS millis, CAST(s.creator_id AS TEXT) AS creator_id, s.title,
  s.scheduled_start, s.started_at, s.ended_at, s.is_ticketed, s.lang, s.people, s.participant_count,
  s.subscriber_count, ${state} AS state`

interface Row {
  readonly id: string
  readonly millis: number
  readonly creator_id: string
  readonly title: string | null
  readonly scheduled_start: number | null
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly is_ticketed: number
  readonly lang: string
  readonly people: string
  readonly participant_count: number
  readonly subscriber_count: number
  readonly state: SpaceState
}

const decode = (row: Row, now: number): Space => {
  const { ended_at, millis, started_at } = row
  const iso = (time: number) => new Date(time).toISOString()
  const past = (time: number | null): time is number => time !== null && time <= now
  return {
    id: row.id,
    state: row.state,
    created_at: iso(millis),
    updated_at: iso(past(ended_at) ? ended_at : past(started_at) ? started_at : millis),
    creator_id: row.creator_id,
    ...(row.title !== null && { title: row.title }),
    lang: row.lang,
    is_ticketed: row.is_ticketed === 1,
    participant_count: row.participant_count,
    subscriber_count: row.subscriber_count,
    ...(row.scheduled_start !== null && { scheduled_start: iso(row.scheduled_start) }),
    ...(past(started_at) && { started_at: iso(started_at) }),
    ...(past(ended_at) && { ended_at: iso(ended_at) }),
    ...JSON.parse(row.people)
  }
}

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
