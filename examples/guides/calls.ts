import { createClient } from "@postwire/node"

await using client = createClient()
const { data: some = [] } = await client.searchRecentPosts({ query: "effect" })
const { id } = some[0]!

// #region fields
const { data: post } = await client.getPost({ id, post_fields: ["created_at", "public_metrics"] })
console.log(post?.created_at, post?.public_metrics.like_count)
// #endregion

// #region response
const response = await client.getPost({ id, expansions: ["author_id"], user_fields: ["verified"] })
if (response.data !== undefined) {
  const author = response.author(response.data)
  console.log(author?.username, author?.verified)
}
console.log(response.rateLimit?.remaining, response.requestId, response.errors, response.anomalies)
// #endregion

// #region long
import * as PostText from "@postwire/core/text/PostText"

const { data: long } = await client.getPost({ id, post_fields: ["note_post"] })
if (long !== undefined) console.log(PostText.full(long))
// #endregion

// #region types
const plain = client.as("dictionary")
const { data, includes } = await plain.getPost({ id, expansions: ["author_id"] })
console.log(data?.text, includes?.users?.length)

await using raw = createClient({ returnType: "raw" })
const http = await raw.getPost({ id })
console.log(http.status, http.headers.get("content-type"), await http.json())
// #endregion

// #region both
const { data: result, response: answer } = await client.getPost({ id }).withResponse()
console.log(result.data?.text, answer.status)
// #endregion

// #region unlisted
const { data: newer } = await client.getPost({ id, post_fields: ["text", { unlisted: "source" }] })
console.log(newer)
// #endregion
