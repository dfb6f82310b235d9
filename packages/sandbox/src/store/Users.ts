import * as Entities from "../text/Entities.ts"
import * as Words from "../text/Words.ts"
import type { Database } from "./Database.ts"
import { idList, ids, inOrder } from "./Ids.ts"
import { type Page, pager, type PageRequest, type PageSource, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import type { EventPublisher, ProfileUpdate } from "./StoreEvents.ts"
import * as Visibility from "./Visibility.ts"

export interface Affiliation {
  readonly badge_url: string
  readonly description: string
  readonly url: string
  readonly user_id: ReadonlyArray<string>
}

const user = Records.record("u", {
  id: Records.id(),
  name: Records.text(),
  username: Records.text(),
  created_at: Records.created("id"),
  description: Records.text(),
  location: Records.optional(Records.text()),
  url: Records.optional(Records.text()),
  profile_image_url: Records.text(),
  verified: Records.flag("u.verified_type <> 'none'"),
  verified_type: Records.text<VerifiedType>(),
  protected: Records.flag(),
  /** True if the account is suspended: it and its posts are hidden. */
  suspended: Records.flag(),
  receives_your_dm: Records.flag("receives_dm"),
  /** The organization that the account is affiliated with. */
  affiliation: Records.optional(Records.json<Affiliation>(`
    (SELECT json_object('badge_url', o.profile_image_url, 'description', o.name,
      'url', 'https://twitter.com/' || o.username, 'user_id', json_array(CAST(o.id AS TEXT)))
    FROM affiliates a JOIN users o ON o.id = a.organization_id WHERE a.user_id = u.id AND o.suspended = 0)`)),
  pinned_post_id: Records.optional(Records.id()),
  most_recent_post_id: Records.optional(
    Records.id("(SELECT id FROM posts WHERE author_id = u.id AND unlisted = 0 ORDER BY id DESC LIMIT 1)")
  ),
  entities: Records.optional(
    Records.json<{ readonly url?: Entities.Entities; readonly description?: Entities.Entities }>()
  ),
  public_metrics: {
    followers_count: Records.number(),
    following_count: Records.number(),
    post_count: Records.number(),
    listed_count: Records.number(),
    like_count: Records.number()
  }
})

export type User = Records.Of<typeof user>

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

/** Pages of users; the source calls them `u`. */
export const pages = (database: Database, source: PageSource) => pager(database, user, source)

export type Users = ReturnType<typeof make>

/** The columns of the parts of a profile that can change. */
const profile = {
  "profile.update.bio": "description",
  "profile.update.profile_picture": "profile_image_url",
  "profile.update.screenname": "name",
  "profile.update.handle": "username",
  "profile.update.geo": "location",
  "profile.update.url": "url",
  "profile.update.verified_badge": "verified_type"
} as const satisfies { readonly [T in ProfileUpdate]?: keyof User }

/** A change of a part of a profile that users of the sandbox have. */
export type ProfilePart = keyof typeof profile

export const isProfilePart = (type: string): type is ProfilePart => Object.hasOwn(profile, type)

export const make = (database: Database, events: EventPublisher) => {
  const nextId = ids(database, "users")
  const byId = database.select(user, "FROM users u WHERE u.id = :id")
  const byName = database.select(user, "FROM users u WHERE u.username = :username")
  const byIds = database.select(user, "FROM users u WHERE u.id IN (SELECT value FROM json_each(:ids))")
  const foremost = database.select(user, "FROM users u ORDER BY u.followers_count DESC, u.id LIMIT :limit")
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
  const protect = database.command("UPDATE users SET protected = :protected WHERE id = :id")
  const pin = database.command("UPDATE users SET pinned_post_id = :post WHERE id = :id")
  const byUsername = (username: string) => byName.get({ username })

  return {
    /** Returns the id. The username must not be taken. */
    insert: ({ createdAt, id = String(nextId(createdAt)), ...user }: NewUser): string => {
      const entities = {
        url: Entities.find(user.url ?? "", byUsername),
        description: Entities.find(user.description ?? "", byUsername)
      }
      database.insert("users", {
        id,
        username: user.username,
        name: user.name,
        description: user.description ?? "",
        location: user.location,
        url: user.url,
        profile_image_url: user.profileImageUrl ?? `https://images.sandbox.invalid/profile/${id}.png`,
        verified_type: user.verifiedType ?? "none",
        protected: user.protected ?? false,
        photo_tagging: user.photoTagging ?? true,
        receives_dm: user.receivesDm ?? true,
        entities: entities.url || entities.description ? entities : null
      })
      return id
    },
    byId: (id: string) => byId.get({ id }),
    /** Ignores case. */
    byUsername,
    /** In the order of `ids`, without duplicates and unknown ids. */
    byIds: (ids: ReadonlyArray<string>, selection?: Records.Selection) =>
      inOrder(ids, byIds.all({ ids: idList(ids) }, selection), (user) => user.id),
    /** In the order of `usernames`, without duplicates and unknown names. */
    byUsernames: (usernames: ReadonlyArray<string>): ReadonlyArray<User> =>
      [...new Set(usernames.map((name) => name.toLowerCase()))].flatMap((name) => byUsername(name) ?? []),
    /** Users with all words of a query in their name or username: an exact username first, then the latest. */
    search: ({ query, ...request }: PageRequest & { readonly query: string }): Page<User> =>
      search({ query: query.trim(), words: Words.wordsOf(query) }, unbounded, request),
    /** The users with the most followers, in descending order. */
    foremost: (limit: number) => foremost.all({ limit }),
    /** True if a viewer may see the posts, likes and follows of this account. */
    isOpenTo: (id: string, viewer: Visibility.Viewer): boolean =>
      open.get({ id, viewer: Visibility.valueOf(viewer) }) !== undefined,
    /** The `ids` that may be tagged in media. */
    taggable: (ids: ReadonlyArray<string>) =>
      inOrder(ids, taggable.all({ ids: idList(ids) }), (row) => row.id).map((row) => row.id),
    /** Suspends the account, or ends its suspension. */
    setSuspended: (id: string, suspended: boolean): void => {
      if (suspend({ id, suspended: Number(suspended) }) > 0) {
        events.publish({ _tag: suspended ? "Suspended" : "Unsuspended", userId: id })
      }
    },
    /** Protects the account, or ends that. Searches still find the public posts that it has. */
    setProtected: (id: string, isProtected: boolean): void => void protect({ id, protected: Number(isProtected) }),
    /** Changes a part of a profile; a username must not be taken. */
    update: (id: string, type: ProfilePart, after: string): void => {
      const column = profile[type]
      const before = byId.get({ id })
      if (before === undefined || before[column] === after) return
      const entitiesOf = (name: "description" | "url") =>
        Entities.find(column === name ? after : before[name] ?? "", byUsername)
      const entities = { url: entitiesOf("url"), description: entitiesOf("description") }
      database.transaction(() => {
        database.command(`UPDATE users SET ${column} = :after, entities = :entities WHERE id = :id`)({
          id,
          after,
          entities: entities.url || entities.description ? JSON.stringify(entities) : null
        })
        events.publish({ _tag: "Profiled", type, userId: id, before: before[column], after })
      })
    },
    /** Pins a post of the account, or unpins it. */
    pin: (id: string, postId: string | undefined): void => void pin({ id, post: postId ?? null })
  }
}
