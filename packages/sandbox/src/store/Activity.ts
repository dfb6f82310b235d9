/** The subscriptions of apps to events of activity. */
import type { EventType } from "@postwire/core/schema/models/Activity"
import type { Scope } from "@postwire/core/schema/Scopes"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"

const subscription = Records.record("s", {
  id: Records.id(),
  appId: Records.id("app_id"),
  eventType: Records.text<EventType>("event_type"),
  filter: {
    user_id: Records.optional(Records.id()),
    keyword: Records.optional(Records.text()),
    direction: Records.optional(Records.text<"inbound" | "outbound">())
  },
  tag: Records.optional(Records.text()),
  webhookId: Records.optional(Records.id("webhook_id")),
  createdAt: Records.created("id"),
  updatedAt: Records.time("updated_at")
})

/** A subscription to events of one type. */
export type Subscription = Records.Of<typeof subscription>

/** The input of `insert`. `now` is in milliseconds. */
export type NewSubscription = Pick<Subscription, "appId" | "eventType" | "filter" | "tag" | "webhookId"> & {
  readonly now: number
}

/** The parts of a subscription that can change. */
export type Change = Partial<Pick<Subscription, "tag" | "webhookId">> & { readonly now: number }

export const make = (database: Database) => {
  const nextId = ids(database, "activity_subscriptions")
  const of = (where: string) => database.select(subscription, `FROM activity_subscriptions s WHERE ${where}`)
  const byId = of("s.app_id = :app AND s.id = :id")
  const same = of(`s.app_id = :app AND s.event_type = :type AND s.user_id IS :user AND s.keyword IS :keyword
    AND s.direction IS :direction`)
  const matching = of(`s.event_type = :type AND (s.user_id = :user OR :user IS NULL OR s.user_id IS NULL)
    ORDER BY s.id`)
  const pages = pager(database, subscription, {
    from: "activity_subscriptions s",
    where: "s.app_id = :app",
    key: "s.id"
  })
  const latest = database.select(subscription, "FROM activity_subscriptions s ORDER BY s.id DESC LIMIT :limit")
  const any = database.query("SELECT 1 FROM activity_subscriptions LIMIT 1")
  const count = database.query<{ readonly found: number }>(
    "SELECT count(*) AS found FROM activity_subscriptions WHERE app_id = :app"
  )
  const update = database.command(`UPDATE activity_subscriptions SET updated_at = :now, tag = coalesce(:tag, tag),
    webhook_id = coalesce(:webhook, webhook_id) WHERE id = :id`)
  const remove = database.command("DELETE FROM activity_subscriptions WHERE app_id = :app AND id = :id")
  const authorized = database.query(`
    SELECT 1 FROM bearer_tokens t LEFT JOIN grants g ON g.id = t.grant_id
    WHERE t.app_id = :app AND t.user_id = :user AND g.ended_at IS NULL AND instr(' ' || t.scopes || ' ', :scope)
    UNION ALL SELECT 1 FROM access_tokens
    WHERE app_id = :app AND user_id = :user AND (:scope <> ' dm.read ' OR rights = 'read-write-directmessages')`)
  return {
    /** Returns the id. */
    insert: ({ appId, eventType, filter, now, tag, webhookId }: NewSubscription): string => {
      const id = nextId(now)
      database.insert("activity_subscriptions", {
        id,
        app_id: appId,
        event_type: eventType,
        user_id: filter.user_id,
        keyword: filter.keyword,
        direction: filter.direction,
        tag,
        webhook_id: webhookId,
        updated_at: now
      })
      return String(id)
    },
    byId: (app: string, id: string) => byId.get({ app, id }),
    /** The subscription of an app to the same events. */
    same: (app: string, type: string, { direction, keyword, user_id }: Subscription["filter"]) =>
      same.get({ app, type, user: user_id ?? null, keyword: keyword ?? null, direction: direction ?? null }),
    /** The subscriptions of all apps to events of a type about a user, or about anyone; oldest first. */
    matching: (type: EventType, user: string | undefined) => matching.all({ type, user: user ?? null }),
    /** Newest first. */
    page: ({ appId: app, ...request }: PageRequest & { readonly appId: string }) => pages({ app }, unbounded, request),
    /** The subscriptions of all apps, newest first. */
    latest: (limit: number) => latest.all({ limit }),
    isEmpty: (): boolean => any.get() === undefined,
    count: (app: string): number => count.get({ app })?.found ?? 0,
    update: (id: string, { now, tag, webhookId }: Change): void =>
      void update({ id, now, tag: tag ?? null, webhook: webhookId ?? null }),
    /** False if the app has no such subscription. */
    delete: (app: string, id: string): boolean => remove({ app, id }) > 0,
    /** True if a user lets an app read with a scope now. */
    isAuthorized: (app: string, user: string, scope: Scope): boolean =>
      authorized.get({ app, user, scope: ` ${scope} ` }) !== undefined
  }
}
