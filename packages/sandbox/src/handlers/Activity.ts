import { type EventType, isEventType, scopeOf } from "@postwire/core/schema/models/Activity"
import { onWire } from "@postwire/core/schema/Scopes"
import * as Effect from "effect/Effect"
import * as Events from "../events/Events.ts"
import * as Problem from "../http/Problem.ts"
import type { Subscription } from "../store/Activity.ts"
import type { Call, Handlers } from "./Handler.ts"
import * as Webhooks from "./Webhooks.ts"

/** The number of subscriptions of an app. */
const maxSubscriptions = 1_500

export const handlers = {
  createActivitySubscription: Effect.fnUntraced(function*(call) {
    const { caller: { appId }, now, parameters: { event_type: eventType, filter, tag }, store: { activity } } = call
    if (!isEventType(eventType)) {
      return yield* Problem.invalidRequest(`The \`event_type\` [${eventType}] is not one that the sandbox knows.`, {
        event_type: eventType
      })
    }
    yield* checkFilter(call, eventType, filter)
    const webhookId = yield* webhookOf(call)
    if (activity.same(appId, eventType, filter) !== undefined) {
      return yield* refusal("DuplicateSubscriptionFailed", "The app has a subscription to these events.")
    }
    if (activity.count(appId) >= maxSubscriptions) {
      return yield* refusal("SubscriptionLimitExceeded", `The app may have ${maxSubscriptions}, and has them.`)
    }
    return changed(call, activity.insert({ appId, eventType, filter, tag, webhookId, now }))
  }),

  getActivitySubscriptions: ({ caller: { appId }, page, store: { activity } }) => {
    const found = activity.page({ appId, ...page })
    return Effect.succeed({
      data: found.items.map(shown),
      meta: { result_count: found.items.length, total_subscriptions: activity.count(appId) },
      page: found
    })
  },

  updateActivitySubscription: Effect.fnUntraced(function*(call) {
    const { now, parameters: { tag }, store: { activity } } = call
    const { id } = yield* named(call)
    activity.update(id, { now, tag, webhookId: yield* webhookOf(call) })
    return changed(call, id)
  }),

  deleteActivitySubscription: (call) =>
    Effect.map(named(call), ({ appId, id }) => {
      const { activity } = call.store
      activity.delete(appId, id)
      return { data: { deleted: true }, meta: { total_subscriptions: activity.count(appId) } }
    }),

  deleteActivitySubscriptions: ({ caller: { appId }, parameters: { ids }, store: { activity, transaction } }) =>
    Effect.sync(() => {
      const deleted = transaction(() => ids.map((id) => ({ subscription_id: id, deleted: activity.delete(appId, id) })))
      const missing = deleted.flatMap((entry) => entry.deleted ? [] : entry.subscription_id)
      return {
        data: deleted,
        errors: missing.map((id) => ({
          ...absent(id, "ids"),
          subscription_id: id,
          reason: "SubscriptionNotFound",
          message: `The app has no subscription ${id}.`
        })),
        meta: { total_subscriptions: activity.count(appId) }
      }
    })
} satisfies Partial<Handlers>

const refusal = (reason: string, detail: string) => Problem.invalidRequest(`${reason}: ${detail}`)

const absent = (id: string, parameter: string) => Problem.notFound({ kind: "activity_subscription", id, parameter })

/** Fails unless a filter fits the type, and the user of private events has authorized the app. */
const checkFilter = (
  { caller: { access, appId }, store: { activity, users } }: Call<unknown>,
  type: EventType,
  { direction, keyword, user_id }: Subscription["filter"]
): Effect.Effect<void, Problem.Problem> => {
  const invalid = (message: string) => Effect.fail(Problem.invalidRequest(message, { event_type: type }))
  if (type === "news.new") {
    if (access !== "research") return Problem.notEnrolled("Enterprise")
    if (!keyword || user_id !== undefined) {
      return invalid("The `filter` of news.new needs a `keyword`, and nothing else.")
    }
  } else if (keyword !== undefined) return invalid("Only news.new has a `keyword`.")
  if (direction !== undefined && !Events.isDirected(type)) return invalid(`Events of ${type} have no \`direction\`.`)
  if (user_id === undefined) {
    return type === "news.new" || type === "oauth.revoke" ? Effect.void : invalid("The `filter` needs a `user_id`.")
  }
  if (users.byId(user_id) === undefined) {
    return Problem.missing(Problem.notFound({ kind: "user", id: user_id, parameter: "filter.user_id" }))
  }
  const scope = scopeOf(type)
  if (scope === undefined || activity.isAuthorized(appId, user_id, scope)) return Effect.void
  const lacking = (scope: string) =>
    `Events of ${type} are private: user ${user_id} has to authorize the app with the scope ${scope}.`
  return Effect.fail(Problem.forbidden(lacking(scope), { onX: lacking(onWire("x", scope)) }))
}

const webhookOf = (call: Call<{ readonly webhook_id?: string }>) => {
  const { webhook_id } = call.parameters
  return webhook_id === undefined
    ? Effect.undefined
    : Effect.map(Webhooks.named({ ...call, parameters: { webhook_id } }), ({ id }) => id)
}

const named = (
  { caller: { appId }, parameters: { subscription_id: id }, store: { activity } }: Call<
    { readonly subscription_id: string }
  >
): Effect.Effect<Subscription, Problem.Problem> => {
  const found = activity.byId(appId, id)
  return found === undefined ? Problem.missing(absent(id, "subscription_id")) : Effect.succeed(found)
}

const changed = ({ caller: { appId }, store: { activity } }: Call<unknown>, id: string) => {
  const found = activity.byId(appId, id)
  return { data: { subscription: found && shown(found), total_subscriptions: activity.count(appId) } }
}

const shown = ({ createdAt, eventType, filter, id, tag, updatedAt, webhookId }: Subscription) => ({
  subscription_id: id,
  event_type: eventType,
  filter,
  tag,
  webhook_id: webhookId,
  created_at: createdAt,
  updated_at: updatedAt
})
