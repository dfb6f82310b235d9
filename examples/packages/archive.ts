import { syncTo } from "@postwire/archive/Promises"
import { createClient } from "@postwire/node/EffectClient"

await using client = createClient()
const { added, status } = await syncTo(client, "own.sqlite", {
  sources: [{ kind: "posts" }, { kind: "bookmarks" }, { kind: "followers", of: "@ada" }]
})
console.log(status, added)
