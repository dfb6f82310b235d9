/** The rules of apps for the filtered stream. */
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Records from "./Records.ts"

const rule = Records.record("r", {
  id: Records.id(),
  value: Records.text(),
  tag: Records.optional(Records.text())
})

/** A rule. Values are unique within an app. */
export type StreamRule = Records.Of<typeof rule>

export const make = (database: Database) => {
  const nextId = ids(database, "stream_rules")
  const list = database.select(rule, "FROM stream_rules r WHERE app_id = :app ORDER BY r.id")
  const byValue = database.select(rule, "FROM stream_rules r WHERE app_id = :app AND value = :value")
  const count = database.query<{ readonly found: number }>(
    "SELECT count(*) AS found FROM stream_rules WHERE app_id = :app"
  )
  const remove = database.command(
    "DELETE FROM stream_rules WHERE app_id = :app AND id IN (SELECT value FROM json_each(:ids))"
  )
  const appIds = database.query<{ readonly id: string }>(
    "SELECT DISTINCT CAST(app_id AS TEXT) AS id FROM stream_rules ORDER BY app_id"
  )
  let revision = 0
  return {
    /** Returns the id. The value must not exist yet. `createdAt` is in milliseconds. */
    insert: (
      { appId, createdAt, tag, value }: Omit<StreamRule, "id"> & { readonly appId: string; readonly createdAt: number }
    ): string => {
      const id = nextId(createdAt)
      database.insert("stream_rules", { id, app_id: appId, value, tag })
      revision++
      return String(id)
    },
    /** Oldest first. */
    list: (app: string) => list.all({ app }),
    count: (app: string): number => count.get({ app })?.found ?? 0,
    appIds: (): ReadonlyArray<string> => appIds.all().map(({ id }) => id),
    byValue: (app: string, value: string) => byValue.get({ app, value }),
    /** Returns how many of `ids` existed. */
    delete: (app: string, ids: ReadonlyArray<string>): number => {
      revision++
      return remove({ app, ids: idList(ids) })
    },
    /** Changes whenever a rule is added or deleted. */
    revision: (): number => revision
  }
}
