import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Webhook from "@postwire/core/events/Webhook"
import * as WebhookRoute from "@postwire/core/events/WebhookRoute"
import * as WebhookStore from "@postwire/node/WebhookStore"
import { Console, Effect, Layer, Redacted } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"

// #region node
import { webhook } from "@postwire/node/Webhook"
import { createServer } from "node:http"

const hook = webhook({
  secrets: process.env["POSTWIRE_CONSUMER_SECRET"] ?? "",
  store: "./events.db",
  onEvent: async (event) => {
    if (event.event_type === "post.mention.create") await answer(event.payload.text ?? "")
  }
})
createServer(hook.listener).listen(3000)
// #endregion

async function answer(text: string): Promise<void> {
  console.log(text)
}

// #region letters
for (const { event, id, reason } of await hook.deadLetters.list()) {
  console.log(event.event_uuid, event.event_type, reason)
  await hook.deadLetters.replay(id) // or remove(id)
}
// #endregion

// #region effect
const route = Layer.unwrap(Effect.gen(function*() {
  const hook = yield* Webhook.make({
    secrets: [Redacted.make("...")],
    store: yield* WebhookStore.sqlite({ path: "./events.db" }),
    onEvent: ({ event_type, event_uuid }) => Console.log(event_uuid, event_type)
  })
  return WebhookRoute.layer("/hook", hook)
}))

export const server = HttpRouter.serve(route).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: 3000 }))
)
// #endregion

// #region keep
import { createClient } from "@postwire/node"

await using client = createClient()
const desired = {
  url: "https://example.com/hook",
  subscriptions: [
    { event_type: "post.mention.create", filter: { user_id: "2244994945" }, tag: "mentions" },
    { event_type: "profile.update.bio", filter: { user_id: "783214" } }
  ]
} as const
const { action, add, remove } = await client.planWebhook(desired)
console.log(action, `${add.length} to add, ${remove.length} to delete`)

const { subscriptions, webhook: kept } = await client.keepWebhook(desired, {
  onProgress: ({ step }) => console.log(step)
})
console.log(kept.id, subscriptions.length)
// #endregion
