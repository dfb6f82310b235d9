import { openChat } from "@postwire/chat"
import { createClient } from "@postwire/node"
import * as FileTokenStore from "@postwire/node/FileTokenStore"

await using client = createClient()
await using chat = await openChat(client, { store: FileTokenStore.make("/var/lib/bot/chat") })
for (const item of await chat.read("2244994945")) if (item.kind === "message") console.log(item.text)
