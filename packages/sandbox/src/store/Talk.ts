/** What is said in public: original posts with what tells where they are from. */
import type * as Entities from "../text/Entities.ts"
import type { Database } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** A public post, as far as it tells what is talked about. */
export interface Said {
  readonly text: string
  readonly entities: Entities.Entities | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What is looked through. Instants are in milliseconds since the epoch. */
export interface Options {
  readonly from: number
  readonly until: number
  /** Where posts are from: the place of a post, or where its author is. */
  readonly country?: string | undefined
  readonly city?: string | undefined
  /** Only what those say whom this user follows. */
  readonly followerId?: string | undefined
  readonly limit: number
}

/** Reads what is said in public, the latest first. Reposts say nothing new. */
export type Talk = (options: Options) => ReadonlyArray<Said>

/** What is said in a database. */
export const make = (database: Database): Talk => {
  const query = database.query<{ readonly text: string; readonly entities: string | null; readonly millis: number }>(`
    SELECT p.text, p.entities, p.id >> ${Snowflake.counterBits} AS millis
    FROM posts p JOIN users u ON u.id = p.author_id LEFT JOIN places ON places.id = p.place_id
    WHERE p.id >= :from AND p.id < :until AND p.reposted_post_id IS NULL AND p.unlisted = 0 AND p.audience = 'all'
      AND u.protected = 0 AND u.suspended = 0
      AND (:country IS NULL OR coalesce(places.facts ->> '$.country' = :country, u.location LIKE '%, ' || :country, 0))
      AND (:city IS NULL OR coalesce(places.facts ->> '$.name' = :city, u.location LIKE :city || ', %', 0))
      AND (:follower IS NULL OR p.author_id IN
        (SELECT target_id FROM follows WHERE source_id = :follower AND pending = 0))
    ORDER BY p.id DESC LIMIT :limit`)
  return ({ city = null, country = null, followerId, from, limit, until }) =>
    query.all({
      from: Snowflake.fromMillis(from),
      until: Snowflake.fromMillis(until),
      country,
      city,
      follower: followerId === undefined ? null : Snowflake.parse(followerId),
      limit
    }).map(({ entities, millis, text }) => ({
      text,
      entities: entities === null ? undefined : JSON.parse(entities),
      at: millis
    }))
}
