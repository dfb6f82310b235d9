/** Admin calls about events of activity and their deliveries. */
import { eventTypes } from "@postwire/core/schema/models/Activity"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Problem from "../http/Problem.ts"
import { call, type Endpoints, fallible, iso, numberOf, withBody } from "./AdminEndpoint.ts"
import type { Controls } from "./Controls.ts"

/** The maximum number of subscriptions shown. */
const shown = 200

const overview = ({ store: { activity, credentials, users, webhooks } }: Controls) => {
  const nameOf = (app: string) => credentials.appById(app)?.name ?? ""
  return {
    eventTypes,
    webhooks: webhooks.all().map(({ appId, checkedAt, createdAt, linkedAt, ...webhook }) => ({
      ...webhook,
      app: nameOf(appId),
      createdAt: iso(createdAt),
      checkedAt: iso(checkedAt),
      linkedAt: iso(linkedAt)
    })),
    subscriptions: activity.latest(shown).map(({ appId, eventType, filter, id, tag, webhookId }) => ({
      id,
      app: nameOf(appId),
      eventType,
      filter,
      username: filter.user_id === undefined ? undefined : users.byId(filter.user_id)?.username,
      tag,
      webhookId
    }))
  }
}

/** The webhooks and subscriptions. */
export type Overview = ReturnType<typeof overview>

export const endpoints: Endpoints = {
  "GET /events": call("The webhooks, the latest subscriptions of activity, and the types of events.", overview),
  "POST /trigger": withBody(
    "Makes an event of activity: by doing what it is about, or as an example.",
    Schema.Struct({
      event_type: Schema.Literals(eventTypes),
      user_id: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,19}$/))),
      set: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    }),
    ({ trigger }, request) => trigger(request)
  ),
  "GET /deliveries?after&limit": call(
    "The latest requests to webhooks in short; those after an id.",
    ({ deliveries }, { after, limit }) => ({
      deliveries: deliveries.list(numberOf(after, 0, Infinity), numberOf(limit, 200, 10_000))
    })
  ),
  "GET /deliveries/:id": fallible("A request to a webhook in full.", ({ deliveries }, { id }) => {
    const entry = deliveries.entry(Number(id))
    return entry === undefined ? Effect.fail(Problem.noRoute()) : Effect.succeed(entry)
  }),
  "POST /deliveries/:id": fallible("Sends an event to its webhook again.", ({ deliveries }, { id }) =>
    Effect.try({
      try: () => {
        deliveries.resend(Number(id))
        return {}
      },
      catch: (error) => {
        if (error instanceof RangeError) return Problem.invalidRequest(error.message)
        throw error
      }
    }))
}
