import { createClient } from "@postwire/node"

await using client = createClient()

// #region search
const posts = client.searchRecentPosts.joined(
  {
    query: "effect -is:retweet",
    post_fields: ["created_at", "public_metrics"],
    expansions: ["author_id"],
    max_results: 100
  },
  { limit: 1_000 }
)
for await (const { author, item } of posts) {
  console.log(author?.username, item.public_metrics.like_count, item.text)
}
// #endregion

// #region post
const { data: first } = await client.createPost({ text: "First" })
await client.createPost({ text: "Second", in_reply_to_post_id: first!.id })
// #endregion

// #region like
const { data: found = [] } = await client.searchRecentPosts({ query: "effect", post_fields: ["author_id"] })
for (const { author_id, id } of found) {
  await client.like({ post_id: id })
  await client.followUser({ target_user_id: author_id })
}
// #endregion
