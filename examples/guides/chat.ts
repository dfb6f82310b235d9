// #region open
import { openChat, registerChat } from "@postwire/chat"
import { createClient } from "@postwire/node"
import * as FileTokenStore from "@postwire/node/FileTokenStore"

await using client = createClient() // with a user's bearer token
const store = FileTokenStore.make("/var/lib/bot/chat") // only this user can read it
await registerChat(client, { store }) // once; later it changes nothing

await using chat = await openChat(client, { store })
const { id } = await chat.send("2244994945", "Hello")
console.log(id)
// #endregion

// #region read
for (const item of await chat.read("2244994945", { limit: 50 })) {
  if (item.kind === "message") console.log(item.senderId, item.text, item.edited ? "(edited)" : "")
  if (item.kind === "tombstone") console.log("a message that cannot be shown:", item.reason)
}
// #endregion

// #region files
const photo = new Uint8Array(await (await fetch("https://example.com/photo.jpg")).arrayBuffer())
await chat.send("2244994945", { text: "Look", files: [{ data: photo, filename: "photo.jpg" }] })

for (const item of await chat.read("2244994945")) {
  if (item.kind !== "message") continue
  for (const file of item.media) console.log(file.filename, (await chat.media(item, file)).length)
}
// #endregion

// #region group
const group = await chat.createGroup({ members: ["2244994945"], title: "Project" })
await chat.addMembers(group, ["783214"])
await chat.send(group, "Welcome")
await chat.rotate(group) // when a key may have been seen by others
// #endregion

// #region listen
for await (const item of chat.listen()) {
  if (item.kind !== "message" || item.senderId === chat.userId) continue
  await chat.reply(item, "Thank you")
  await chat.markRead(item)
}
// #endregion
