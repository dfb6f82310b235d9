// A copy kept up to date: the second run reads nothing that it has.
import { changesIn, syncTo } from "@postwire/archive/Promises"
import * as postwire from "@postwire/node"
import { createClient } from "@postwire/node/EffectClient"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { scenario, settingsOf } from "./scenario.ts"

const settings = settingsOf(process.env)
const found = await scenario(postwire, settings)
const folder = mkdtempSync("copy-")
const path = join(folder, "own.sqlite")
const client = createClient(settings)
const sources = [{ kind: "posts" }, { kind: "bookmarks" }] as const
const first = await syncTo(client, path, { sources })
const again = await syncTo(client, path, { sources })
let changes = 0
for await (const _ of changesIn(path, 0)) changes++
if (first.added === 0 || again.added > 0 || changes < first.added) {
  throw new Error(JSON.stringify([first, again, changes]))
}
await client.close()
rmSync(folder, { recursive: true })

console.log(JSON.stringify(found))
