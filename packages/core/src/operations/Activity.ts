/** Subscriptions to events: which ones the stream of activity and webhooks bring. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { ActivitySubscription, eventTypes, normaliseChange, SubscriptionChange } from "../schema/models/Activity.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"

const limits = { app: { perWindow: 500 } } as const

const subscription_id = /*#__PURE__*/ Parameters.required(Parameters.id)

const tag = /*#__PURE__*/ Parameters.text(200)

const change = /*#__PURE__*/ Response.value(SubscriptionChange, normaliseChange)

/**
 * Subscribes to events of a type. Credential: the app's bearer token; with `user_auth`, the user's.
 *
 * `filter` names the account (`user_id`) or, for news, a `keyword`; `direction` is `inbound` or `outbound`. Private events
 * (mentions, replies, likes, mutes, blocks, messages) need the authorization of that user: `dm.read` for messages, `like.read`,
 * `mute.read`, `block.read`, `broadcast.read`, and `post.read` for the others. The stream brings the events of every
 * subscription, and a webhook those of the subscriptions that name it as `webhook_id`. An app has up to 1,500 subscriptions.
 * `tag` has 1 to 200 characters. Only `tag` and `webhook_id` can be changed afterwards.
 *
 * ```ts
 * const { data } = yield* createActivitySubscription({
 *   event_type: "post.mention.create",
 *   filter: { user_id: "2244994945" },
 *   tag: "mentions"
 * })
 * ```
 */
export const createActivitySubscription = /*#__PURE__*/ Operation.make({
  name: "createActivitySubscription",
  summary: "Subscribes to events of a type.",
  route: "POST /2/activity/subscriptions",
  body: {
    event_type: /*#__PURE__*/ Parameters.required(
      /*#__PURE__*/ Parameters.openChoice(eventTypes, { rule: "must be a type of event, such as post.mention.create" })
    ),
    filter: /*#__PURE__*/ Parameters.required(Parameters.activityFilter),
    tag,
    webhook_id: Parameters.id
  },
  userAuth: false,
  result: change,
  limits,
  scopes: [],
  price: "free",
  effect: "create",
  status: 200,
  confirmWith: "getActivitySubscriptions"
})

/**
 * Lists the subscriptions of the app. Credential: the app's bearer token; with `user_auth`, the user's. `max_results` is 1 to
 * 1000.
 *
 * ```ts
 * const subscriptions = getActivitySubscriptions.items()
 * ```
 */
export const getActivitySubscriptions = /*#__PURE__*/ Operation.makePaged({
  name: "getActivitySubscriptions",
  summary: "Lists the subscriptions of the app.",
  route: "GET /2/activity/subscriptions",
  query: {
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 1000 }),
    pagination_token: Parameters.token
  },
  userAuth: false,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Array(ActivitySubscription)),
  limits,
  paging: { token: "pagination_token", directions: "forward" },
  scopes: ["like.read", "post.read"],
  price: "free",
  effect: "read"
})

/**
 * Changes the tag or the webhook of a subscription. Credential: the app's bearer token.
 *
 * ```ts
 * yield* updateActivitySubscription({ subscription_id: "1146654567674912769", tag: "support" })
 * ```
 */
export const updateActivitySubscription = /*#__PURE__*/ app({
  name: "updateActivitySubscription",
  summary: "Changes the tag or the webhook of a subscription.",
  route: "PUT /2/activity/subscriptions/:subscription_id",
  path: { subscription_id },
  body: { tag, webhook_id: Parameters.id },
  rules: [/*#__PURE__*/ ParameterRule.atLeastOne("tag", "webhook_id")],
  result: change,
  limits,
  effect: "toggle"
})

/**
 * Deletes a subscription. Credential: the app's bearer token.
 *
 * ```ts
 * yield* deleteActivitySubscription({ subscription_id: "1146654567674912769" })
 * ```
 */
export const deleteActivitySubscription = /*#__PURE__*/ app({
  name: "deleteActivitySubscription",
  summary: "Deletes a subscription.",
  route: "DELETE /2/activity/subscriptions/:subscription_id",
  path: { subscription_id },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  limits,
  effect: "toggle"
})

/**
 * Deletes up to 100 subscriptions. Credential: the app's bearer token. Those that could not be deleted are listed in `errors`.
 *
 * ```ts
 * yield* deleteActivitySubscriptions({ ids: ["1146654567674912769", "1146654567674912770"] })
 * ```
 */
export const deleteActivitySubscriptions = /*#__PURE__*/ app({
  name: "deleteActivitySubscriptions",
  summary: "Deletes up to 100 subscriptions.",
  route: "DELETE /2/activity/subscriptions",
  query: { ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.ids(100)) },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({ subscription_id: Schema.String, deleted: Schema.Boolean }))
  ),
  limits: {},
  effect: "toggle"
})
