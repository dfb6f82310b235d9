/** Webhooks: addresses of the app that get events. */
import * as Schema from "effect/Schema"
import { StreamWebhook, Webhook, WebhookReplay } from "../schema/models/Webhook.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const path = { webhook_id: /*#__PURE__*/ Parameters.required(Parameters.id) }

const limits = { app: { perWindow: 450 } } as const

const deleted = /*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })

/**
 * Registers a webhook. Credential: the app's bearer token.
 *
 * `url` has 1 to 200 characters, begins with `https://` and names no port. Before it answers, the service sends a challenge to
 * the address, which the program has to answer within three seconds: `Webhook.make` does that. The refusal of a registration
 * names `CrcValidationFailed`, `UrlValidationFailed`, `DuplicateUrlFailed` or `WebhookLimitExceeded`. An address cannot be
 * changed: delete the webhook and create another.
 *
 * ```ts
 * const webhook = yield* createWebhook({ url: "https://example.com/hook" })
 * ```
 */
export const createWebhook = /*#__PURE__*/ app({
  name: "createWebhook",
  summary: "Registers a webhook.",
  route: "POST /2/webhooks",
  body: { url: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(200)) },
  result: /*#__PURE__*/ Response.one(Webhook),
  limits,
  effect: "create",
  status: 200,
  confirmWith: "getWebhooks"
})

/**
 * Lists the webhooks of the app. Credential: the app's bearer token.
 *
 * ```ts
 * const webhooks = yield* getWebhooks()
 * ```
 */
export const getWebhooks = /*#__PURE__*/ app({
  name: "getWebhooks",
  summary: "Lists the webhooks of the app.",
  route: "GET /2/webhooks",
  query: Selectors.webhook,
  result: /*#__PURE__*/ Response.many(Webhook),
  limits,
  effect: "read"
})

/**
 * Sends a challenge to a webhook now, and enables it again if the answer is right. Credential: the app's bearer token.
 *
 * ```ts
 * const { data } = yield* validateWebhook({ webhook_id: "1146654567674912769" })
 * ```
 */
export const validateWebhook = /*#__PURE__*/ app({
  name: "validateWebhook",
  summary: "Checks a webhook now, and enables it again.",
  route: "PUT /2/webhooks/:webhook_id",
  path,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ valid: Schema.Boolean })),
  limits,
  effect: "toggle"
})

/**
 * Deletes a webhook. Credential: the app's bearer token.
 *
 * ```ts
 * yield* deleteWebhook({ webhook_id: "1146654567674912769" })
 * ```
 */
export const deleteWebhook = /*#__PURE__*/ app({
  name: "deleteWebhook",
  summary: "Deletes a webhook.",
  route: "DELETE /2/webhooks/:webhook_id",
  path,
  result: /*#__PURE__*/ Response.value(deleted),
  limits,
  effect: "toggle"
})

/**
 * Delivers again the events of the last 24 hours that were delivered to a webhook, or should have been. Credential: the app's
 * bearer token.
 *
 * `from_date` and `to_date` are instants, sent in whole minutes: the service accepts a beginning at least 31 minutes ago and an
 * end at least 10 minutes ago, and advises spans of about two hours. A webhook has one job at a time. Replayed events are not
 * marked, and are not sent again if the delivery fails. The end of the job is delivered as `replay_job_status`.
 *
 * ```ts
 * const job = yield* replayWebhook({
 *   webhook_id: "1146654567674912769",
 *   from_date: "2026-11-02T08:00:00Z",
 *   to_date: "2026-11-02T10:00:00Z"
 * })
 * ```
 */
export const replayWebhook = /*#__PURE__*/ app({
  name: "replayWebhook",
  summary: "Delivers past events to a webhook again.",
  route: "POST /2/webhooks/replay",
  body: {
    webhook_id: /*#__PURE__*/ Parameters.required(Parameters.id),
    from_date: /*#__PURE__*/ Parameters.required(Parameters.minute),
    to_date: /*#__PURE__*/ Parameters.required(Parameters.minute)
  },
  result: /*#__PURE__*/ Response.value(WebhookReplay),
  limits: { app: { perWindow: 100 } },
  effect: "create",
  status: 200
})

/**
 * Delivers the posts that match the rules of the app to a webhook, too. Credential: the app's bearer token. The project must
 * have Enterprise access.
 *
 * ```ts
 * yield* linkStreamWebhook({ webhook_id: "1146654567674912769" })
 * ```
 */
export const linkStreamWebhook = /*#__PURE__*/ app({
  name: "linkStreamWebhook",
  summary: "Delivers the posts of the filtered stream to a webhook.",
  route: "POST /2/posts/search/webhooks/:webhook_id",
  path,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ provisioned: Schema.Boolean })),
  limits: {},
  effect: "toggle",
  selfServe: "none"
})

/**
 * Ends the delivery of the filtered stream to a webhook. Credential: the app's bearer token.
 *
 * ```ts
 * yield* unlinkStreamWebhook({ webhook_id: "1146654567674912769" })
 * ```
 */
export const unlinkStreamWebhook = /*#__PURE__*/ app({
  name: "unlinkStreamWebhook",
  summary: "Ends the delivery of the filtered stream to a webhook.",
  route: "DELETE /2/posts/search/webhooks/:webhook_id",
  path,
  result: /*#__PURE__*/ Response.value(deleted),
  limits: {},
  effect: "toggle",
  selfServe: "none"
})

/**
 * Lists the webhooks that get the posts of the filtered stream. Credential: the app's bearer token.
 *
 * ```ts
 * const links = yield* getStreamWebhooks()
 * ```
 */
export const getStreamWebhooks = /*#__PURE__*/ app({
  name: "getStreamWebhooks",
  summary: "Lists the webhooks that get the posts of the filtered stream.",
  route: "GET /2/posts/search/webhooks",
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Array(StreamWebhook)),
  limits: {},
  effect: "read",
  selfServe: "none"
})
