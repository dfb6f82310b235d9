/** Subscriptions to events on the command line: those of the app, and those of a run. */
import {
  createActivitySubscription,
  deleteActivitySubscription,
  getActivitySubscriptions
} from "@postwire/core/operations/Activity"
import { getMe } from "@postwire/core/operations/Users"
import {
  type ActivitySubscription,
  eventPrices,
  type EventType,
  isEventType
} from "@postwire/core/schema/models/Activity"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as EventTypes from "./EventTypes.ts"

export const flag = Args.many(
  "subscribe",
  "EVENT[:ID]",
  "Subscribe to events of a user (default: yours), of news.new by keyword, until the command ends; repeatable"
)

/** A subscription of a run. */
interface Wanted {
  readonly event_type: EventType
  readonly filter: { readonly user_id?: string; readonly keyword?: string }
}

type Subscription = Wanted | Pick<ActivitySubscription, "event_type" | "filter">

const titleOf = ({ event_type: type, filter: { keyword, user_id: user } }: Subscription): string => {
  const price = isEventType(type) ? eventPrices[type] : "post"
  const about = user ?? keyword
  return `${type}${about === undefined ? "" : ` of ${about}`}, ${
    price === "free" ? "free" : `${Text.dollars(Prices.current.read[price])} each`
  }`
}

/** The most subscriptions shown. */
const shown = 10

/** Shows the subscriptions of the app, and makes those that flags name until the scope ends. */
export const open = Effect.fnUntraced(function*(given: ReadonlyArray<string>, userAuth: boolean) {
  const wanted = yield* Effect.forEach(given, (text) => read(text, userAuth))
  const present: ReadonlyArray<Subscription> = yield* Stream.runCollect(getActivitySubscriptions.items())
  const missing = wanted.filter((one) => !present.some((other) => titleOf(one) === titleOf(other)))
  if (present.length + missing.length === 0) {
    return yield* Report.say(
      "The app has no subscriptions, so no events arrive.",
      "Make one for this run: --subscribe post.mention.create; to keep it: postwire call createActivitySubscription."
    )
  }
  for (const one of missing) yield* subscribed(one, userAuth)
  const titles = [...missing.map((one) => `${titleOf(one)}, for this run`), ...present.map(titleOf)]
  yield* Report.say(`${Text.quantity(titles.length, "subscriptions")}:`)
  yield* Effect.forEach(titles.slice(0, shown), (title) => Report.say(title), { discard: true })
  if (titles.length > shown) yield* Report.say(`and ${Text.count(titles.length - shown)} more`)
})

const read = Effect.fnUntraced(function*(text: string, userAuth: boolean) {
  const [name = "", ...rest] = text.split(":")
  const event_type = yield* EventTypes.known(name)
  const about = rest.join(":")
  if (event_type === "news.new") {
    return about === ""
      ? yield* ErrorReport.refuse("--subscribe news.new needs a keyword", "Write --subscribe news.new:KEYWORD.")
      : { event_type, filter: { keyword: about } }
  }
  if (event_type === "oauth.revoke" && about === "") return { event_type, filter: {} }
  if (about !== "") return { event_type, filter: { user_id: about } }
  const { data } = yield* getMe({ user_auth: userAuth })
  return { event_type, filter: { user_id: data?.id ?? "" } }
})

/** Makes a subscription, and deletes it with the scope. */
const subscribed = (subscription: Wanted, userAuth: boolean) =>
  Effect.acquireRelease(
    createActivitySubscription({ ...subscription, user_auth: userAuth }),
    ({ data }) => {
      const id = data?.subscription.subscription_id ?? ""
      return deleteActivitySubscription({ subscription_id: id }).pipe(
        Effect.catch((error) =>
          Report.insist(
            `The subscription ${id} to ${subscription.event_type} is still there: ${error.message}`,
            `Delete it: postwire call deleteActivitySubscription --subscription-id ${id}`
          )
        )
      )
    }
  )
