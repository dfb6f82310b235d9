import { BadRequest, createClient, InvalidParameters } from "@postwire/node"
import { Schema } from "effect"

await using client = createClient()

// Any path. `data` is what the schema says; names are the service's own.
const User = Schema.Struct({ id: Schema.String, created_at: Schema.DateFromString })
const { data: ada } = await client.request({
  method: "GET",
  path: `/2/users/by/username/${encodeURIComponent("ada")}`,
  query: { "user.fields": ["created_at"] },
  schema: User
})
if (ada === undefined) throw new Error("there is no ada")
console.log("with us since", ada.created_at.getFullYear())

// A write that may be sent twice: its state is the same then.
const { data: [post] = [] } = await client.searchRecentPosts({ query: "effect" })
await client.request({
  method: "POST",
  path: `/2/users/${ada.id}/likes`,
  body: { post_id: post?.id ?? "0" },
  user_auth: true,
  effect: "toggle"
})

// Parameters that an operation does not declare yet. If the service does not know them either, it says so.
try {
  await client.searchRecentPosts({ query: "effect" }, { extraQuery: { widgets: true } })
  await client.createPost({ text: "Hello" }, { extraBody: { widget: { id: "1" } } })
} catch (error) {
  if (error instanceof BadRequest) console.log(error.message)
  else throw error
}

// They replace nothing that is declared.
try {
  await client.createPost({ text: "Hello" }, { extraBody: { text: "Bye" } })
} catch (error) {
  if (error instanceof InvalidParameters) console.log(error.message)
  else throw error
}
