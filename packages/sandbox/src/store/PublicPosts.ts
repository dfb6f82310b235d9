/** Public original posts, for computing trends. */
import type * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import * as Records from "./Records.ts"
import * as Snowflake from "./Snowflake.ts"

const publicPost = Records.record("p", {
  id: Records.id(),
  text: Records.text(),
  entities: Records.optional(Records.json<Entities.Entities>()),
  /** Milliseconds since the epoch. */
  at: Records.millis("id")
})

/** The parts of a public post that trends use. */
export type PublicPost = Records.Of<typeof publicPost>

/** Selects public posts. Times are in milliseconds since the epoch. */
export interface Options {
  readonly from: number
  readonly until: number
  /** The origin of posts: the place of the post, or the location of its author. */
  readonly country?: string | undefined
  readonly city?: string | undefined
  /** Only posts by accounts that this user follows. */
  readonly followerId?: string | undefined
  readonly limit: number
}

/** Reads public posts without reposts, latest first. */
export type PublicPosts = (options: Options) => ReadonlyArray<PublicPost>

export const make = (database: Database): PublicPosts => {
  const query = database.select(
    publicPost,
    `
    FROM posts p JOIN users u ON u.id = p.author_id LEFT JOIN places ON places.id = p.place_id
    WHERE p.id >= :from AND p.id < :until AND p.reposted_post_id IS NULL AND p.unlisted = 0 AND p.audience = 'all'
      AND u.protected = 0 AND u.suspended = 0
      AND (:country IS NULL OR coalesce(places.facts ->> '$.country' = :country, u.location LIKE '%, ' || :country, 0))
      AND (:city IS NULL OR coalesce(places.facts ->> '$.name' = :city, u.location LIKE :city || ', %', 0))
      AND (:follower IS NULL OR p.author_id IN
        (SELECT target_id FROM follows WHERE source_id = :follower AND pending = 0))
    ORDER BY p.id DESC LIMIT :limit`
  )
  return ({ city = null, country = null, followerId: follower = null, from, limit, until }) =>
    query.all({
      from: Snowflake.fromMillis(from),
      until: Snowflake.fromMillis(until),
      country,
      city,
      follower,
      limit
    })
}
