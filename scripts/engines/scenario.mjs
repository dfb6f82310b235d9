// What a program of a user does, on the Node that runs it, with the packages that are installed beside it. The service is
// a sandbox in another process. A line of standard output for everything that was right.
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { Export, Source } from "@postwire/export"
import * as Csv from "@postwire/export/sinks/Csv"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Sqlite from "@postwire/export/sinks/Sqlite"
import { createClient, fromEnvironment, Unauthorized } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { createClientSync, Unauthorized as UnauthorizedSync } from "@postwire/sync"
import * as Effect from "effect/Effect"
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { DatabaseSync } from "node:sqlite"

const query = "effect"
const ada = { username: "ada" }
/** Of somebody whom the service does not know. */
const stranger = { ...fromEnvironment(), bearerToken: "a" }

const promises = async () => {
  const client = createClient()
  const { data } = await client.getUser(ada)
  assert.equal(data.username, "ada")
  const posts = await Array.fromAsync(client.searchRecentPosts.items({ query, max_results: 10 }))
  assert.ok(posts.length > 10)
  const other = createClient(stranger)
  await assert.rejects(other.getUser(ada), Unauthorized)
  await other.close()
  const { data: written } = await client.createPost({ text: process.version })
  assert.equal((await client.getPost({ id: written.id })).data.text, process.version)
  await client.deletePost({ id: written.id })
  await client.close()
}

const commonJs = async () => {
  const { createClient } = createRequire(import.meta.url)("@postwire/node")
  const client = createClient()
  assert.equal((await client.getUser(ada)).data.username, "ada")
  await client.close()
}

const blocking = () => {
  const client = createClientSync()
  assert.equal(client.getUser(ada).data.username, "ada")
  assert.ok([...client.searchRecentPosts.items({ query, max_results: 10 })].length > 10)
  const other = createClientSync(stranger)
  assert.throws(() => other.getUser(ada), UnauthorizedSync)
  for (const { close } of [client, other]) close()
}

const exports = async () => {
  const posts = Source.make(searchRecentPosts, { query, post_fields: ["created_at"], expansions: ["author_id"] })
  const sinks = {
    "a.jsonl": JsonLines.make,
    "a.jsonl.gz": (path) => JsonLines.make(path, { compression: "gzip" }),
    "a.csv.zst": (path) => Csv.make(path, { compression: "zstd" }),
    "a.csv": Csv.make,
    "a.parquet": Parquet.make,
    "a.sqlite": Sqlite.make
  }
  const client = NodeClient.layer(NodeClient.fromEnvironment())
  const items = new Set()
  for (const [file, make] of Object.entries(sinks)) {
    const path = `${process.argv[2]}/${file}`
    const { progress, status } = await Effect.runPromise(
      Effect.provide(Export.run(posts, { sink: make(path) }), client)
    )
    assert.equal(status, "done")
    items.add(progress.items)
  }
  const [count, ...others] = items
  assert.deepEqual(others, [])
  assert.equal(readFileSync(`${process.argv[2]}/a.jsonl`, "utf8").trimEnd().split("\n").length, count)
  const database = new DatabaseSync(`${process.argv[2]}/a.sqlite`)
  assert.equal(database.prepare("SELECT count(*) AS count FROM results JOIN posts USING (id)").get().count, count)
  database.close()
}

const inProcess = async () => {
  const sandbox = await Sandbox.start({ posts: 50 })
  sandbox.user({ username: "grace" }).post("hello from here")
  const client = createClient(sandbox.settings)
  const { data } = await client.searchRecentPosts({ query: "hello from:grace" })
  assert.equal(data[0].text, "hello from here")
  await client.close()
  await sandbox.stop()
}

for (const [name, step] of Object.entries({ promises, commonJs, blocking, exports, inProcess })) {
  await step()
  console.log(name)
}
