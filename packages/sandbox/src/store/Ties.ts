/** What users hold against each other: blocks, of all or of messages alone, and mutes. */
import type { Database } from "./Database.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"

/** One kind of tie. */
export interface Ties {
  /** Ties a user to another one, or unties them; returns the state after. Repeating changes nothing. */
  readonly set: (sourceId: string, targetId: string, tied: boolean) => boolean
  readonly has: (sourceId: string, targetId: string) => boolean
  /** Those to whom a user is tied, the latest first. */
  readonly targets: (options: PageRequest & { readonly userId: string }) => Page<Users.User>
}

/** The ties in one table of a database. `onTie` runs with every new one. */
export const make = (
  database: Database,
  table: "blocks" | "dm_blocks" | "mutes",
  onTie: (sourceId: string, targetId: string) => void = () => {}
): Ties => {
  const add = database.command(`INSERT OR IGNORE INTO ${table} (source_id, target_id) VALUES (:source, :target)`)
  const remove = database.command(`DELETE FROM ${table} WHERE source_id = :source AND target_id = :target`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE source_id = :source AND target_id = :target`)
  const targets = pager<Users.Row, Users.User>(database, {
    select: Users.columns,
    from: `${table} t JOIN users u ON u.id = t.target_id`,
    where: "t.source_id = :user",
    key: "t.key"
  }, Users.decode)
  const pair = (sourceId: string, targetId: string) => ({
    source: Snowflake.parse(sourceId),
    target: Snowflake.parse(targetId)
  })

  return {
    set: (sourceId, targetId, tied) =>
      database.transaction(() => {
        const changed = (tied ? add : remove)(pair(sourceId, targetId)) > 0
        if (changed && tied) onTie(sourceId, targetId)
        return tied
      }),
    has: (sourceId, targetId) => has.get(pair(sourceId, targetId)) !== undefined,
    targets: ({ userId, ...request }) => targets({ user: Snowflake.parse(userId) }, unbounded, request)
  }
}
