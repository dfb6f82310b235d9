/** Lists the contents of a store for inspection: keyset pages without counts, regardless of visibility. */
import type { Database, Query } from "./Database.ts"
import { unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"

/** A row. Ids and usernames are strings, times ISO 8601. */
export type Item = Readonly<Record<string, string | number | boolean | null>>

/** Selects a part of a collection. */
export interface Request {
  readonly limit: number
  /** The `next` of the page before. */
  readonly after?: string | undefined
  /** Only items that belong to this user, or relations that involve the user. */
  readonly userId?: string | undefined
}

/** A part of a collection, newest first; conversations are ordered by id. */
export interface Part {
  readonly items: ReadonlyArray<Item>
  /** The cursor of the next part; undefined at the end. */
  readonly next?: string
}

export interface Overview {
  readonly list: (collection: Collection, request: Request) => Part
}

const time = (id: string): string => millis(`(${id} >> ${Snowflake.counterBits})`)

const millis = (millis: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${millis} / 1000.0, 'unixepoch')`

const text = (column: string): string => `CAST(${column} AS TEXT)`

const handle = (column: string): string => `(SELECT username FROM users WHERE id = ${column})`

/** Limits texts, which can have megabytes, to 1,000 characters. */
const beginning = (column: string): string => `substr(${column}, 1, 1000)`

/** The URL of media; for a video, that of its first variant. */
const address = (table: string): string =>
  `coalesce(${table}.facts ->> '$.url', ${table}.facts ->> '$.variants[0].url')`

interface Source {
  /** The unique sort key: an integer unless `named`. */
  readonly key: string
  readonly named?: true
  readonly from: string
  readonly select: Readonly<Record<string, string>>
  /** The condition for items that belong to `:user`. */
  readonly of: string
  readonly flags?: ReadonlyArray<string>
}

const ties = (table: string, select: Source["select"] = {}): Source => ({
  key: "t.key",
  from: `${table} t`,
  select: {
    source: handle("t.source_id"),
    target: handle("t.target_id"),
    source_id: text("t.source_id"),
    target_id: text("t.target_id"),
    ...select
  },
  of: "(t.source_id = :user OR t.target_id = :user)"
})

const sources = {
  users: {
    key: "t.id",
    from: "users t",
    select: {
      id: text("t.id"),
      username: "t.username",
      name: "t.name",
      protected: "t.protected",
      suspended: "t.suspended",
      verified_type: "t.verified_type",
      followers: "t.followers_count",
      following: "t.following_count",
      posts: "t.post_count",
      created_at: time("t.id")
    },
    of: "t.id = :user",
    flags: ["protected", "suspended"]
  },
  posts: {
    key: "t.id",
    from: "posts t",
    select: {
      id: text("t.id"),
      author: handle("t.author_id"),
      text: beginning("t.text"),
      created_at: time("t.id"),
      lang: "t.lang",
      reply_to: text("t.in_reply_to_post_id"),
      quote_of: text("t.quoted_post_id"),
      repost_of: text("t.reposted_post_id"),
      hidden: "t.hidden"
    },
    of: "t.author_id = :user",
    flags: ["hidden"]
  },
  follows: { ...ties("follows", { pending: "t.pending" }), flags: ["pending"] },
  blocks: ties("blocks"),
  mutes: ties("mutes"),
  bookmark_folders: {
    key: "t.id",
    from: "bookmark_folders t",
    select: {
      id: text("t.id"),
      user: handle("t.user_id"),
      name: beginning("t.name"),
      posts: "(SELECT count(*) FROM bookmark_folder_posts b WHERE b.folder_id = t.id)",
      created_at: time("t.id")
    },
    of: "t.user_id = :user"
  },
  lists: {
    key: "t.id",
    from: "lists t",
    select: {
      id: text("t.id"),
      owner: handle("t.owner_id"),
      name: "t.name",
      description: beginning("t.description"),
      private: "t.private",
      members: "t.member_count",
      followers: "t.follower_count",
      created_at: time("t.id")
    },
    of: "t.owner_id = :user",
    flags: ["private"]
  },
  spaces: {
    key: "t.key",
    from: "spaces t",
    select: {
      id: "t.id",
      creator: handle("t.creator_id"),
      title: beginning("t.title"),
      lang: "t.lang",
      is_ticketed: "t.is_ticketed",
      scheduled_start: millis("t.scheduled_start"),
      started_at: millis("t.started_at"),
      ended_at: millis("t.ended_at"),
      created_at: time("t.key")
    },
    of: "t.creator_id = :user",
    flags: ["is_ticketed"]
  },
  conversations: {
    key: "t.id",
    named: true,
    from: "dm_conversations t",
    select: {
      id: "t.id",
      type: "t.type",
      participants: `(
        SELECT group_concat(u.username, ', ') FROM dm_participants p JOIN users u ON u.id = p.user_id
        WHERE p.conversation_id = t.id
      )`,
      latest_event: time("(SELECT max(e.id) FROM dm_events e WHERE e.conversation_id = t.id)")
    },
    of: "t.id IN (SELECT conversation_id FROM dm_participants WHERE user_id = :user)"
  },
  messages: {
    key: "t.id",
    from: "dm_events t",
    select: {
      id: text("t.id"),
      type: "t.event_type",
      sender: handle("t.sender_id"),
      text: beginning("t.text"),
      created_at: time("t.id"),
      conversation_id: "t.conversation_id"
    },
    of: "t.sender_id = :user"
  },
  media: {
    key: "t.id",
    from: "media t LEFT JOIN uploads u ON u.id = t.id",
    select: {
      id: text("t.id"),
      media_key: "t.media_key",
      owner: handle("t.owner_id"),
      type: "t.type",
      content_type: "u.media_type",
      category: "u.category",
      url: address("t"),
      width: "t.facts ->> '$.width'",
      height: "t.facts ->> '$.height'",
      duration_ms: "t.facts ->> '$.duration_ms'",
      alt_text: beginning("t.facts ->> '$.alt_text'"),
      subtitles: "(SELECT group_concat(s.language_code, ', ') FROM media_subtitles s WHERE s.media_id = t.id)",
      created_at: time("t.id")
    },
    of: "t.owner_id = :user"
  },
  uploads: {
    key: "t.id",
    from: "uploads t LEFT JOIN media m ON m.id = t.id",
    select: {
      id: text("t.id"),
      media_key: "m.media_key",
      owner: handle("t.owner_id"),
      category: "t.category",
      content_type: "t.media_type",
      received_bytes: "(SELECT coalesce(sum(length(s.bytes)), 0) FROM media_segments s WHERE s.media_id = t.id)",
      segments: "(SELECT count(*) FROM media_segments s WHERE s.media_id = t.id)",
      total_bytes: "t.total_bytes",
      finalized_at: millis("t.finalized_at"),
      ready_at: millis("t.ready_at"),
      expires_at: millis("t.expires_at"),
      used: "t.used",
      failure: "t.failure ->> '$.message'",
      url: address("m"),
      width: "m.facts ->> '$.width'",
      height: "m.facts ->> '$.height'",
      duration_ms: "m.facts ->> '$.duration_ms'",
      alt_text: beginning("m.facts ->> '$.alt_text'"),
      subtitles: "(SELECT group_concat(language_code, ', ') FROM media_subtitles s WHERE s.media_id = t.id)",
      created_at: time("t.id")
    },
    of: "t.owner_id = :user",
    flags: ["used"]
  },
  grants: {
    key: "t.id",
    from: "grants t",
    select: {
      id: text("t.id"),
      user: handle("t.user_id"),
      app: "(SELECT name FROM apps WHERE id = t.app_id)",
      alive: "t.ended_at IS NULL",
      ended_by: "t.ended_by",
      issued_at: millis("t.issued_at"),
      renewed_at: millis("t.renewed_at"),
      expires_at: millis("t.expires_at"),
      refreshes: "t.refreshes",
      replays: "t.replays",
      reuse_detected: "t.reuse_detected",
      kind: "t.kind",
      rights: "t.rights",
      scopes: beginning("t.scope")
    },
    of: "t.user_id = :user",
    flags: ["alive"]
  }
} satisfies Record<string, Source>

/** The name of a collection. */
export type Collection = keyof typeof sources

/** The names of all collections. */
export const collections = Object.keys(sources) as ReadonlyArray<Collection>

export const make = (database: Database): Overview => {
  const statements = new Map<string, Query<Item & { readonly page_key: string }>>()
  const statement = (collection: Collection, ofUser: boolean) => {
    const known = statements.get(`${collection} ${ofUser}`)
    if (known !== undefined) return known
    const { from, key, named, of, select }: Source = sources[collection]
    const columns = Object.entries(select).map(([name, column]) =>
      `${column.replace("media_segments", `${database.bytesIn}.media_segments`)} AS "${name}"`
    )
    const made = database.query<Item & { readonly page_key: string }>(
      `SELECT ${text(key)} AS page_key, ${columns.join(", ")} FROM ${from}
       WHERE ${ofUser ? of : "TRUE"} AND ${key} ${named === true ? "> :after" : "< :after"}
       ORDER BY ${key} ${named === true ? "ASC" : "DESC"} LIMIT :limit`
    )
    statements.set(`${collection} ${ofUser}`, made)
    return made
  }
  return {
    list: (collection, { after, limit, userId }) => {
      const { flags = [], named }: Source = sources[collection]
      const rows = statement(collection, userId !== undefined).all({
        ...(userId === undefined ? {} : { user: Snowflake.parse(userId) }),
        after: named === true ? after ?? "" : after === undefined ? unbounded.high : Snowflake.parse(after),
        limit: limit + 1
      })
      const last = rows.length > limit ? rows[limit - 1]?.page_key : undefined
      const items = rows.slice(0, limit).map(({ page_key: _, ...row }) => ({
        ...row,
        ...Object.fromEntries(flags.map((name) => [name, row[name] === 1]))
      }))
      return { items, ...(last === undefined ? {} : { next: last }) }
    }
  }
}
