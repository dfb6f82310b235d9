/** Changes a webhook and its subscriptions as planned: new subscriptions before old ones are deleted, if there is room. */
import * as Effect from "effect/Effect"
import { dataOf } from "../../client/DataOf.ts"
import {
  type BadRequest,
  type Forbidden,
  type NotFound,
  type OutcomeUnknown,
  reasonsOf,
  type UnexpectedStatus
} from "../../errors/Errors.ts"
import {
  type RefusedSubscription,
  SubscriptionsRefused,
  webhookRefusals,
  WebhookRefused
} from "../../errors/WebhookErrors.ts"
import { createActivitySubscription, updateActivitySubscription } from "../../operations/Activity.ts"
import { createWebhook, validateWebhook } from "../../operations/Webhooks.ts"
import * as Callback from "../../runtime/Callback.ts"
import { type ActivitySubscription, isEventType, scopeOf } from "../../schema/models/Activity.ts"
import type { KeepOptions, KeptWebhook, Progress, RegisteredWebhook } from "../KeptWebhookOptions.ts"
import { type Differences, differencesOf, type Match, type Planned, type Wish } from "./webhookPlan.ts"
import * as WebhookRequests from "./webhookRequests.ts"

/** How often to continue when a round has settled nothing. */
const maxStalls = 3

/** Why a subscription is not settled, which a look at all of them decides. */
type Doubt = NotFound | OutcomeUnknown

type Refusal = BadRequest | Forbidden | NotFound | UnexpectedStatus

/** Carries out a plan. */
export const apply = (planned: Planned, options: KeepOptions) => new Changes(planned, options).run()

class Changes {
  readonly #planned: Planned
  readonly #options: KeepOptions
  /** The subscriptions that are as desired, by their keys. */
  readonly #settled = new Map<string, ActivitySubscription>()
  readonly #refused = new Map<string, RefusedSubscription>()
  /** True if the service has refused a subscription because there are too many. */
  #isFull = false
  readonly #added: Array<ActivitySubscription> = []
  readonly #changed: Array<ActivitySubscription> = []
  readonly #removed: Array<ActivitySubscription> = []

  constructor(planned: Planned, options: KeepOptions) {
    this.#planned = planned
    this.#options = options
  }

