/** Follows and follow requests. */
import type { Database } from "./Database.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"

export type FollowState = "none" | "requested" | "following"

export interface Follows {
  /** Idempotent; returns the new state. */
  readonly set: (sourceId: string, targetId: string, state: FollowState) => FollowState
  readonly state: (sourceId: string, targetId: string) => FollowState
  /** The users that a user follows, latest first. */
  readonly following: (options: PageRequest & { readonly userId: string }) => Page<Users.User>
  /** The followers of a user, latest first. */
  readonly followers: (options: PageRequest & { readonly userId: string }) => Page<Users.User>
}

export const make = (database: Database): Follows => {
  const find = database.query<{ readonly pending: number }>(
    "SELECT pending FROM follows WHERE source_id = :source AND target_id = :target"
  )
  const put = database.command(`
    INSERT INTO follows (source_id, target_id, pending) VALUES (:source, :target, :pending)
    ON CONFLICT (source_id, target_id) DO UPDATE SET pending = excluded.pending`)
  const remove = database.command("DELETE FROM follows WHERE source_id = :source AND target_id = :target")
  const countFollowing = database.command("UPDATE users SET following_count = following_count + :by WHERE id = :id")
  const countFollowers = database.command("UPDATE users SET followers_count = followers_count + :by WHERE id = :id")
  const listing = (own: "source_id" | "target_id", other: "source_id" | "target_id") =>
    Users.pages(database, {
      from: `follows f JOIN users u ON u.id = f.${other}`,
      where: `f.${own} = :user AND f.pending = 0`,
      key: "f.key"
    })
  const following = listing("source_id", "target_id")
  const followers = listing("target_id", "source_id")

  const state = (sourceId: string, targetId: string): FollowState => {
    const row = find.get({ source: Snowflake.parse(sourceId), target: Snowflake.parse(targetId) })
    return row === undefined ? "none" : row.pending === 1 ? "requested" : "following"
  }

  return {
    state,
    set: (sourceId, targetId, after) =>
      database.transaction(() => {
        const source = Snowflake.parse(sourceId)
        const target = Snowflake.parse(targetId)
        const before = state(sourceId, targetId)
        if (before === after) return after
        if (after === "none") remove({ source, target })
        else put({ source, target, pending: Number(after === "requested") })
        const by = Number(after === "following") - Number(before === "following")
        if (by !== 0) {
          countFollowing({ id: source, by })
          countFollowers({ id: target, by })
        }
        return after
      }),
    following: ({ userId, ...request }) => following({ user: Snowflake.parse(userId) }, unbounded, request),
    followers: ({ userId, ...request }) => followers({ user: Snowflake.parse(userId) }, unbounded, request)
  }
}
