/** The webhooks and subscriptions of an app as the service keeps them, for requests that take their time. */
import { Effect } from "effect"
import { type Answer, type Received, transportError } from "./Service.ts"

export interface Kept {
  readonly subscription_id: string
  readonly event_type: string
  readonly filter: { readonly user_id?: string; readonly keyword?: string; readonly direction?: string }
  readonly tag?: string | undefined
  readonly webhook_id?: string | undefined
}

export interface Hook {
  readonly id: string
  readonly url: string
  readonly valid: boolean
  readonly created_at: string
}

export interface Options {
  /** Whether the program answers challenges. */
  readonly answers: () => boolean
  /** The status of a refused duplicate. Default 400. */
  readonly conflict: number
  /** Whether two subscriptions may be equal. */
  readonly allowsTwins: boolean
  /** Types of events that are refused. */
  readonly refused: ReadonlyArray<string>
  /** Milliseconds that the next request takes to come, or its answer. */
  readonly delay: () => number
  /** Whether the answer to the next create is lost; `before` it has an effect. */
  readonly loses: () => "before" | "after" | undefined
}

const refuse = (status: number, message: string): Answer => ({
  status,
  body: { title: "Invalid Request", detail: "One or more parameters was invalid.", errors: [{ message }] }
})

const keyOf = ({ event_type, filter: { direction, keyword, user_id } }: Pick<Kept, "event_type" | "filter">) =>
  JSON.stringify([event_type, user_id, keyword, direction])

export const make = (
  hooks: ReadonlyArray<Hook>,
  initial: ReadonlyArray<Omit<Kept, "subscription_id">>,
  options: Partial<Options> = {}
) => {
  const {
    allowsTwins = false,
    answers = () => true,
    conflict = 400,
    delay = () => 0,
    loses = () => undefined,
    refused = []
  } = options
  let made = 0
  let webhooks = hooks
  let subscriptions: ReadonlyArray<Kept> = initial.map((one) => ({ ...one, subscription_id: String(++made) }))
  let most = subscriptions.length

  const register = (url: string): Answer => {
    if (!answers()) return refuse(400, "CrcValidationFailed: the address answered 404")
    if (webhooks.some((webhook) => webhook.url === url)) return refuse(conflict, "DuplicateUrlFailed: it is there")
    const webhook = { id: `${900 + webhooks.length}`, url, valid: true, created_at: "2026-11-24T12:00:00Z" }
    webhooks = [...webhooks, webhook]
    return { body: { data: webhook } }
  }

  const validate = (id: string): Answer => {
    const valid = answers()
    webhooks = webhooks.map((webhook) => webhook.id === id ? { ...webhook, valid } : webhook)
    return valid ? { body: { data: { valid } } } : refuse(400, "CrcValidationFailed: the address answered 404")
  }

  const changed = (subscription: Kept): Answer => ({
    body: { data: { subscription, total_subscriptions: subscriptions.length } }
  })

  const add = (wanted: Omit<Kept, "subscription_id">): Answer => {
    if (refused.includes(wanted.event_type)) {
      return { status: 403, body: { title: "Forbidden", detail: `Events of ${wanted.event_type} are private` } }
    }
    if (!allowsTwins && subscriptions.some((one) => keyOf(one) === keyOf(wanted))) {
      return refuse(conflict, "DuplicateSubscriptionFailed: it is there")
    }
    const subscription = { subscription_id: String(++made), ...wanted }
    subscriptions = [subscription, ...subscriptions]
    most = Math.max(most, subscriptions.length)
    return changed(subscription)
  }

  const update = (id: string, change: Partial<Kept>): Answer => {
    subscriptions = subscriptions.map((one) => one.subscription_id === id ? { ...one, ...change } : one)
    const found = subscriptions.find((one) => one.subscription_id === id)
    return found === undefined ? { status: 404, body: { title: "Not Found" } } : changed(found)
  }

  const remove = (ids: ReadonlyArray<string>): Answer => {
    const present = new Set(subscriptions.map((one) => one.subscription_id))
    subscriptions = subscriptions.filter((one) => !ids.includes(one.subscription_id))
    return {
      body: {
        data: ids.map((id) => ({ subscription_id: id, deleted: present.has(id) })),
        errors: ids.filter((id) => !present.has(id)).map((id) => ({
          subscription_id: id,
          reason: "SubscriptionNotFound"
        }))
      }
    }
  }

  const answer = ({ body, method, path, query }: Received): Answer => {
    const [, , area, second = "", id = ""] = path.split("/")
    const sent = body === "" ? {} : JSON.parse(body)
    if (area === "webhooks") {
      return method === "GET"
        ? { body: { data: webhooks, meta: { result_count: webhooks.length } } }
        : method === "POST"
        ? register(sent.url)
        : validate(second)
    }
    return method === "GET"
      ? { body: { data: subscriptions } }
      : method === "POST"
      ? add(sent)
      : method === "PUT"
      ? update(id, sent)
      : remove((query["ids"] ?? "").split(","))
  }

  return {
    webhooks: () => webhooks,
    subscriptions: () => subscriptions,
    most: () => most,
    answer: (request: Received) =>
      Effect.gen(function*() {
        yield* Effect.sleep(delay())
        const lost = request.method === "POST" ? loses() : undefined
        if (lost === "before") return yield* transportError(new Error("reset"))
        const answered = answer(request)
        yield* Effect.sleep(delay())
        return lost === "after" ? yield* transportError(new Error("reset")) : answered
      })
  }
}