  readonly run = Effect.fnUntraced(function*(this: Changes) {
    const { found, operation, plan, wishes } = this.#planned
    const webhook = yield* this.#register()
    const hasRoom = plan.subscriptions + plan.add.length <= plan.cap
    if (!hasRoom) yield* this.#remove(plan.remove)
    const twins = yield* this.#settle(found, webhook.id)
    if (this.#refused.size > 0) {
      const subscriptions = [...this.#refused.values()].toSorted((one, other) => one.index - other.index)
      return yield* new SubscriptionsRefused({ operation, subscriptions })
    }
    const old = [...twins, ...hasRoom ? plan.remove : []]
    yield* this.#remove([...new Map(old.map((subscription) => [subscription.subscription_id, subscription])).values()])
    const kept: KeptWebhook = {
      webhook,
      subscriptions: wishes.flatMap(({ key }) => this.#settled.get(key) ?? []),
      added: this.#added,
      changed: this.#changed,
      removed: this.#removed,
      kept: plan.kept
    }
    return kept
  })

  #report(progress: Progress): void {
    const { onProgress } = this.#options
    if (onProgress !== undefined) Callback.call(onProgress, progress)
  }

  /** Registers the webhook if it is not there, and enables it if it is invalid. */
  readonly #register = Effect.fnUntraced(function*(this: Changes) {
    const { call, operation, plan: { url, webhook } } = this.#planned
    const refused = (error: Pick<BadRequest, "detail" | "problems" | "title">) => {
      const detail = saidIn(error)
      const reason = webhookRefusals.find((name) => `${detail} ${JSON.stringify(error.problems)}`.includes(name))
      return new WebhookRefused({ operation, url, detail, reason })
    }
    // Another run may have registered it, or this one, whose answer was lost.
    const found = <E>(error: E) =>
      Effect.flatMap(
        WebhookRequests.webhookAt(url, call),
        (webhook) => webhook === undefined ? Effect.fail(error) : Effect.succeed(webhook)
      )
    const registered: RegisteredWebhook = webhook ?? (yield* dataOf("createWebhook", createWebhook({ url }, call)).pipe(
      Effect.tap((webhook) => Effect.sync(() => this.#report({ step: "registered", webhook }))),
      Effect.catchTags({
        BadRequest: (error) => found(refused(error)),
        OutcomeUnknown: (error) => found(error),
        UnexpectedStatus: (error) => found(error)
      })
    ))
    if (registered.valid) return registered
    const { valid } = yield* dataOf("validateWebhook", validateWebhook({ webhook_id: registered.id }, call)).pipe(
      Effect.catchTag("BadRequest", (error) => Effect.fail(refused(error)))
    )
    if (!valid) {
      return yield* refused({ problems: [{ message: "CrcValidationFailed: no right answer to the challenge" }] })
    }
    const enabled = { ...registered, valid }
    this.#report({ step: "validated", webhook: enabled })
    return enabled
  })

  /** Adds and changes subscriptions until all are as desired or refused, and returns those that are there twice. */
  readonly #settle = Effect.fnUntraced(function*(this: Changes, planned: Differences, webhookId: string) {
    const { call, wishes } = this.#planned
    let found = planned
    let least = Infinity
    let stalls = 0
    let isDone = false
    for (;;) {
      // One that another run has added was refused as a duplicate.
      for (const { subscription, wish } of found.present) {
        this.#settled.set(wish.key, subscription)
        this.#refused.delete(wish.key)
      }
      if (isDone) return found.twins
      const missing = found.missing.filter(({ key }) => !this.#refused.has(key))
      const different = found.different.filter(({ wish }) => !this.#refused.has(wish.key))
      const open = missing.length + different.length
      if (open === 0) return found.twins
      stalls = open < least ? 0 : stalls + 1
      least = Math.min(least, open)
      const doubt = yield* this.#round(missing, different, webhookId)
      if (doubt !== undefined && stalls === maxStalls) return yield* doubt
      // A list may lag behind changes: what the service has confirmed is not added again because it is not listed.
      isDone = doubt === undefined
      found = differencesOf(wishes, yield* WebhookRequests.subscriptions(call), webhookId)
    }
  })

  /** Sends each change once, and returns the last doubt. */
  readonly #round = Effect.fnUntraced(
    function*(this: Changes, missing: ReadonlyArray<Wish>, different: ReadonlyArray<Match>, webhookId: string) {
      let doubt: Doubt | undefined
      for (const match of different) doubt = (yield* this.#change(match, webhookId)) ?? doubt
      for (const wish of missing) {
        doubt = (yield* this.#add(wish, webhookId)) ?? doubt
        // A service that fails or is full is not sent the rest.
        if (doubt?._tag === "OutcomeUnknown" || this.#isFull) break
      }
      return doubt
    }
  )

  #add(wish: Wish, webhookId: string) {
    const { event_type, filter, key, tag } = wish
    const refuse = (error: Refusal) => Effect.sync(() => this.#refuse(wish, error))
    return dataOf(
      "createActivitySubscription",
      createActivitySubscription(
        { event_type, filter, webhook_id: webhookId, ...tag !== undefined && { tag } },
        this.#planned.call
      )
    ).pipe(
      Effect.map(({ subscription }): undefined => {
        this.#settled.set(key, subscription)
        this.#added.push(subscription)
        this.#report({ step: "added", subscriptions: [subscription] })
      }),
      Effect.catchTags({
        BadRequest: refuse,
        Forbidden: refuse,
        NotFound: refuse,
        OutcomeUnknown: (error) => Effect.succeed(error),
        // The documents have no status for a duplicate.
        UnexpectedStatus: (error) => error.status === 409 ? refuse(error) : Effect.fail(error)
      })
    )
  }

  #change({ subscription: { subscription_id }, wish }: Match, webhookId: string) {
    const { key, tag } = wish
    return dataOf(
      "updateActivitySubscription",
      updateActivitySubscription(
        { subscription_id, webhook_id: webhookId, ...tag !== undefined && { tag } },
        this.#planned.call
      )
    ).pipe(
      Effect.map(({ subscription }): undefined => {
        this.#settled.set(key, subscription)
        this.#changed.push(subscription)
        this.#report({ step: "changed", subscriptions: [subscription] })
      }),
      Effect.catchTags({
        BadRequest: (error) => Effect.sync(() => this.#refuse(wish, error)),
        // Another program has deleted it meanwhile.
        NotFound: (error) => Effect.succeed(error)
      })
    )
  }

  #refuse({ filter: { user_id }, index, key, type }: Wish, error: Refusal): undefined {
    this.#isFull ||= /LimitExceeded/.test(saidIn(error))
    const scope = error._tag === "Forbidden" && isEventType(type) ? scopeOf(type) : undefined
    this.#refused.set(key, {
      index,
      event_type: type,
      ...user_id !== undefined && { user_id: String(user_id) },
      detail: saidIn(error),
      ...scope !== undefined && { scope }
    })
  }

  #remove(subscriptions: ReadonlyArray<ActivitySubscription>) {
    return WebhookRequests.remove(subscriptions, this.#planned.call, (deleted) => {
      this.#removed.push(...deleted)
      if (deleted.length > 0) this.#report({ step: "deleted", subscriptions: deleted })
    })
  }
}

const saidIn = (error: Pick<BadRequest, "detail" | "problems" | "title">): string =>
  reasonsOf(error).join("; ") || "it gives no reason"
