/** Events of activity: which ones a change makes, and which subscriptions get them. */
import { eventPrices, type EventType, scopeOf } from "@postwire/core/schema/models/Activity"
import type { ReadRow } from "@postwire/core/schema/Price"
import * as Effect from "effect/Effect"
import type * as Scoped from "effect/Scope"
import { randomBytes } from "node:crypto"
import type { Problem } from "../http/Problem.ts"
import type { Resource } from "../projection/Projection.ts"
import type { Subscription } from "../store/Activity.ts"
import type { Store } from "../store/Store.ts"
import type { Webhook } from "../store/Webhooks.ts"
import type { Verdict } from "./Challenge.ts"
import * as Happenings from "./Happenings.ts"

/** Delivers events to webhooks. */
export interface Deliveries {
  /** Sends a challenge to an address. */
  readonly check: (webhook: Pick<Webhook, "appId" | "url">) => Effect.Effect<Verdict>
  /** Checks a webhook and notes the outcome. */
  readonly validate: (webhook: Webhook) => Effect.Effect<Verdict>
  /** Delivers an event. Its app pays by the row, if there is one. */
  readonly deliver: (webhook: Webhook, event: Event, row: ReadRow | undefined) => void
  /** Delivers a post of the filtered stream: the JSON that the stream has. */
  readonly deliverPost: (
    webhook: Webhook,
    post: { readonly id: string; readonly text: string; readonly resources: ReadonlyArray<Resource> }
  ) => void
  /** Delivers the events between two times in milliseconds again. */
  readonly replay: (
    webhook: Webhook,
    from: number,
    to: number
  ) => Effect.Effect<{ readonly job_id: string; readonly created_at: string }, Problem>
}

/** An event of a subscription, in neutral names. */
export interface Event {
  /** A 64-bit integer, which may be negative. It is of this event for this subscription. */
  readonly event_uuid: string
  readonly filter: Subscription["filter"]
  readonly event_type: EventType
  readonly tag?: string
  readonly payload: object
  readonly includes?: object
}

/** An event on its way to an app. */
export interface Addressed {
  readonly appId: string
  readonly webhook: Webhook | undefined
  readonly event: Event
  /** The row of its price; undefined if it is free. */
  readonly row: ReadRow | undefined
}

export interface Dependencies extends Happenings.Scene {
  readonly publish: (addressed: Addressed) => void
}

/** The values at dotted paths of a payload. */
export type Changes = Readonly<Record<string, unknown>>

/** The outcome of a trigger. */
export interface Triggered {
  /** The events that subscriptions got; without any, the event that one would have got. */
  readonly events: ReadonlyArray<Event>
  /** The number of subscriptions that got it. */
  readonly subscriptions: number
}

/** True for events between two users, which a subscription can select by their direction. */
export const isDirected = (type: EventType): boolean => /^(follow|like|post\.\w+)\.\w+$/.test(type)

/** Starts the events of a service; they end with the scope. */
export const make = Effect.fnUntraced(
  function*(dependencies: Dependencies): Effect.fn.Return<Events, never, Scoped.Scope> {
    const events = new Events(dependencies)
    const { store } = dependencies
    const unsubscribe = store.events.subscribe((change) => {
      if (!events.isAwaited()) return
      for (const happening of Happenings.ofChange(change, dependencies)) events.emit(happening)
    })
    yield* Effect.addFinalizer(() => Effect.sync(unsubscribe))
    return events
  }
)

