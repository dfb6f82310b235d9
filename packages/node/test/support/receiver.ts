/**
 * A program with a webhook, which is killed. For each event it writes a row, whose key is the event's, and adds to a sum in the same
 * transaction; and a line to a file, which has no transactions.
 */
import { webhook } from "@postwire/node/Webhook"
import { openSync, writeSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"

const [secrets = "", store = "", folder = ""] = process.argv.slice(2)

// A killed process loses nothing of what it has given to the system.
const ledger = new DatabaseSync(join(folder, "ledger.db"), { timeout: 5_000 })
ledger.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS handled (at INTEGER PRIMARY KEY, event_uuid TEXT NOT NULL UNIQUE, user TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS sums (user TEXT PRIMARY KEY, sum INTEGER NOT NULL);
`)
const insert = ledger.prepare("INSERT INTO handled (event_uuid, user) VALUES (?, ?) ON CONFLICT DO NOTHING")
const add = ledger.prepare(
  "INSERT INTO sums VALUES (?, ?) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum"
)
const lines = openSync(join(folder, "lines"), "a")

const hook = webhook({
  secrets,
  store,
  lease: 300,
  onEvent: async (event) => {
    const { event_type, event_uuid } = event
    if (event_type === "dm.read") throw new Error("it can never be handled")
    if (event_type !== "dm.indicate_typing") return
    if (Math.random() < 0.01) throw new Error("it can be handled next time")
    await sleep(Math.random() * 4)
    const user = event.filter?.user_id ?? ""
    ledger.exec("BEGIN IMMEDIATE")
    if (insert.run(event_uuid, user).changes === 1) add.run(user, Number(event_uuid))
    ledger.exec("COMMIT")
    writeSync(lines, `${event_uuid}\n`)
  }
})

const server = createServer((request, response) => {
  if (request.url !== "/letters") return hook.listener(request, response)
  void hook.deadLetters.list().then(
    (letters) => response.end(JSON.stringify(letters.map(({ event, reason }) => [event.event_uuid, reason]))),
    () => response.destroy()
  )
}).listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`)
})
