/** Blocks (of everything or of messages alone) and mutes. */
import type { Database } from "./Database.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Relation from "./Relation.ts"
import * as Users from "./Users.ts"

/** One kind of restriction. */
export type Restrictions = ReturnType<typeof make>

/** `changed` runs for every restriction that begins or ends. */
export const make = (
  database: Database,
  table: "blocks" | "dm_blocks" | "mutes",
  changed: (sourceId: string, targetId: string, restricted: boolean) => void = () => {}
) => {
  const { has, set } = Relation.make(database, table, ["source_id", "target_id"])
  const targets = Users.pages(database, {
    from: `${table} t JOIN users u ON u.id = t.target_id`,
    where: "t.source_id = :user",
    key: "t.key"
  })
  return {
    /** Adds or removes a restriction. Idempotent; returns the new state. */
    set: (sourceId: string, targetId: string, restricted: boolean): boolean =>
      database.transaction(() => {
        if (set(sourceId, targetId, restricted)) changed(sourceId, targetId, restricted)
        return restricted
      }),
    has,
    /** The accounts that a user restricts, latest first. */
    targets: ({ userId: user, ...request }: PageRequest & { readonly userId: string }) =>
      targets({ user }, unbounded, request)
  }
}
