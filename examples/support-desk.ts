import { createClient } from "@postwire/node"
import { webhook } from "@postwire/node/Webhook"
import { once } from "node:events"
import { createServer } from "node:http"

// A support desk: answers every mention of the account and every message to it once, however often it is stopped, killed and
// started. The service delivers to SUPPORT_URL, an https: address, from which a proxy forwards to PORT. The credentials are the
// four for OAuth 1.0a of the account, and POSTWIRE_APP_BEARER_TOKEN.
await using client = createClient({ waitOnRateLimit: true })
const { data: me } = await client.getMe()
if (me === undefined) throw new Error("No user is signed in")

/** An answer names its ticket, so that it can be found after a crash. */
const answerOf = (id: string) => `Thank you! Your ticket is ${id}.`

/** The journal knows what was posted under a key. */
const answerMention = (id: string) =>
  client.publishThread([{ text: answerOf(id), in_reply_to_post_id: id }], { key: `ticket ${id}` })

/** A message has no journal: what an earlier run sent is in the conversation. */
const answerMessage = async (id: string, participant_id: string) => {
  const text = answerOf(id)
  const { data = [] } = await client.getDirectMessageEvents({
    participant_id,
    dm_event_fields: ["text"],
    max_results: 100
  })
  if (!data.some((event) => event.text === text)) await client.createDirectMessage({ participant_id, text })
}

// An event is handled again if it fails, or if the program is killed meanwhile.
const hook = webhook({
  secrets: process.env["POSTWIRE_CONSUMER_SECRET"] ?? "",
  store: process.env["SUPPORT_STORE"] ?? "./support.db",
  onEvent: async (event) => {
    if (event.event_type === "post.mention.create") {
      await answerMention(event.payload.id)
      console.log("answered", event.payload.text)
    }
    if (event.event_type !== "dm.received") return
    for (const { id, message_create: message } of event.payload.direct_message_events ?? []) {
      if (message?.sender_id === undefined) continue
      await answerMessage(id, message.sender_id)
      console.log("answered", message.message_data?.text)
    }
  }
})

const port = Number(process.env["PORT"] ?? 3000)
const server = createServer(hook.listener).listen(port, "127.0.0.1")
await once(server, "listening")
const filter = { user_id: me.id }
await client.keepWebhook({
  url: process.env["SUPPORT_URL"] ?? `http://127.0.0.1:${port}/hook`,
  subscriptions: [{ event_type: "post.mention.create", filter }, { event_type: "dm.received", filter }]
})
console.log("answering mentions and messages")

await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
server.close().closeIdleConnections()
await hook.close()
console.log("bye")
