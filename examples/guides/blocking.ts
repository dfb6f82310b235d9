// #region first
import { createClientSync, NotFound } from "@postwire/sync"

using client = createClientSync()

const { data: ada } = client.getUser({ username: "ada" })
console.log(ada?.name)

for (const post of client.searchRecentPosts.items({ query: "effect" }, { limit: 20 })) console.log(post.text)
// #endregion

// #region errors
try {
  client.deletePost({ id: "1" }, { timeout: 5_000 })
} catch (error) {
  if (!(error instanceof NotFound)) throw error
  console.log("there is no such post")
}
// #endregion
