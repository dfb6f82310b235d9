/**
 * An exporter as a process of its own, to be killed: of a search, or of a file of ids. It is told what to do as JSON, says on standard output how many pages
 * it has written, one number a line, and ends with the exit code of the export.
 */
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import { writeSync } from "node:fs"
import * as Export from "../../src/Export.ts"
import * as Rows from "../../src/rows/Rows.ts"
import * as Each from "../../src/sources/Each.ts"
import * as Hydration from "../../src/sources/Hydration.ts"
import * as Source from "../../src/sources/Source.ts"
import { hydrated, parameters, type SinkName, sinks } from "./Sinks.ts"

const { baseUrl, bearerToken, ids, path, sink, users } = JSON.parse(process.argv[2]!) as {
  readonly baseUrl: string
  readonly bearerToken: string
  readonly ids?: string
  readonly path: string
  readonly sink: SinkName
  /** A file of users, whose posts are exported instead of a search. */
  readonly users?: string
}

const { query: _, ...ofPosts } = parameters

await Effect.runPromise(
  Effect.gen(function*() {
    const source = users !== undefined
      ? Each.make(getUsersPosts, yield* Rows.open(users, { kind: Rows.users }), ofPosts)
      : ids === undefined
      ? Source.make(searchRecentPosts, parameters)
      : Hydration.source(yield* Rows.open(ids, { kind: Hydration.posts }), "posts", hydrated, { concurrency: 2 })
    yield* Export.run(source, {
      sink: sinks[sink](path),
      mode: "resume",
      onPage: ({ progress }) => Effect.sync(() => writeSync(1, `${progress.pages}\n`))
    })
  }).pipe(Effect.scoped, Effect.provide(NodeClient.layer({ baseUrl, bearerToken })))
)
process.exit(0)
