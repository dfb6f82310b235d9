/**
 * Parameters, options, progress, plans, results and errors of keeping a webhook.
 *
 * @stability experimental
 */
import type { CallOptions } from "../client/CallOptions.ts"
import type { OperationError, OutcomeUnknown, PaginationStuck } from "../errors/Errors.ts"
import type { WebhookError } from "../errors/WebhookErrors.ts"
import type { ActivitySubscription, EventType } from "../schema/models/Activity.ts"
import type { ActivityFilter, Open } from "../schema/Parameters.ts"
import type { Scope } from "../schema/Scopes.ts"

/** A desired subscription: a type of event, and the account or keyword that it is about. */
export interface WantedSubscription {
  readonly event_type: Open<EventType>
  readonly filter: ActivityFilter
  /** Delivered with the events. Without one, a subscription keeps the tag that it has: the service cannot remove a tag. */
  readonly tag?: string | undefined
}

/** A desired webhook. */
export interface WantedWebhook {
  readonly url: string
  readonly subscriptions: ReadonlyArray<WantedSubscription>
}

/** A registered webhook. */
export interface RegisteredWebhook {
  readonly id: string
  readonly url: string
  /** False after a failed challenge: nothing is delivered until one is answered. */
  readonly valid: boolean
  readonly created_at: string
}

/** Options of a plan. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Keeps subscriptions of the webhook that are not desired. Default false: they are deleted. */
  readonly keep?: boolean | undefined
  /** How many subscriptions the app may have. Default 1,500; Enterprise has 75,000. */
  readonly cap?: number | undefined
}

/** Options of keeping a webhook. */
export interface KeepOptions extends PlanOptions {
  /** Deletes all subscriptions of the webhook if none is desired. Default false: an empty list is refused. */
  readonly allowEmpty?: boolean | undefined
  /** Called with each step. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** A step. */
export type Progress =
  | { readonly step: "registered" | "validated"; readonly webhook: RegisteredWebhook }
  | {
    readonly step: "added" | "changed" | "deleted"
    readonly subscriptions: ReadonlyArray<ActivitySubscription>
  }

/** A subscription to add. */
export interface Addition extends WantedSubscription {
  /** The scope that its user must have granted to the app, as the events are private. */
  readonly scope?: Scope | undefined
}

/** A change of a subscription. */
export interface Change {
  /** The present subscription. */
  readonly subscription: ActivitySubscription
  /** The new tag, if it changes. */
  readonly tag?: string | undefined
  /** True if its events went to another webhook, or to none, before. */
  readonly isMoved: boolean
}

/** The changes that lead to the desired webhook. */
export interface WebhookPlan {
  readonly url: string
  /** `create`: to be registered. `validate`: the service has marked it invalid. `present`: nothing to do. */
  readonly action: "create" | "validate" | "present"
  /** The registered webhook, if there is one with this address. */
  readonly webhook?: RegisteredWebhook | undefined
  /** The number of subscriptions of the app. */
  readonly subscriptions: number
  /** The maximum. */
  readonly cap: number
  readonly add: ReadonlyArray<Addition>
  readonly change: ReadonlyArray<Change>
  readonly remove: ReadonlyArray<ActivitySubscription>
  /** Desired subscriptions that are present. */
  readonly present: ReadonlyArray<ActivitySubscription>
  /** Subscriptions of the webhook that are not desired and stay. */
  readonly kept: ReadonlyArray<ActivitySubscription>
}

/** The result. */
export interface KeptWebhook {
  readonly webhook: RegisteredWebhook
  /** The desired subscriptions, in their order. */
  readonly subscriptions: ReadonlyArray<ActivitySubscription>
  readonly added: ReadonlyArray<ActivitySubscription>
  /** Those with another tag, or of another webhook before. */
  readonly changed: ReadonlyArray<ActivitySubscription>
  readonly removed: ReadonlyArray<ActivitySubscription>
  readonly kept: ReadonlyArray<ActivitySubscription>
}

/** The errors of a plan. */
export type PlanError = OperationError | PaginationStuck

/** The errors of keeping a webhook. After any of them, the same call continues the work. */
export type KeepError = PlanError | OutcomeUnknown | WebhookError
