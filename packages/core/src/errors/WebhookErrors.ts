/** Errors of keeping a webhook, beside those of the calls themselves; re-exported by `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import type { Scope } from "../schema/Scopes.ts"

/** The names that the service has for refusals of a webhook. */
export const webhookRefusals = [
  "CrcValidationFailed",
  "UrlValidationFailed",
  "DuplicateUrlFailed",
  "WebhookLimitExceeded"
] as const

/** Why the service refuses a webhook. */
export type WebhookRefusal = (typeof webhookRefusals)[number]

const advices: { readonly [R in WebhookRefusal]?: string } = {
  CrcValidationFailed:
    "The program must be running, and answer challenges at this address within three seconds with the consumer secret of this app.",
  UrlValidationFailed: "The address must be public, begin with https:// and name no port.",
  WebhookLimitExceeded: "Delete a webhook that the app no longer needs."
}

/** The service refuses to register or to enable a webhook. No subscription was changed. */
export class WebhookRefused extends Data.TaggedError("WebhookRefused")<{
  readonly operation: string
  readonly url: string
  /** The service's name of the reason, if it gives a known one. */
  readonly reason?: WebhookRefusal | undefined
  /** The reason that the service gives. */
  readonly detail: string
}> {
  override get message(): string {
    const said = `${this.operation}: the service refuses the webhook ${this.url}: ${this.detail.replace(/\.$/, "")}.`
    return this.advice === undefined ? said : `${said} ${this.advice}`
  }
  get advice(): string | undefined {
    return this.reason && advices[this.reason]
  }
}

/** A refused subscription and the reason. */
export interface RefusedSubscription {
  /** Its index among the desired ones, from 0. */
  readonly index: number
  readonly event_type: string
  readonly user_id?: string | undefined
  /** The reason that the service gives. */
  readonly detail: string
  /** The scope that its user has to grant to the app, if the events are private. */
  readonly scope?: Scope | undefined
}

/** The service refuses some subscriptions. The others were added. Nothing was deleted, unless there was no room for the new ones. */
export class SubscriptionsRefused extends Data.TaggedError("SubscriptionsRefused")<{
  readonly operation: string
  /** All refused subscriptions, in their order. */
  readonly subscriptions: ReadonlyArray<RefusedSubscription>
}> {
  override get message(): string {
    const [first] = this.subscriptions
    if (first === undefined) return `${this.operation}: the service refuses subscriptions.`
    const { detail, event_type, index, user_id } = first
    const others = this.subscriptions.length - 1
    const more = others === 0
      ? ""
      : ` ${others === 1 ? "One other is" : `${others} others are`} refused too.`
    const said = `${this.operation}: the service refuses subscription ${index + 1} (${event_type}${
      user_id === undefined ? "" : ` of ${user_id}`
    }): ${detail.replace(/\.$/, "")}.${more}`
    return this.advice === undefined ? said : `${said} ${this.advice}`
  }
  get advice(): string | undefined {
    const scopes = [...new Set(this.subscriptions.flatMap(({ scope }) => scope ?? []))]
    return scopes.length === 0
      ? undefined
      : `Private events need their user to authorize the app with the scope ${scopes.join(" or ")}.`
  }
}

/** Errors of keeping a webhook, beside those of the calls themselves. */
export type WebhookError = WebhookRefused | SubscriptionsRefused

brand([WebhookRefused, SubscriptionsRefused])
