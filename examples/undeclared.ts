import { createClient, InvalidParameters } from "@postwire/node"
import { Schema } from "effect"

await using client = createClient()

// A path that has no operation. `data` is what the schema says.
const Widget = Schema.Struct({ id: Schema.String, made_at: Schema.DateFromString })
const { data: widget } = await client.request({
  method: "GET",
  path: `/2/widgets/${encodeURIComponent("a widget")}`,
  query: { "widget.fields": ["made_at", "color"] },
  schema: Widget
})
console.log(widget?.made_at.getFullYear())

// A write that may be sent twice: its state is the same then.
await client.request({ method: "PUT", path: "/2/widgets/1/color", body: { color: "red" }, effect: "toggle" })

// Parameters that an operation does not declare yet.
await client.searchRecentPosts({ query: "effect" }, { extraQuery: { widgets: true } })
await client.createPost({ text: "Hello" }, { extraBody: { widget: { id: "1" } } })

// Nothing declared is replaced.
try {
  await client.createPost({ text: "Hello" }, { extraBody: { text: "Bye" } })
} catch (error) {
  if (error instanceof InvalidParameters) console.log(error.message)
}
