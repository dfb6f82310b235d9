import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Export from "@postwire/export/Export"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Source from "@postwire/export/sources/Source"
import * as NodeClient from "@postwire/node/NodeClient"
import { Effect } from "effect"

const posts = Source.make(searchRecentPosts, { query: "effect", post_fields: ["created_at"] })
const program = Export.run(posts, { sink: JsonLines.make("effect.jsonl"), mode: "resume" })

const client = NodeClient.layer({ ...NodeClient.fromEnvironment(), waitOnRateLimit: true })
await Effect.runPromise(Effect.provide(program, client))
