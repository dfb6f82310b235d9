/** Requests about webhooks and subscriptions of the app. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CallOptions } from "../../client/CallOptions.ts"
import { Client } from "../../client/Client.ts"
import * as Activity from "../../operations/Activity.ts"
import { getWebhooks } from "../../operations/Webhooks.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { ActivitySubscription } from "../../schema/models/Activity.ts"

/** Options of every request. */
export type Call = Pick<CallOptions, "timeout" | "retries">

const ofApp = ({ definition: { userAuth: _, ...definition } }: { readonly definition: Definition }): Definition => ({
  ...definition,
  bearer: "app",
  scopes: []
})

/** These accept a user's token too, which the service refuses for some types of event and of which it may list only some. */
const definitions: ReadonlyMap<Definition, Definition> = /*#__PURE__*/ new Map([
  [Activity.createActivitySubscription.definition, /*#__PURE__*/ ofApp(Activity.createActivitySubscription)],
  [Activity.getActivitySubscriptions.definition, /*#__PURE__*/ ofApp(Activity.getActivitySubscriptions)]
])

/** Runs an effect whose requests have the token of the app. */
export const asApp = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Client> =>
  Effect.updateService(effect, Client, (client) => ({
    ...client,
    request: (definition, parameters, options) =>
      client.request(definitions.get(definition) ?? definition, parameters, options)
  }))

/** All webhooks of the app. */
export const webhooks = (call: Call) => Effect.map(getWebhooks({}, call), ({ data = [] }) => data)

/** The webhook with an address; `undefined` if there is none. */
export const webhookAt = (url: string, call: Call) =>
  Effect.map(webhooks(call), (all) => all.find((webhook) => webhook.url === url))

/** All subscriptions of the app. */
export const subscriptions = (call: Call) =>
  Stream.runCollect(Activity.getActivitySubscriptions.items({ max_results: 1_000 }, call))

/** The number of subscriptions in a request that deletes some. */
const deletionsAtOnce = 100

/** Deletes subscriptions in groups, and passes on those of each group that this call has deleted. */
export const remove = Effect.fnUntraced(function*(
  subscriptions: ReadonlyArray<ActivitySubscription>,
  call: Call,
  onDeleted: (subscriptions: ReadonlyArray<ActivitySubscription>) => void
) {
  for (let at = 0; at < subscriptions.length; at += deletionsAtOnce) {
    const some = subscriptions.slice(at, at + deletionsAtOnce)
    const ids = some.map((subscription) => subscription.subscription_id)
    const { data = [] } = yield* Activity.deleteActivitySubscriptions({ ids }, call)
    const gone = new Set(data.flatMap(({ deleted, subscription_id }) => deleted ? subscription_id : []))
    onDeleted(some.filter((subscription) => gone.has(subscription.subscription_id)))
  }
})
