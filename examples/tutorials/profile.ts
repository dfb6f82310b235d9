import { createClient } from "@postwire/node"

await using client = createClient()

const { data: me } = await client.getMe({ user_fields: ["public_metrics"] })
console.log(me?.name, "has", me?.public_metrics.followers_count, "followers")

const { data: posts = [] } = await client.searchRecentPosts({ query: "from:ada", post_fields: ["created_at"] })
for (const post of posts.slice(0, 3)) console.log(post.created_at, post.text)
