import { assert, describe, it } from "@effect/vitest"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Csv from "../src/sinks/Csv.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Parquet from "../src/sinks/Parquet.ts"
import * as Sqlite from "../src/sinks/Sqlite.ts"
import * as Source from "../src/Source.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-export-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

it.live("x", () =>
  Effect.gen(function*() {
    const dir = yield* folder
    const { baseUrl, seeded } = yield* Sandbox.Sandbox
    const source = Source.make(searchRecentPosts, {
      query: "effect",
      max_results: 100,
      expansions: ["author_id", "referenced_posts.id", "attachments.media_keys"],
      post_fields: ["created_at", "public_metrics", "referenced_posts"]
    })
    for (
      const sink of [
        JsonLines.make(join(dir, "a.jsonl")),
        JsonLines.make(join(dir, "b.jsonl.gz"), { compression: "gzip" }),
        Csv.make(join(dir, "c.csv")),
        Sqlite.make(join(dir, "d.sqlite")),
        Parquet.make(join(dir, "e.parquet"))
      ]
    ) {
      const t = performance.now()
      const s = yield* Export.run(source, { sink }).pipe(
        Effect.provide(NodeClient.layer({ baseUrl, bearerToken: seeded.appBearerToken }))
      )
      console.log(sink.format, s, performance.now() - t)
    }
    for (const f of readdirSync(dir)) console.log(f, statSync(join(dir, f)).size)
    console.log(readFileSync(join(dir, "c.csv"), "utf8").slice(0, 900))
  }).pipe(Effect.provide(Sandbox.layerServer({ posts: 2000 }))))
