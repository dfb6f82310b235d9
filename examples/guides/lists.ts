// #region sync
import { createClient } from "@postwire/node"

await using client = createClient()
const { data: list } = await client.createList({ name: "Colleagues" })
const id = list?.id ?? ""
const plan = await client.planListMembers(id, ["2244994945", "ada"])
console.log(plan.add.length, plan.remove.length, plan.requests, plan.duration)

const { outcomes } = await client.syncListMembers(id, ["2244994945", "ada"], {
  maxRemovals: 100,
  onProgress: ({ done, last, of }) => console.log(`${done} of ${of}: ${last.username ?? last.id} ${last.became}`)
})
console.log(outcomes.filter(({ became }) => became === "refused"))
// #endregion

// #region conversation
const { data: asked } = await client.createPost({ text: "Who comes to the meeting?" })
const { missing, nodes } = await client.getConversation(asked?.id ?? "")
for (const { author, depth, post } of nodes) console.log("  ".repeat(depth), author?.username, post?.text)
console.log(missing.length, "are missing")

for await (const part of client.getConversation.parts(asked?.id ?? "")) {
  if (part._tag === "Post") console.log(part.post.text)
}
// #endregion
