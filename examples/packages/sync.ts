import { createClientSync } from "@postwire/sync"

using client = createClientSync({ baseUrl: "https://service.example", bearerToken: "token", waitOnRateLimit: true })
for (const post of client.searchRecentPosts.items({ query: "effect", post_fields: ["created_at"] })) {
  console.log(post.created_at, post.text)
}
