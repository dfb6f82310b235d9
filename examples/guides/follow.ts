// #region follow
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import * as Follow from "@postwire/export/Follow"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import { createClient } from "@postwire/node/EffectClient"

await using client = createClient()
await client.effect.runPromise(Follow.run(Follow.make(streamPosts, { post_fields: ["created_at"] }), {
  sink: JsonLines.make("posts.jsonl"),
  rotate: { every: "1 hour", size: 100_000_000 } // a new file every hour, or at 100 MB
}))
// #endregion
