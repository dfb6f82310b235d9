// #region sandbox
import { createClient } from "@postwire/node"

await using client = createClient()

const { data: me } = await client.getMe({ user_auth: false })
console.log("Hello,", me?.name)

const { data: posts = [] } = await client.searchRecentPosts({ query: "effect", post_fields: ["created_at"] })
for (const post of posts) console.log(post.created_at, post.text)
// #endregion

export const live = async () => {
  // #region live
  await using client = createClient({
    wire: "x",
    bearerToken: process.env["POSTWIRE_BEARER_TOKEN"]
  })
  const { data: user, rateLimit } = await client.getUser({ username: "xdevelopers" })
  console.log(user?.name, rateLimit?.remaining, "requests remaining")
  // #endregion
}
