/** The rules of apps for the filtered stream. */
import type { Database } from "./Database.ts"
import { idList, ids } from "./Ids.ts"
import * as Snowflake from "./Snowflake.ts"

/** A rule. Values are unique within an app. */
export interface StreamRule {
  readonly id: string
  readonly value: string
  readonly tag?: string
}

export interface StreamRules {
  /** Returns the id. The value must not exist yet. `createdAt` is in milliseconds. */
  readonly insert: (rule: Omit<StreamRule, "id"> & { readonly appId: string; readonly createdAt: number }) => string
  /** Oldest first. */
  readonly list: (appId: string) => ReadonlyArray<StreamRule>
  readonly count: (appId: string) => number
  readonly appIds: () => ReadonlyArray<string>
  readonly byValue: (appId: string, value: string) => StreamRule | undefined
  /** Returns how many of `ids` existed. */
  readonly delete: (appId: string, ids: ReadonlyArray<string>) => number
  /** Changes whenever a rule is added or deleted. */
  readonly revision: () => number
}

interface Row {
  readonly id: string
  readonly value: string
  readonly tag: string | null
}

const columns = "CAST(id AS TEXT) AS id, value, tag"

const decode = ({ id, tag, value }: Row): StreamRule => ({ id, value, ...(tag !== null && { tag }) })

export const make = (database: Database): StreamRules => {
  const nextId = ids(database, "stream_rules")
  const insert = database.command("INSERT INTO stream_rules (id, app_id, value, tag) VALUES (:id, :app, :value, :tag)")
  const list = database.queryAs(`SELECT ${columns} FROM stream_rules WHERE app_id = :app ORDER BY id`, decode)
  const byValue = database.queryAs(
    `SELECT ${columns} FROM stream_rules WHERE app_id = :app AND value = :value`,
    decode
  )
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
    insert: ({ appId, createdAt, tag = null, value }) => {
      const id = nextId(createdAt)
      insert({ id, app: Snowflake.parse(appId), value, tag })
      revision++
      return String(id)
    },
    list: (appId) => list.all({ app: Snowflake.parse(appId) }),
    count: (appId) => count.get({ app: Snowflake.parse(appId) })?.found ?? 0,
    appIds: () => appIds.all().map(({ id }) => id),
    byValue: (appId, value) => byValue.get({ app: Snowflake.parse(appId), value }),
    delete: (appId, ids) => {
      revision++
      return remove({ app: Snowflake.parse(appId), ids: idList(ids) })
    },
    revision: () => revision
  }
}
