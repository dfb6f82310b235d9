import { createClient } from "@postwire/node"

await using client = createClient({ waitOnRateLimit: true })

// #region posts
const ids = ["1460323737035677698", "20", "no id"]
for await (const { data, id, outcome } of client.hydrate(ids, { post_fields: ["created_at"] })) {
  console.log(id, outcome, data?.created_at)
}
for await (const { id, outcome } of client.hydrate.usernames(["ada", "@grace"])) console.log(id, outcome)
// #endregion
