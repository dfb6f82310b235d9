// #region sync
import { createClient } from "@postwire/node"

await using client = createClient()
const { data: list } = await client.createList({ name: "Colleagues" }) // or the id of a list of yours
const id = list?.id ?? ""
const users = ["ada", "grace"]

const plan = await client.planListMembers(id, users)
console.log(`${plan.add.length} to add, ${plan.remove.length} to remove, at least ${plan.duration} ms`)

const { added, outcomes, removed } = await client.syncListMembers(id, users, {
  maxRemovals: 100, // default: half of the members
  onProgress: ({ done, last, of }) => console.log(`${done} of ${of}: ${last.username ?? last.id} ${last.became}`)
})
console.log(added, "added,", removed, "removed")
for (const { refusal, username } of outcomes) if (refusal) console.log(username, refusal.reason, refusal.detail)
// #endregion

// #region conversation
const { data: [reply] = [] } = await client.searchRecentPosts({ query: "effect is:reply" })
const conversation = reply?.id ?? "" // any post in it
const { missing, nodes } = await client.getConversation(conversation)
for (const { author, depth, post } of nodes) console.log("  ".repeat(depth), author?.username, post?.text)
for (const { id, reason } of missing) console.log("missing:", id, reason)

// Large conversations: page by page, in the order of the search.
for await (const part of client.getConversation.parts(conversation)) {
  if (part._tag === "Post") console.log(part.post.text)
}
// #endregion
