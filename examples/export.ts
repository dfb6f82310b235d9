import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Export from "@postwire/export/Export"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Source from "@postwire/export/sources/Source"
import * as NodeClient from "@postwire/node/NodeClient"
import { Console, Effect } from "effect"

const posts = Source.make(searchRecentPosts, {
  query: "effect",
  post_fields: ["created_at", "public_metrics"],
  expansions: ["author_id"]
})

const program = Effect.gen(function*() {
  // Run it again after any interruption: it continues, and a finished export is left alone.
  const { files, status } = yield* Export.run(posts, {
    sink: JsonLines.make("effect.jsonl"),
    mode: "resume",
    onPage: ({ progress, rateLimit }) => Console.log(progress.items, "posts,", rateLimit?.remaining, "requests left")
  })
  yield* Console.log(status, files.map(({ holds, name, rows }) => `${name}: ${rows} ${holds}`))
})

const client = NodeClient.layer({ ...NodeClient.fromEnvironment(), waitOnRateLimit: true })
await Effect.runPromise(Effect.provide(program, client))
