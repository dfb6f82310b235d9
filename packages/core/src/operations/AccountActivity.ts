/** Account Activity: all events of some users, for one webhook. The service has deprecated it: use the operations of `Activity`. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"

const webhook_id = /*#__PURE__*/ Parameters.required(Parameters.id)

const subscribed = /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ subscribed: Schema.Boolean }))

/** Declares an operation for the user whose events are delivered. */
const forUser = <const D extends Pick<Definition, "name" | "summary" | "route" | "effect">>(own: D) =>
  Operation.make({
    ...own,
    path: { webhook_id },
    userAuth: true,
    result: subscribed,
    limits: {},
    scopes: ["dm.read", "dm.write", "post.read", "users.read"],
    price: "free"
  })

/**
 * Delivers all events of the authenticated user to a webhook. Credential: the user's, with the scopes `dm.read`, `dm.write`,
 * `post.read` and `users.read`.
 *
 * ```ts
 * yield* createAccountActivitySubscription({ webhook_id: "1146654567674912769" })
 * ```
 *
 * @deprecated The service replaces it by `createActivitySubscription`.
 */
export const createAccountActivitySubscription = /*#__PURE__*/ forUser({
  name: "createAccountActivitySubscription",
  summary: "Delivers all events of the user to a webhook.",
  route: "POST /2/account_activity/webhooks/:webhook_id/subscriptions/all",
  effect: "toggle"
})

/**
 * Tests whether the events of the authenticated user are delivered to a webhook. Credential: the user's.
 *
 * ```ts
 * const { data } = yield* checkAccountActivitySubscription({ webhook_id: "1146654567674912769" })
 * ```
 *
 * @deprecated The service replaces it by `getActivitySubscriptions`.
 */
export const checkAccountActivitySubscription = /*#__PURE__*/ forUser({
  name: "checkAccountActivitySubscription",
  summary: "Tests whether the events of the user are delivered to a webhook.",
  route: "GET /2/account_activity/webhooks/:webhook_id/subscriptions/all",
  effect: "read"
})

/**
 * Lists the users whose events are delivered to a webhook. Credential: the app's bearer token.
 *
 * ```ts
 * const { data } = yield* getAccountActivitySubscriptions({ webhook_id: "1146654567674912769" })
 * ```
 *
 * @deprecated The service replaces it by `getActivitySubscriptions`.
 */
export const getAccountActivitySubscriptions = /*#__PURE__*/ app({
  name: "getAccountActivitySubscriptions",
  summary: "Lists the users whose events are delivered to a webhook.",
  route: "GET /2/account_activity/webhooks/:webhook_id/subscriptions/all/list",
  path: { webhook_id },
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({
    application_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    webhook_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    webhook_url: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    subscriptions: /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({ user_id: Schema.String }))
  })),
  limits: {},
  effect: "read"
})

/**
 * Ends the delivery of the events of a user. Credential: the app's bearer token.
 *
 * ```ts
 * yield* deleteAccountActivitySubscription({ webhook_id: "1146654567674912769", user_id: "2244994945" })
 * ```
 *
 * @deprecated The service replaces it by `deleteActivitySubscription`.
 */
export const deleteAccountActivitySubscription = /*#__PURE__*/ app({
  name: "deleteAccountActivitySubscription",
  summary: "Ends the delivery of the events of a user.",
  route: "DELETE /2/account_activity/webhooks/:webhook_id/subscriptions/:user_id/all",
  path: { webhook_id, user_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: subscribed,
  limits: {},
  effect: "toggle"
})

/** The service writes the counts as text, its other numbers as numbers: `Number(count)` reads both. */
const count = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Union([Schema.String, Schema.Int]))

/**
 * Counts the users whose events are delivered. Credential: the app's bearer token.
 *
 * ```ts
 * const { data } = yield* getAccountActivitySubscriptionCount()
 * ```
 *
 * @deprecated The service replaces it by `getActivitySubscriptions`.
 */
export const getAccountActivitySubscriptionCount = /*#__PURE__*/ app({
  name: "getAccountActivitySubscriptionCount",
  summary: "Counts the users whose events are delivered.",
  route: "GET /2/account_activity/subscriptions/count",
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({
    account_name: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    provisioned_count: count,
    subscriptions_count_all: count,
    subscriptions_count_direct_messages: count
  })),
  limits: {},
  effect: "read"
})
