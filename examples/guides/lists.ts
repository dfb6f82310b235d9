// #region sync
import { createClient } from "@postwire/node"

await using client = createClient()
const plan = await client.planListMembers("1441162269824405510", ["2244994945", "ada"])
console.log(plan.add.length, plan.remove.length, plan.requests, plan.duration)

const { outcomes } = await client.syncListMembers("1441162269824405510", ["2244994945", "ada"], {
  maxRemovals: 100,
  onProgress: ({ done, last, of }) => console.log(`${done} of ${of}: ${last.username ?? last.id} ${last.became}`)
})
console.log(outcomes.filter(({ became }) => became === "refused"))
// #endregion

// #region conversation
const { missing, nodes } = await client.getConversation("1460323737035677698")
for (const { author, depth, post } of nodes) console.log("  ".repeat(depth), author?.username, post?.text)
console.log(missing.length, "are missing")

for await (const part of client.getConversation.parts("1460323737035677698")) {
  if (part._tag === "Post") console.log(part.post.text)
}
// #endregion
