import * as Entities from "../text/Entities.ts"
import * as Words from "../text/Words.ts"
import type { Database } from "./Database.ts"
import { idList, ids, inOrder, optionalId } from "./Ids.ts"
import { type Page, pager, type PageRequest, type PageSource, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Visibility from "./Visibility.ts"

export interface User {
  readonly id: string
  readonly name: string
  readonly username: string
  readonly created_at: string
  readonly description: string
  readonly location?: string
  readonly url?: string
  readonly profile_image_url: string
  readonly verified: boolean
  readonly verified_type: VerifiedType
  readonly protected: boolean
  /** True if the account is suspended: it and its posts are hidden. */
  readonly suspended: boolean
  readonly receives_your_dm: boolean
  /** The organization that the account is affiliated with. */
  readonly affiliation?: {
    readonly badge_url: string
    readonly description: string
    readonly url: string
    readonly user_id: ReadonlyArray<string>
  }
  readonly pinned_post_id?: string
  readonly most_recent_post_id?: string
  readonly entities?: {
    readonly url?: Entities.Entities
    readonly description?: Entities.Entities
  }
  readonly public_metrics: {
    readonly followers_count: number
    readonly following_count: number
    readonly post_count: number
    readonly listed_count: number
    readonly like_count: number
  }
}

/** The kind of verification. */
export type VerifiedType = "blue" | "business" | "government" | "none"

/** The input of `insert`. */
export interface NewUser {
  readonly username: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Default: derived from `createdAt`. */
  readonly id?: string
  readonly description?: string
  readonly location?: string
  readonly url?: string
  readonly profileImageUrl?: string
  readonly verifiedType?: VerifiedType
  readonly protected?: boolean
  /** Allows others to tag this account in media. Default `true`. */
  readonly photoTagging?: boolean
  /** Allows messages from strangers. Default `true`. */
  readonly receivesDm?: boolean
}

export interface Users {
  /** Returns the id. The username must not be taken. */
  readonly insert: (user: NewUser) => string
  readonly byId: (id: string) => User | undefined
  /** Ignores case. */
  readonly byUsername: (username: string) => User | undefined
  /** In the order of `ids`, without duplicates and unknown ids. */
  readonly byIds: (ids: ReadonlyArray<string>) => ReadonlyArray<User>
  /** In the order of `usernames`, without duplicates and unknown names. */
  readonly byUsernames: (usernames: ReadonlyArray<string>) => ReadonlyArray<User>
  /** Users with all words of a query in their name or username: an exact username first, then the latest. */
  readonly search: (options: PageRequest & { readonly query: string }) => Page<User>
  /** The users with the most followers, in descending order. */
  readonly foremost: (limit: number) => ReadonlyArray<User>
  /** True if a viewer may see the posts, likes and follows of this account. */
  readonly isOpenTo: (id: string, viewer: Visibility.Viewer) => boolean
  /** The `ids` that may be tagged in media. */
  readonly taggable: (ids: ReadonlyArray<string>) => ReadonlyArray<string>
  /** Suspends the account, or ends its suspension. */
  readonly setSuspended: (id: string, suspended: boolean) => void
  /** Pins a post of the account, or unpins it. */
  readonly pin: (id: string, postId: string | undefined) => void
}

/** The columns that {@link decode} reads, for queries that join users as `u`. */
export const columns = `
  CAST(u.id AS TEXT) AS id, u.id >> ${Snowflake.counterBits} AS millis, u.username, u.name, u.description, u.location,
  u.url, u.profile_image_url, u.verified_type, u.protected, u.suspended, u.receives_dm,
  CAST(u.pinned_post_id AS TEXT) AS pinned_post_id,
  (SELECT CAST(id AS TEXT) FROM posts WHERE author_id = u.id AND unlisted = 0 ORDER BY id DESC LIMIT 1)
    AS most_recent_post_id, u.entities,
  (SELECT json_object('badge_url', o.profile_image_url, 'description', o.name,
      'url', 'https://twitter.com/' || o.username, 'user_id', json_array(CAST(o.id AS TEXT)))
    FROM affiliates a JOIN users o ON o.id = a.organization_id WHERE a.user_id = u.id AND o.suspended = 0) AS affiliation,
  u.followers_count, u.following_count, u.post_count, u.like_count, u.listed_count`

/** One row of {@link columns}. */
export interface Row {
  readonly id: string
  readonly millis: number
  readonly username: string
  readonly name: string
  readonly description: string
  readonly location: string | null
  readonly url: string | null
  readonly profile_image_url: string
  readonly verified_type: VerifiedType
  readonly protected: number
  readonly suspended: number
  readonly receives_dm: number
  readonly pinned_post_id: string | null
  readonly most_recent_post_id: string | null
  readonly entities: string | null
  readonly affiliation: string | null
  readonly followers_count: number
  readonly following_count: number
  readonly post_count: number
  readonly like_count: number
  readonly listed_count: number
}

export const decode = (row: Row): User => ({
  id: row.id,
  name: row.name,
  username: row.username,
  created_at: new Date(row.millis).toISOString(),
  description: row.description,
  ...(row.location !== null && { location: row.location }),
  ...(row.url !== null && { url: row.url }),
  profile_image_url: row.profile_image_url,
  verified: row.verified_type !== "none",
  verified_type: row.verified_type,
  protected: row.protected === 1,
  suspended: row.suspended === 1,
  receives_your_dm: row.receives_dm === 1,
  ...(row.affiliation !== null && { affiliation: JSON.parse(row.affiliation) }),
  ...(row.pinned_post_id !== null && { pinned_post_id: row.pinned_post_id }),
  ...(row.most_recent_post_id !== null && { most_recent_post_id: row.most_recent_post_id }),
  ...(row.entities !== null && { entities: JSON.parse(row.entities) }),
  public_metrics: {
    followers_count: row.followers_count,
    following_count: row.following_count,
    post_count: row.post_count,
    listed_count: row.listed_count,
    like_count: row.like_count
  }
})

/** Pages of users; the source calls them `u`. */
export const pages = (database: Database, source: PageSource) => pager(database, { select: columns, ...source }, decode)

export const make = (database: Database, events: EventPublisher): Users => {
  const nextId = ids(database, "users")
  const byId = database.queryAs(`SELECT ${columns} FROM users u WHERE u.id = :id`, decode)
  const byUsername = database.queryAs(`SELECT ${columns} FROM users u WHERE u.username = :username`, decode)
  const byIds = database.queryAs(
    `SELECT ${columns} FROM users u WHERE u.id IN (SELECT value FROM json_each(:ids))`,
    decode
  )
  const foremost = database.queryAs(
    `SELECT ${columns} FROM users u ORDER BY u.followers_count DESC, u.id LIMIT :limit`,
    decode
  )
  const search = pages(database, {
    from: "users u",
    where: `u.suspended = 0 AND ${Words.match("u.name || ' ' || u.username || ' ' || replace(u.username, '_', ' ')")}`,
    // Ids are smaller than 2^62.
    key: "((u.username = :query) << 62) + u.id"
  })
  const open = database.query(`SELECT 1 WHERE ${Visibility.account(":id")}`)
  const taggable = database.query<{ readonly id: string }>(`
    SELECT CAST(id AS TEXT) AS id FROM users WHERE photo_tagging = 1 AND id IN (SELECT value FROM json_each(:ids))`)
  const suspend = database.command("UPDATE users SET suspended = :suspended WHERE id = :id")
  const pin = database.command("UPDATE users SET pinned_post_id = :post WHERE id = :id")
  const insert = database.command(`
    INSERT INTO users (id, username, name, description, location, url, profile_image_url, verified_type, protected,
      photo_tagging, receives_dm, entities)
    VALUES (:id, :username, :name, :description, :location, :url, :image, :verified, :protected, :tagging, :dm,
      :entities)`)

  const find = (username: string): User | undefined => byUsername.get({ username })

  return {
    insert: (user) => {
      const id = user.id === undefined ? nextId(user.createdAt) : Snowflake.parse(user.id)
      const entities = {
        url: Entities.find(user.url ?? "", find),
        description: Entities.find(user.description ?? "", find)
      }
      insert({
        id,
        username: user.username,
        name: user.name,
        description: user.description ?? "",
        location: user.location ?? null,
        url: user.url ?? null,
        image: user.profileImageUrl ?? `https://images.sandbox.invalid/profile/${id}.png`,
        verified: user.verifiedType ?? "none",
        protected: Number(user.protected ?? false),
        tagging: Number(user.photoTagging ?? true),
        dm: Number(user.receivesDm ?? true),
        entities: entities.url || entities.description ? JSON.stringify(entities) : null
      })
      return String(id)
    },
    byId: (id) => byId.get({ id: Snowflake.parse(id) }),
    byUsername: find,
    byIds: (ids) => inOrder(ids, byIds.all({ ids: idList(ids) }), (user) => user.id),
    byUsernames: (usernames) =>
      [...new Set(usernames.map((username) => username.toLowerCase()))].flatMap((username) => find(username) ?? []),
    search: ({ query, ...request }) => search({ query: query.trim(), words: Words.wordsOf(query) }, unbounded, request),
    foremost: (limit) => foremost.all({ limit }),
    isOpenTo: (id, viewer) => open.get({ id: Snowflake.parse(id), viewer: Visibility.valueOf(viewer) }) !== undefined,
    taggable: (ids) => inOrder(ids, taggable.all({ ids: idList(ids) }), (row) => row.id).map((row) => row.id),
    setSuspended: (id, suspended) => {
      if (suspend({ id: Snowflake.parse(id), suspended: Number(suspended) }) > 0) {
        events.publish({ _tag: suspended ? "Suspended" : "Unsuspended", userId: id })
      }
    },
    pin: (id, postId) => void pin({ id: Snowflake.parse(id), post: optionalId(postId) })
  }
}
