// Encrypted chat: the WebAssembly of its library loads, and keys that are registered open the chat.
import { openChat, registerChat } from "@postwire/chat"
import * as postwire from "@postwire/node"
import { scenario, settingsOf } from "./scenario.ts"

const settings = settingsOf(process.env)
const found = await scenario(postwire, settings)
const texts = new Map<string, string | undefined>()
const store = {
  read: async (name: string) => texts.get(name),
  write: async (name: string, text: string | undefined) => texts.set(name, text),
  lock: async () => () => {}
}
const client = postwire.createClient(settings)
const { userId } = await registerChat(client, { store })
const chat = await openChat(client, { store })
if (chat.userId !== userId) throw new Error(`opened the chat of ${chat.userId}`)
console.log(await chat.conversations())
await chat.close()
await client.close()

console.log(JSON.stringify(found))
