/** Blocks (of everything or of messages alone) and mutes. */
import type { Database } from "./Database.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"

/** One kind of restriction. */
export interface Restrictions {
  /** Adds or removes a restriction. Idempotent; returns the new state. */
  readonly set: (sourceId: string, targetId: string, restricted: boolean) => boolean
  readonly has: (sourceId: string, targetId: string) => boolean
  /** The accounts that a user restricts, latest first. */
  readonly targets: (options: PageRequest & { readonly userId: string }) => Page<Users.User>
}

/** `onAdd` runs for every new restriction. */
export const make = (
  database: Database,
  table: "blocks" | "dm_blocks" | "mutes",
  onAdd: (sourceId: string, targetId: string) => void = () => {}
): Restrictions => {
  const add = database.command(`INSERT OR IGNORE INTO ${table} (source_id, target_id) VALUES (:source, :target)`)
  const remove = database.command(`DELETE FROM ${table} WHERE source_id = :source AND target_id = :target`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE source_id = :source AND target_id = :target`)
  const targets = Users.pages(database, {
    from: `${table} t JOIN users u ON u.id = t.target_id`,
    where: "t.source_id = :user",
    key: "t.key"
  })
  const pair = (sourceId: string, targetId: string) => ({
    source: Snowflake.parse(sourceId),
    target: Snowflake.parse(targetId)
  })

  return {
    set: (sourceId, targetId, restricted) =>
      database.transaction(() => {
        const changed = (restricted ? add : remove)(pair(sourceId, targetId)) > 0
        if (changed && restricted) onAdd(sourceId, targetId)
        return restricted
      }),
    has: (sourceId, targetId) => has.get(pair(sourceId, targetId)) !== undefined,
    targets: ({ userId, ...request }) => targets({ user: Snowflake.parse(userId) }, unbounded, request)
  }
}
