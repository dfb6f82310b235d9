/** Plans changes of a webhook and its subscriptions. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { closestMatch } from "leven"
import { Client } from "../../client/Client.ts"
import * as OptionRules from "../../client/OptionRules.ts"
import { type ConflictingIdentifiers, invalidParameter, InvalidParameters } from "../../errors/Errors.ts"
import { createActivitySubscription } from "../../operations/Activity.ts"
import { createWebhook } from "../../operations/Webhooks.ts"
import type { Definition } from "../../schema/Definition.ts"
import { type ActivitySubscription, isEventType, scopeOf } from "../../schema/models/Activity.ts"
import type { ActivityFilter } from "../../schema/Parameters.ts"
import type { PlanOptions, WantedSubscription, WantedWebhook, WebhookPlan } from "../KeptWebhookOptions.ts"
import * as WebhookRequests from "./webhookRequests.ts"

/** A desired subscription. */
export interface Wish extends WantedSubscription {
  readonly index: number
  /** The type of event as the service names it. */
  readonly type: string
  /** Equal for equal subscriptions. */
  readonly key: string
}

/** A desired subscription, and the present one that is equal. */
export interface Match {
  readonly wish: Wish
  readonly subscription: ActivitySubscription
}

/** The differences between the desired subscriptions and those of the app. */
export interface Differences {
  readonly present: ReadonlyArray<Match>
  readonly missing: ReadonlyArray<Wish>
  /** Present with another tag, or not of the webhook. */
  readonly different: ReadonlyArray<Match>
  /** Subscriptions of the webhook that are equal to another one, as runs at the same time may add. */
  readonly twins: ReadonlyArray<ActivitySubscription>
  /** Subscriptions of the webhook that are not desired. */
  readonly others: ReadonlyArray<ActivitySubscription>
}

/** A plan, with the data to carry it out. */
export interface Planned {
  readonly plan: WebhookPlan
  readonly operation: string
  readonly call: WebhookRequests.Call
  readonly wishes: ReadonlyArray<Wish>
  readonly found: Differences
}

const selfServiceCap = 1_500

const optionRules = { cap: OptionRules.whole(1), keep: OptionRules.flag } as const

/** Checks what is desired, and compares it with what the app has. */
export const make = Effect.fnUntraced(function*(operation: string, desired: WantedWebhook, options: PlanOptions) {
  const invalid = OptionRules.check<PlanOptions>(operation, options, optionRules)
  if (invalid !== undefined) return yield* invalid
  const { cap = selfServiceCap, keep = false, retries, timeout } = options
  const call = { retries, timeout }
  const wishes = yield* wishesOf(operation, desired)
  const { url } = desired
  const webhook = yield* WebhookRequests.webhookAt(url, call)
  const current = yield* WebhookRequests.subscriptions(call)
  const found = differencesOf(wishes, current, webhook?.id)
  const [unwanted, kept] = keep ? [[], found.others] : [found.others, []]
  const remove = [...found.twins, ...unwanted]
  const total = current.length + found.missing.length - remove.length
  if (found.missing.length > 0 && total > cap) {
    const rule =
      `would give the app ${total} subscriptions, ${total - wishes.length - kept.length} of them not of this ` +
      `webhook, and the maximum is ${cap}. Omit some, or raise cap if the app may have more`
    return yield* invalidParameter(operation, "desired.subscriptions", rule, undefined)
  }
  const plan: WebhookPlan = {
    url,
    action: webhook === undefined ? "create" : webhook.valid ? "present" : "validate",
    ...webhook !== undefined && { webhook },
    subscriptions: current.length,
    cap,
    add: found.missing.map(({ event_type, filter, tag, type }) => ({
      event_type,
      filter,
      ...tag !== undefined && { tag },
      ...isEventType(type) && scopeOf(type) !== undefined && { scope: scopeOf(type) }
    })),
    change: found.different.map(({ subscription, wish: { tag } }) => ({
      subscription,
      ...tag !== undefined && tag !== subscription.tag && { tag },
      isMoved: webhook === undefined || subscription.webhook_id !== webhook.id
    })),
    remove,
    present: found.present.map(({ subscription }) => subscription),
    kept
  }
  const planned: Planned = { plan, operation, call, wishes, found }
  return planned
})