/** The events of a service. */
export class Events {
  readonly #dependencies: Dependencies
  readonly #store: Store["Service"]
  #trigger:
    | {
      readonly type: EventType
      readonly userId: string
      readonly changes: Changes
      readonly made: Array<Event>
      count: number
    }
    | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#store = dependencies.store
  }

  /** True if a subscription or a trigger could get an event. */
  isAwaited(): boolean {
    return this.#trigger !== undefined || !this.#store.activity.isEmpty()
  }

  /** Sends an event to the subscriptions that select it. */
  emit(happening: Happenings.Happening): void {
    const trigger = this.#trigger?.type === happening.type ? this.#trigger : undefined
    const subscriptions = this.#selecting(happening)
    if (subscriptions.length === 0 && (trigger === undefined || trigger.made.length > 0)) return
    const content = happening.content()
    if (content === undefined) return
    const price = eventPrices[happening.type]
    const row = price === "free" ? undefined : price
    for (const [path, value] of Object.entries(trigger?.changes ?? {})) change(content.payload, path, value)
    for (const subscription of subscriptions) {
      const { appId, webhookId } = subscription
      const event = eventOf(happening, subscription, content)
      if (trigger !== undefined) {
        // An earlier user of the same happening had no subscription.
        if (trigger.count++ === 0) trigger.made.length = 0
        trigger.made.push(event)
      }
      const webhook = webhookId === undefined ? undefined : this.#store.webhooks.byId(webhookId)
      this.#dependencies.publish({ appId, event, webhook, row })
    }
    if (subscriptions.length > 0 || trigger === undefined) return
    const filter = happening.parties.length === 0 ? {} : { user_id: trigger.userId }
    trigger.made.push(eventOf(happening, { filter }, content))
  }

  /** Collects the events of a type about a user that `act` makes, after changes to their payloads. */
  triggered(type: EventType, userId: string, changes: Changes, act: () => void): Triggered {
    const trigger = this.#trigger = { type, userId, changes, made: [], count: 0 }
    try {
      act()
    } finally {
      this.#trigger = undefined
    }
    return { events: trigger.made, subscriptions: trigger.count }
  }

  #selecting(happening: Happenings.Happening): ReadonlyArray<Subscription> {
    const { appId, keywords, parties, type } = happening
    const { activity } = this.#store
    const scope = scopeOf(type)
    const found = parties.length === 0
      ? activity.matching(type, undefined)
      : parties.flatMap(({ direction, userId }) =>
        activity.matching(type, userId).filter(({ filter }) => isDirection(type, filter.direction, direction))
      )
    // A subscription gets an event once, even if its user is on both sides.
    return [...new Map(found.map((subscription) => [subscription.id, subscription])).values()].filter(
      (subscription) => {
        const { filter: { keyword, user_id } } = subscription
        return (appId === undefined || subscription.appId === appId) &&
          (keyword === undefined || keywords?.toLowerCase().includes(keyword.toLowerCase()) === true) &&
          (scope === undefined || user_id !== undefined && activity.isAuthorized(subscription.appId, user_id, scope))
      }
    )
  }
}

/** Without a direction, a subscription gets both, but of mentions, replies, quotes and reposts those by others alone. */
const isDirection = (
  type: EventType,
  wanted: Happenings.Direction | undefined,
  direction: Happenings.Direction | undefined
): boolean => direction === undefined || (wanted ?? (type.startsWith("post.") ? "inbound" : direction)) === direction

const eventOf = (
  { type }: Happenings.Happening,
  { filter, tag }: Pick<Subscription, "filter" | "tag">,
  { includes, payload }: Happenings.Content
): Event => ({
  event_uuid: `${randomBytes(8).readBigInt64BE()}`,
  filter,
  event_type: type,
  ...tag !== undefined && { tag },
  payload,
  ...includes !== undefined && { includes }
})

/** Sets the value at a dotted path, and creates objects on the way. */
const change = (value: object, path: string, set: unknown): void => {
  const [step = "", ...rest] = path.split(".")
  if (!Object.hasOwn(value, step) && step in value) return
  if (rest.length === 0) return void Reflect.set(value, step, set)
  const inner: unknown = Reflect.get(value, step)
  const next = typeof inner === "object" && inner !== null ? inner : {}
  Reflect.set(value, step, next)
  change(next, rest.join("."), set)
}
