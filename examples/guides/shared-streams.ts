import * as Database from "@postwire/cluster/Database"
import * as PostgresStreamLog from "@postwire/cluster/PostgresStreamLog"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import * as SharedStream from "@postwire/core/streams/shared/SharedStream"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as SqlClient from "effect/sql/SqlClient"

// #region promise
import { createClient } from "@postwire/node"

await using client = createClient({ streamLog: "redis://127.0.0.1:6379" })
await using shared = await client.streamPosts.shared("animals", { post_fields: ["author_id"] }, {
  onEvent: ({ _tag }) => {
    if (_tag === "Holding") console.log("This process holds the connection now")
  }
})
const cats = shared.consume({ consumer: "cats", tags: ["cats"], onMissed: (missed) => console.warn(missed) })
for await (const { item } of cats) console.log(item.post.author_id, item.post.text)
// #endregion

// #region effect
const database = Database.layerPostgres({ url: Redacted.make("postgres://postwire@127.0.0.1/app") })

export const copy = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const shared = yield* SharedStream.open("animals", streamPosts, { post_fields: ["author_id"] })
  yield* Stream.runForEach(
    shared.consume({ consumer: "copy", acknowledges: false }),
    ({ commit, item }) =>
      // The row is there, and the item is done, or neither.
      sql.withTransaction(Effect.andThen(sql`INSERT INTO posts ${sql.insert({ id: item.post.id })}`, commit))
  )
}).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(PostgresStreamLog.layer, database)))
// #endregion
