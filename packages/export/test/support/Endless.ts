/** Exports as many made-up pages as it is told; says what memory is in use, in MB, after a tenth of them and at the end. */
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Export from "../../src/Export.ts"
import * as Source from "../../src/sources/Source.ts"
import { type SinkName, sinks } from "./Sinks.ts"

const [, , sink, path, pages] = process.argv as [string, string, SinkName, string, string]

const page = (number: number): Source.Page => {
  const ids = Array.from({ length: 100 }, (_, i) => String(10n ** 18n + BigInt(number * 100 + i)))
  return {
    items: ids.map((id) => ({ id, text: `${id} `.repeat(12), edit_history_post_ids: [id], author_id: id })),
    includes: { users: ids.map((id) => ({ id, name: `Number ${id}`, username: id.slice(4) })) },
    errors: [],
    next: number + 1 < Number(pages) ? String(number + 1) : undefined,
    rateLimit: undefined
  }
}

const source: Source.Source = {
  ...Source.make(searchRecentPosts, { query: "effect", post_fields: ["author_id"], expansions: ["author_id"] }),
  pages: () => Stream.range(0, Number(pages) - 1).pipe(Stream.rechunk(1), Stream.map(page))
}

const told: Array<number> = []

/** What is not garbage. */
const inUse = (): number => {
  globalThis.gc?.()
  // What the first one frees may hold buffers.
  globalThis.gc?.()
  const { external, heapUsed } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

await Effect.runPromise(
  Export.run(source, {
    sink: sinks[sink](path),
    onPage: ({ progress }) =>
      Effect.sync(() => [Number(pages) / 10, Number(pages)].includes(progress.pages) && told.push(inUse()))
  }).pipe(
    Effect.provide(NodeClient.layer({ baseUrl: "http://127.0.0.1:9", bearerToken: "none" }))
  )
)
console.log(JSON.stringify(told))
