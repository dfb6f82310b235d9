import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Caller from "./Caller.ts"
import type { Handlers } from "./Handler.ts"
import * as Webhooks from "./Webhooks.ts"

/** The number of users of an app, by the access level of its project. */
const maxUsers = { standard: 3, research: 5_000 }

/** Account Activity: the service has deprecated it, and the sandbox delivers nothing for it. */
export const handlers = {
  createAccountActivitySubscription: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { id } = yield* Webhooks.named(call)
    const { caller: { access, appId }, store: { webhooks } } = call
    if (webhooks.accounts.has(id, userId)) {
      return yield* Problem.invalidRequest("DuplicateSubscriptionFailed: The webhook has the events of this user.")
    }
    const users = webhooks.ofApp(appId).flatMap((webhook) => webhooks.accounts.of(webhook.id))
    if (users.length >= maxUsers[access]) {
      return yield* Problem.invalidRequest(`SubscriptionLimitExceeded: The app may have ${maxUsers[access]} users.`)
    }
    webhooks.accounts.set(id, userId, true)
    return { data: { subscribed: true } }
  }),

  checkAccountActivitySubscription: Effect.fnUntraced(function*(call) {
    const { userId } = yield* Caller.user(call.caller)
    const { id } = yield* Webhooks.named(call)
    return { data: { subscribed: call.store.webhooks.accounts.has(id, userId) } }
  }),

  getAccountActivitySubscriptions: (call) =>
    Effect.map(Webhooks.named(call), ({ appId, id, url }) => ({
      data: {
        application_id: appId,
        webhook_id: id,
        webhook_url: url,
        subscriptions: call.store.webhooks.accounts.of(id).map((user_id) => ({ user_id }))
      }
    })),

  deleteAccountActivitySubscription: Effect.fnUntraced(function*(call) {
    const { id } = yield* Webhooks.named(call)
    const { parameters: { user_id }, store: { webhooks } } = call
    if (!webhooks.accounts.set(id, user_id, false)) {
      return yield* Problem.missing({
        ...Problem.notFound({ kind: "user", id: user_id, parameter: "user_id" }),
        message: "SubscriptionNotFound: The webhook does not have the events of this user."
      })
    }
    return { data: { subscribed: false } }
  }),

  getAccountActivitySubscriptionCount: ({ caller: { access, appId }, store: { credentials, webhooks } }) => {
    const count = webhooks.ofApp(appId).reduce((sum, { id }) => sum + webhooks.accounts.of(id).length, 0)
    return Effect.succeed({
      data: {
        account_name: credentials.appById(appId)?.name,
        provisioned_count: `${maxUsers[access]}`,
        subscriptions_count_all: `${count}`,
        subscriptions_count_direct_messages: "0"
      }
    })
  }
} satisfies Partial<Handlers>
