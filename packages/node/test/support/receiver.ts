/** A program with a webhook on an SQLite file, which prints its port and the events that it has handled. */
import { webhook } from "@postwire/node/Webhook"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

const [secrets = "", store = ""] = process.argv.slice(2)

const hook = webhook({
  secrets,
  store,
  lease: 300,
  onEvent: async ({ event_uuid }) => {
    await sleep(Math.random() * 4)
    process.stdout.write(`${event_uuid}\n`)
  }
})

const server = createServer(hook.listener).listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`port ${typeof address === "object" ? address?.port : ""}\n`)
})
