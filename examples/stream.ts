import { NodeFileSystem } from "@effect/platform-node"
import { ClientConfig, Search } from "@postwire/core"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Console, Effect, FileSystem, Layer, Stream } from "effect"

// Every post that a search finds, one a line, while the next page is fetched already. Memory holds two pages.
const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  let posts = 0
  const lines = Search.searchRecentPosts.items(
    { query: "effect", max_results: 100, post_fields: ["created_at"] },
    { prefetch: 1 }
  ).pipe(
    Stream.tap(() => Effect.sync(() => posts++)),
    Stream.map((post) => JSON.stringify(post) + "\n")
  )
  yield* Stream.run(Stream.encodeText(lines), fs.sink("posts.jsonl"))
  yield* Console.log(posts, "posts")
})

const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
await Effect.runPromise(Effect.provide(program, [client, NodeFileSystem.layer]))
