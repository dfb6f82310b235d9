/** Follows and follow requests. */
import type { Database } from "./Database.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import type { EventPublisher } from "./StoreEvents.ts"
import * as Users from "./Users.ts"

export type FollowState = "none" | "requested" | "following"

export const make = (database: Database, events: EventPublisher) => {
  const find = database.query<{ readonly pending: number }>(
    "SELECT pending FROM follows WHERE source_id = :source AND target_id = :target"
  )
  const put = database.command(`
    INSERT INTO follows (source_id, target_id, pending) VALUES (:source, :target, :pending)
    ON CONFLICT (source_id, target_id) DO UPDATE SET pending = excluded.pending`)
  const remove = database.command("DELETE FROM follows WHERE source_id = :source AND target_id = :target")
  const countFollowing = database.command("UPDATE users SET following_count = following_count + :by WHERE id = :id")
  const countFollowers = database.command("UPDATE users SET followers_count = followers_count + :by WHERE id = :id")
  const listing = (own: "source_id" | "target_id", other: "source_id" | "target_id") => {
    const list = Users.pages(database, {
      from: `follows f JOIN users u ON u.id = f.${other}`,
      where: `f.${own} = :user AND f.pending = 0`,
      key: "f.key"
    })
    return ({ userId: user, ...request }: PageRequest & { readonly userId: string }) =>
      list({ user }, unbounded, request)
  }
  const state = (source: string, target: string): FollowState => {
    const row = find.get({ source, target })
    return row === undefined ? "none" : row.pending === 1 ? "requested" : "following"
  }

  return {
    state,
    /** Idempotent; returns the new state. */
    set: (source: string, target: string, after: FollowState): FollowState =>
      database.transaction(() => {
        const before = state(source, target)
        if (before === after) return after
        if (after === "none") remove({ source, target })
        else put({ source, target, pending: Number(after === "requested") })
        const by = Number(after === "following") - Number(before === "following")
        if (by !== 0) {
          countFollowing({ id: source, by })
          countFollowers({ id: target, by })
          const type = by > 0 ? "follow.follow" : "follow.unfollow"
          events.publish({ _tag: "Related", type, sourceId: source, targetId: target })
        }
        return after
      }),
    /** The users that a user follows, latest first. */
    following: listing("source_id", "target_id"),
    /** The followers of a user, latest first. */
    followers: listing("target_id", "source_id")
  }
}
