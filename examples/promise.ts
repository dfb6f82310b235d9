import { createClient, RateLimited } from "@postwire/node"

await using client = createClient()

const { data: ada } = await client.getUser({ username: "ada", user_fields: ["public_metrics"] })
if (ada === undefined) throw new Error("there is no ada")
console.log(`${ada.name} has ${ada.public_metrics.followers_count} followers`)

try {
  for await (const post of client.getUsersPosts.items({ id: ada.id, post_fields: ["created_at"] })) {
    console.log(post.created_at, post.text)
    if (post.text.includes("Effect")) break
  }
} catch (error) {
  if (error instanceof RateLimited) console.log("Again at", error.resetAt)
  else throw error
}
