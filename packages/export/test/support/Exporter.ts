/**
 * An exporter as a process of its own, to be killed. It is told what to do as JSON, says on standard output how many pages
 * it has written, one number a line, and ends with the exit code of the export.
 */
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import { writeSync } from "node:fs"
import * as Export from "../../src/Export.ts"
import * as Source from "../../src/Source.ts"
import { parameters, type SinkName, sinks } from "./Sinks.ts"

const { baseUrl, bearerToken, path, sink } = JSON.parse(process.argv[2]!) as {
  readonly baseUrl: string
  readonly bearerToken: string
  readonly path: string
  readonly sink: SinkName
}

await Effect.runPromise(
  Export.run(Source.make(searchRecentPosts, parameters), {
    sink: sinks[sink](path),
    mode: "resume",
    onPage: ({ progress }) => Effect.sync(() => writeSync(1, `${progress.pages}\n`))
  }).pipe(Effect.provide(NodeClient.layer({ baseUrl, bearerToken })))
)
process.exit(0)