const wishesOf = Effect.fnUntraced(function*(operation: string, desired: WantedWebhook) {
  const invalid = (parameter: string, rule: string, value: unknown) =>
    Effect.fail(invalidParameter(operation, `desired${parameter}`, rule, value))
  if (!Predicate.isObject(desired)) return yield* invalid("", "must be an object with url and subscriptions", desired)
  const { subscriptions, url } = desired
  const { check } = yield* Client
  const checked = (place: string, definition: Definition, parameters: unknown) =>
    Effect.mapError(check(definition, parameters), (error) => placed(error, operation, `desired${place}`))
  yield* checked("", createWebhook.definition, { url })
  if (!Array.isArray(subscriptions)) {
    return yield* invalid(".subscriptions", "must be a list of subscriptions", subscriptions)
  }
  const wishes = new Map<string, Wish>()
  for (const [index, wanted] of subscriptions.entries()) {
    const place = `.subscriptions[${index}]`
    yield* checked(place, createActivitySubscription.definition, wanted)
    const { event_type, filter } = wanted
    // In a file, it may be null.
    const tag = wanted.tag ?? undefined
    const stranger = Object.keys(filter).find((name) => !filterNames.includes(name))
    if (stranger !== undefined) {
      const meant = closestMatch(stranger, filterNames, { maxDistance: 3 })
      const rule = `is not part of a filter${meant === undefined ? "" : ` (did you mean ${meant}?)`}`
      return yield* invalid(`${place}.filter.${stranger}`, rule, undefined)
    }
    const type = typeof event_type === "string" ? event_type : event_type.unlisted
    const key = keyOf(type, filter)
    const same = wishes.get(key)
    if (same === undefined) wishes.set(key, { event_type, filter, tag, index, type, key })
    else if (same.tag !== tag) {
      return yield* invalid(`${place}.tag`, `must be the tag of subscriptions[${same.index}], which is equal`, tag)
    }
  }
  return [...wishes.values()]
})

const filterNames = ["user_id", "keyword", "direction"]

/** An error of a check in terms of the caller's parameter. */
const placed = (
  error: InvalidParameters | ConflictingIdentifiers,
  operation: string,
  place: string
): InvalidParameters =>
  error._tag === "InvalidParameters"
    ? new InvalidParameters({
      operation,
      ...error.parameter === "parameters"
        ? { parameter: place, rule: "must be an object with event_type and filter" }
        : {
          parameter: `${place}.${error.parameter}`,
          rule: error.rule.replace(/^is not a parameter of \w+/, "is not part of a subscription")
        },
      value: error.value
    })
    : new InvalidParameters({ operation, parameter: place, rule: error.rule })

const keyOf = (
  type: string,
  { direction, keyword, user_id }: ActivityFilter | ActivitySubscription["filter"]
): string => JSON.stringify([type, user_id === undefined ? null : String(user_id), keyword, direction])

/** Compares the desired subscriptions with those of the app. Several runs choose the same one of equal subscriptions. */
export const differencesOf = (
  wishes: ReadonlyArray<Wish>,
  current: ReadonlyArray<ActivitySubscription>,
  webhookId: string | undefined
): Differences => {
  const isOurs = ({ webhook_id }: ActivitySubscription) => webhookId !== undefined && webhook_id === webhookId
  const byKey = Map.groupBy(current, ({ event_type, filter }) => keyOf(event_type, filter))
  const present: Array<Match> = []
  const missing: Array<Wish> = []
  const different: Array<Match> = []
  const twins: Array<ActivitySubscription> = []
  for (const wish of wishes) {
    const [subscription, ...rest] = (byKey.get(wish.key) ?? []).toSorted((one, other) =>
      Number(isOurs(other)) - Number(isOurs(one)) || byAge(one.subscription_id, other.subscription_id)
    )
    byKey.delete(wish.key)
    twins.push(...rest.filter(isOurs))
    if (subscription === undefined) missing.push(wish)
    else {
      const isAsDesired = isOurs(subscription) && (wish.tag === undefined || wish.tag === subscription.tag)
      ;(isAsDesired ? present : different).push({ wish, subscription })
    }
  }
  return { present, missing, different, twins, others: [...byKey.values()].flat().filter(isOurs) }
}

/** Ids are numbers as text. */
const byAge = (one: string, other: string): number => one.length - other.length || (one < other ? -1 : 1)
