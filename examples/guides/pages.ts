import { createClient } from "@postwire/node"

await using client = createClient()
const query = "effect"

// #region items
for await (const post of client.searchRecentPosts.items({ query, max_results: 100 }, { limit: 250 })) {
  console.log(post.id)
}
// #endregion

// #region pages
for await (const page of client.searchRecentPosts.pages({ query, max_results: 100 })) {
  console.log(page.data?.length, "posts", page.rateLimit?.remaining, "requests remaining")
  if (page.errors.length > 0) console.log(page.errors)
}
// #endregion

// #region joined
const posts = client.searchRecentPosts.joined(
  { query, expansions: ["author_id"], user_fields: ["verified"] },
  { limit: 10 }
)
for await (const { author, item } of posts) console.log(author?.username, author?.verified, item.text)
// #endregion

// #region resume
let next: string | undefined
for await (const page of client.searchRecentPosts.pages({ query })) {
  next = page.page?.next
  break // the program ends here, and keeps the token
}
if (next !== undefined) {
  const { data } = await client.searchRecentPosts({ query, next_token: next })
  console.log(data?.length, "posts of the second page")
}
// #endregion

// #region prefetch
for await (const post of client.searchRecentPosts.items({ query, max_results: 100 }, { prefetch: 1 })) {
  // The next page is fetched meanwhile.
  console.log(post.text)
}
// #endregion
