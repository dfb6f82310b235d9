import { webhook } from "@postwire/node/Webhook"
import { createServer } from "node:http"

const hook = webhook({
  secrets: process.env["POSTWIRE_CONSUMER_SECRET"] ?? "",
  store: "./events.db",
  onEvent: (event) => {
    if (event.event_type === "post.mention.create") console.log("mentioned:", event.payload.text)
    else console.log("something else:", event.event_type)
  }
})

createServer(hook.listener).listen(3000, () => console.log("listening"))
