/**
 * Keeps a webhook and its subscriptions as desired. Two subscriptions are equal if their event types and filters are equal.
 * Subscriptions of other webhooks, or of none, are left alone unless one of them is equal to a desired one.
 *
 * @stability experimental
 */
import * as Effect from "effect/Effect"
import type { Client } from "../client/Client.ts"
import * as OptionRules from "../client/OptionRules.ts"
import { invalidParameter } from "../errors/Errors.ts"
import type { ActivitySubscription } from "../schema/models/Activity.ts"
import * as WebhookChanges from "./internal/webhookChanges.ts"
import * as Plan from "./internal/webhookPlan.ts"
import * as WebhookRequests from "./internal/webhookRequests.ts"
import type {
  KeepError,
  KeepOptions,
  KeptWebhook,
  PlanError,
  PlanOptions,
  RegisteredWebhook,
  WantedWebhook,
  WebhookPlan
} from "./KeptWebhookOptions.ts"

export type * from "./KeptWebhookOptions.ts"

/**
 * Plans the changes that lead to the desired webhook and subscriptions, without making them.
 *
 * ```ts
 * const { action, add, change, remove } = yield* planWebhook({
 *   url: "https://example.com/hook",
 *   subscriptions: [{ event_type: "post.mention.create", filter: { user_id: "2244994945" }, tag: "mentions" }]
 * })
 * ```
 */
export const planWebhook = (
  desired: WantedWebhook,
  options: PlanOptions = {}
): Effect.Effect<WebhookPlan, PlanError, Client> =>
  WebhookRequests.asApp(Effect.map(Plan.make("planWebhook", desired, options), ({ plan }) => plan))

/**
 * Registers a webhook, validates it if the service has marked it invalid, and makes its subscriptions the desired ones: adds those
 * that are missing, then deletes those that are not desired. The program at the address must be running. Safe to repeat, also after
 * an interruption, and safe to run in several processes with the same desired webhook.
 *
 * Each addition is a request, of which an app has 500 in 15 minutes: more need a client that waits for rate limits.
 *
 * ```ts
 * const { added, removed, webhook } = yield* keepWebhook({
 *   url: "https://example.com/hook",
 *   subscriptions: [{ event_type: "post.mention.create", filter: { user_id: "2244994945" }, tag: "mentions" }]
 * })
 * ```
 */
export const keepWebhook = (
  desired: WantedWebhook,
  options: KeepOptions = {}
): Effect.Effect<KeptWebhook, KeepError, Client> =>
  WebhookRequests.asApp(Effect.gen(function*() {
    const invalid = OptionRules.check<KeepOptions>(operation, options, optionRules)
    if (invalid !== undefined) return yield* invalid
    const planned = yield* Plan.make(operation, desired, options)
    const { remove } = planned.plan
    if (options.allowEmpty !== true && planned.wishes.length === 0 && remove.length > 0) {
      return yield* invalidParameter(
        operation,
        "desired.subscriptions",
        `must not be empty: all ${remove.length} would be deleted. Set allowEmpty: true to delete them`,
        undefined
      )
    }
    return yield* WebhookChanges.apply(planned, options)
  }))

/** The webhooks of an app and its subscriptions. */
export interface Webhooks {
  readonly webhooks: ReadonlyArray<RegisteredWebhook & { readonly subscriptions: ReadonlyArray<ActivitySubscription> }>
  /** Subscriptions without a webhook: only the stream brings their events. */
  readonly subscriptions: ReadonlyArray<ActivitySubscription>
}

/**
 * Lists the webhooks of the app, each with its subscriptions.
 *
 * ```ts
 * const { webhooks } = yield* listWebhooks()
 * ```
 */
export const listWebhooks = (
  options: Pick<PlanOptions, "timeout" | "retries"> = {}
): Effect.Effect<Webhooks, PlanError, Client> =>
  WebhookRequests.asApp(Effect.gen(function*() {
    const webhooks = yield* WebhookRequests.webhooks(options)
    const subscriptions = yield* WebhookRequests.subscriptions(options)
    const ids = new Set(webhooks.map(({ id }) => id))
    const listed: Webhooks = {
      webhooks: webhooks.map((webhook) => ({
        ...webhook,
        subscriptions: subscriptions.filter(({ webhook_id }) => webhook_id === webhook.id)
      })),
      subscriptions: subscriptions.filter(({ webhook_id }) => webhook_id === undefined || !ids.has(webhook_id))
    }
    return listed
  }))

const operation = "keepWebhook"

const optionRules = { allowEmpty: OptionRules.flag, onProgress: OptionRules.callback } as const
