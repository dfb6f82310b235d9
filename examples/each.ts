import { getUsersPosts } from "@postwire/core/operations/Timelines"
import { exportRows } from "@postwire/export/Promises"
import * as Rows from "@postwire/export/rows/Rows"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Each from "@postwire/export/sources/Each"
import { createClient } from "@postwire/node/EffectClient"
import { writeFile } from "node:fs/promises"

await using client = createClient()
await writeFile("users.csv", "username\nada\nnobody_at_all\n")

// The latest hundred posts of every user of a file; the same call continues after an interruption.
const { files, progress } = await exportRows(
  client,
  "users.csv",
  { kind: Rows.users },
  (rows) => Each.make(getUsersPosts, rows, { post_fields: ["created_at"] }, { limitEach: 100 }),
  {
    sink: JsonLines.make("posts.jsonl"),
    mode: "resume",
    onPage: ({ progress }) => console.log(progress.items, "posts so far")
  }
)
console.log(progress.outcomes, files.map(({ holds, name, rows }) => `${name}: ${rows} ${holds}`))
