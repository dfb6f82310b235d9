import { createClient } from "@postwire/node"

await using client = createClient()

const posts = client.streamPosts({ post_fields: ["author_id"], expansions: ["author_id"] }, {
  onEvent: (event) => {
    if (event._tag === "Connected") console.log("connected")
  }
})
for await (const received of posts) {
  const { author, item: post } = received.joined()
  console.log(received.matchingRules.map(({ tag }) => tag).sort(), `@${author?.username}:`, post.text)
}
