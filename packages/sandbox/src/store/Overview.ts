/** Lists the contents of a store for inspection: keyset pages without counts, regardless of visibility. */
import type { Database, Query } from "./Database.ts"
import { unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
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

const handle = (column: string) => Records.text(`(SELECT username FROM users WHERE id = t.${column})`)

/** Limits texts, which can have megabytes, to 1,000 characters. */
const beginning = (column: string) => Records.text(`substr(${column}, 1, 1000)`)

const { created, flag, id, number, text, time } = Records

interface Source {
  /** The unique sort key of the table `t`: an integer unless `named`. */
  readonly key: "id" | "key"
  readonly named?: true
  readonly from: string
  readonly fields: Records.Fields
  /** The condition for items that belong to `:user`. */
  readonly of: string
}

const ties = (table: string, fields: Records.Fields = {}): Source => ({
  key: "key",
  from: `${table} t`,
  fields: { source: handle("source_id"), target: handle("target_id"), source_id: id(), target_id: id(), ...fields },
  of: "(t.source_id = :user OR t.target_id = :user)"
})

/** The properties of media in the table `m`; the URL of a video is that of its first variant. */
const facts = (m: string) => ({
  url: text(`coalesce(${m}.facts ->> '$.url', ${m}.facts ->> '$.variants[0].url')`),
  width: number(`${m}.facts ->> '$.width'`),
  height: number(`${m}.facts ->> '$.height'`),
  duration_ms: number(`${m}.facts ->> '$.duration_ms'`),
  alt_text: beginning(`${m}.facts ->> '$.alt_text'`),
  subtitles: text("(SELECT group_concat(s.language_code, ', ') FROM media_subtitles s WHERE s.media_id = t.id)"),
  created_at: created("id")
})

const sources = {
  users: {
    key: "id",
    from: "users t",
    fields: {
      id: id(),
      username: text(),
      name: text(),
      protected: flag(),
      suspended: flag(),
      verified_type: text(),
      followers: number("followers_count"),
      following: number("following_count"),
      posts: number("post_count"),
      created_at: created("id")
    },
    of: "t.id = :user"
  },
  posts: {
    key: "id",
    from: "posts t",
    fields: {
      id: id(),
      author: handle("author_id"),
      text: beginning("t.text"),
      created_at: created("id"),
      lang: text(),
      reply_to: id("in_reply_to_post_id"),
      quote_of: id("quoted_post_id"),
      repost_of: id("reposted_post_id"),
      hidden: flag()
    },
    of: "t.author_id = :user"
  },
  follows: ties("follows", { pending: flag() }),
  blocks: ties("blocks"),
  mutes: ties("mutes"),
  bookmark_folders: {
    key: "id",
    from: "bookmark_folders t",
    fields: {
      id: id(),
      user: handle("user_id"),
      name: beginning("t.name"),
      posts: number("(SELECT count(*) FROM bookmark_folder_posts b WHERE b.folder_id = t.id)"),
      created_at: created("id")
    },
    of: "t.user_id = :user"
  },
  lists: {
    key: "id",
    from: "lists t",
    fields: {
      id: id(),
      owner: handle("owner_id"),
      name: text(),
      description: beginning("t.description"),
      private: flag(),
      members: number("member_count"),
      followers: number("follower_count"),
      created_at: created("id")
    },
    of: "t.owner_id = :user"
  },
  spaces: {
    key: "key",
    from: "spaces t",
    fields: {
      id: text(),
      creator: handle("creator_id"),
      title: beginning("t.title"),
      lang: text(),
      is_ticketed: flag(),
      scheduled_start: time(),
      started_at: time(),
      ended_at: time(),
      created_at: created("key")
    },
    of: "t.creator_id = :user"
  },
  conversations: {
    key: "id",
    named: true,
    from: "dm_conversations t",
    fields: {
      id: text(),
      type: text(),
      participants: text(`(
        SELECT group_concat(u.username, ', ') FROM dm_participants p JOIN users u ON u.id = p.user_id
        WHERE p.conversation_id = t.id)`),
      latest_event: created("(SELECT max(e.id) FROM dm_events e WHERE e.conversation_id = t.id)")
    },
    of: "t.id IN (SELECT conversation_id FROM dm_participants WHERE user_id = :user)"
  },
  messages: {
    key: "id",
    from: "dm_events t",
    fields: {
      id: id(),
      type: text("event_type"),
      sender: handle("sender_id"),
      text: beginning("t.text"),
      created_at: created("id"),
      conversation_id: text()
    },
    of: "t.sender_id = :user"
  },
  media: {
    key: "id",
    from: "media t LEFT JOIN uploads u ON u.id = t.id",
    fields: {
      id: id(),
      media_key: text(),
      owner: handle("owner_id"),
      type: text(),
      content_type: text("u.media_type"),
      category: text("u.category"),
      ...facts("t")
    },
    of: "t.owner_id = :user"
  },
  uploads: {
    key: "id",
    from: "uploads t LEFT JOIN media m ON m.id = t.id",
    fields: {
      id: id(),
      media_key: text("m.media_key"),
      owner: handle("owner_id"),
      category: text(),
      content_type: text("media_type"),
      received_bytes: number(
        "(SELECT coalesce(sum(length(s.bytes)), 0) FROM media_segments s WHERE s.media_id = t.id)"
      ),
      segments: number("(SELECT count(*) FROM media_segments s WHERE s.media_id = t.id)"),
      total_bytes: number(),
      finalized_at: time(),
      ready_at: time(),
      expires_at: time(),
      used: flag(),
      failure: text("t.failure ->> '$.message'"),
      ...facts("m")
    },
    of: "t.owner_id = :user"
  },
  grants: {
    key: "id",
    from: "grants t",
    fields: {
      id: id(),
      user: handle("user_id"),
      app: text("(SELECT name FROM apps WHERE id = t.app_id)"),
      alive: flag("t.ended_at IS NULL"),
      ended_by: text(),
      issued_at: time(),
      renewed_at: time(),
      expires_at: time(),
      refreshes: number(),
      replays: number(),
      reuse_detected: number(),
      kind: text(),
      rights: text(),
      scopes: beginning("t.scope")
    },
    of: "t.user_id = :user"
  }
} satisfies Record<string, Source>

/** The name of a collection. */
export type Collection = keyof typeof sources

/** The names of all collections. */
export const collections = Object.keys(sources) as ReadonlyArray<Collection>

export const make = (database: Database) => {
  const queries = new Map<string, Query<{ readonly key: string; readonly item: Item }>>()
  const queryOf = ({ fields, from, key, named }: Source, condition: string) => {
    const known = queries.get(`${from} ${condition}`)
    if (known !== undefined) return known
    const { columns, decode } = Records.record("t", fields)
    const absent = Object.fromEntries(Object.keys(fields).map((name) => [name, null]))
    const made = database.select(
      Records.keyed(
        {
          columns: columns.replaceAll("media_segments", `${database.bulkIn}.media_segments`),
          decode: (row) => ({ ...absent, ...decode(row) } as Item)
        },
        `CAST(t.${key} AS TEXT) AS page_key`
      ),
      `FROM ${from} WHERE ${condition} AND t.${key} ${named === true ? ">" : "<"} :after
       ORDER BY t.${key} ${named === true ? "ASC" : "DESC"} LIMIT :limit`
    )
    queries.set(`${from} ${condition}`, made)
    return made
  }
  return {
    /** The item with an id, and its collection. */
    find: (id: string): Part & { readonly collection?: Collection } => {
      for (const collection of collections) {
        const source: Source = sources[collection]
        if (!("id" in source.fields)) continue
        const after = source.named === true ? "" : unbounded.high
        const [found] = queryOf(source, "t.id = :id").all({ id, after, limit: 1 })
        if (found !== undefined) return { collection, items: [found.item] }
      }
      return { items: [] }
    },
    list: (collection: Collection, { after, limit, userId }: Request): Part => {
      const source: Source = sources[collection]
      const rows = queryOf(source, userId === undefined ? "TRUE" : source.of).all({
        ...(userId !== undefined && { user: userId }),
        after: source.named === true ? after ?? "" : after === undefined ? unbounded.high : Snowflake.parse(after),
        limit: limit + 1
      })
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit).map(({ item }) => item), ...(last && { next: last.key }) }
    }
  }
}
