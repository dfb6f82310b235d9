/** The webhooks of apps, and the users of Account Activity whose events they get. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import * as Records from "./Records.ts"
import * as Relation from "./Relation.ts"

const webhook = Records.record("w", {
  id: Records.id(),
  appId: Records.id("app_id"),
  url: Records.text(),
  /** False after a failed check. */
  valid: Records.flag(),
  /** Milliseconds. */
  createdAt: Records.millis("id"),
  /** When it last passed a check, in milliseconds. */
  checkedAt: Records.number("checked_at"),
  /** When it was linked to the filtered stream, in milliseconds. */
  linkedAt: Records.optional(Records.number("linked_at"))
})

/** An address of an app. */
export type Webhook = Records.Of<typeof webhook>

export const make = (database: Database) => {
  const nextId = ids(database, "webhooks")
  const all = database.select(webhook, "FROM webhooks w ORDER BY w.id")
  const ofApp = database.select(webhook, "FROM webhooks w WHERE w.app_id = :app ORDER BY w.id")
  const byId = database.select(webhook, "FROM webhooks w WHERE w.id = :id")
  const linked = database.select(webhook, "FROM webhooks w WHERE w.linked_at IS NOT NULL ORDER BY w.id")
  const setChecked = database.command("UPDATE webhooks SET valid = 1, checked_at = :at WHERE id = :id")
  const setInvalid = database.command("UPDATE webhooks SET valid = 0 WHERE id = :id")
  const link = database.command("UPDATE webhooks SET linked_at = :at WHERE id = :id")
  const accounts = Relation.make(database, "account_activity", ["webhook_id", "user_id"])
  const users = database.query<{ readonly id: string }>(
    "SELECT CAST(user_id AS TEXT) AS id FROM account_activity WHERE webhook_id = :id ORDER BY user_id"
  )
  const removals = [
    "DELETE FROM webhooks WHERE id = :id",
    "DELETE FROM account_activity WHERE webhook_id = :id",
    "UPDATE activity_subscriptions SET webhook_id = NULL WHERE webhook_id = :id"
  ].map(database.command)
  return {
    /** Returns the id. The app must not have the URL yet. `createdAt` is in milliseconds. */
    insert: ({ appId, createdAt, url }: Pick<Webhook, "appId" | "createdAt" | "url">): string => {
      const id = nextId(createdAt)
      database.insert("webhooks", { id, app_id: appId, url, valid: true, checked_at: createdAt })
      return String(id)
    },
    /** Oldest first, here and below. */
    all: () => all.all(),
    ofApp: (app: string) => ofApp.all({ app }),
    byId: (id: string) => byId.get({ id }),
    /** Those that are linked to the filtered stream. */
    linked: () => linked.all(),
    /** Makes a webhook valid that has passed a check at a time in milliseconds. */
    setChecked: (id: string, at: number): void => void setChecked({ id, at }),
    setInvalid: (id: string): void => void setInvalid({ id }),
    /** Links a webhook to the filtered stream at a time in milliseconds, or unlinks it. */
    link: (id: string, at: number | undefined): void => void link({ id, at: at ?? null }),
    /** Deletes a webhook. Subscriptions that name it remain without one. */
    delete: (id: string): void => database.transaction(() => removals.forEach((remove) => remove({ id }))),
    /** The users of Account Activity whose events a webhook gets. */
    accounts: { ...accounts, of: (id: string): ReadonlyArray<string> => users.all({ id }).map((user) => user.id) }
  }
}
