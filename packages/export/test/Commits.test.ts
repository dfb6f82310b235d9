import { assert, describe, it } from "@effect/vitest"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as NodeClient from "@postwire/node/NodeClient"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { cpSync, mkdirSync } from "node:fs"
import { basename, join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Checkpoint from "../src/folders/Checkpoint.ts"
import * as Source from "../src/sources/Source.ts"
import { differing, folder } from "./support/Scene.ts"
import { type SinkName, sinks } from "./support/Sinks.ts"

const pages = 8

const page = (number: number): Source.Page => ({
  items: [{ id: String(number), text: "a post" }],
  includes: { users: [{ id: String(number % 3), name: "a user", username: "user" }] },
  errors: [],
  next: number + 1 < pages ? String(number + 1) : undefined,
  rateLimit: undefined
})

/** Made-up pages, and the numbers of those that were requested. */
const fast = () => {
  const requested: Array<number> = []
  const source: Source.Source = {
    ...Source.make(searchRecentPosts, { query: "effect", expansions: ["author_id"] }),
    pages: (cursor = "0") =>
      Stream.range(Number(cursor), pages - 1).pipe(
        Stream.rechunk(1),
        Stream.map((number) => {
          requested.push(number)
          return page(number)
        })
      )
  }
  return { source, requested }
}

const client = NodeClient.layer({ baseUrl: "http://127.0.0.1:9", bearerToken: "none" })

/** The pages on the disk, as a run after a kill would find them. */
const committedIn = (path: string) =>
  Effect.map(
    Checkpoint.read(join(`${path}.postwire`, "work", "checkpoint.json")),
    (checkpoint) => checkpoint?.progress.pages
  )

/** Waits until so many pages are on the disk; the time of the export stands still. */
const committed = (path: string, pages: number) =>
  Effect.andThen(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), committedIn(path)).pipe(
    Effect.repeat({ until: (found) => found === pages })
  )

/** What a kill leaves; nobody else may open the lock. */
const copy = (path: string, to: string) =>
  Effect.sync(() =>
    cpSync(`${path}.postwire`, `${to}.postwire`, { recursive: true, filter: (from) => basename(from) !== "lock" })
  )

describe.each<SinkName>(["jsonl", "jsonl.gz", "parquet", "sqlite"])(
  "pages that come at the same moment, into %s",
  (sink) => {
    it.effect("are committed together: a kill costs those since the last commit, which are requested again", () =>
      Effect.gen(function*() {
        const root = yield* folder
        for (const name of ["whole", "killed"]) mkdirSync(join(root, name))
        const path = join(root, "whole", `out.${sink}`)
        const killed = join(root, "killed", `out.${sink}`)
        const { status } = yield* Export.run(fast().source, {
          sink: sinks[sink](path),
          onPage: Effect.fnUntraced(function*({ progress }) {
            // The first page follows no other, so it is committed when it comes.
            if (progress.pages === 1) yield* committed(path, 1)
            if (progress.pages === 4) {
              assert.strictEqual(yield* committedIn(path), 1)
              // Nothing else comes, but the pages do not wait for it.
              yield* TestClock.adjust("200 millis")
              yield* committed(path, 4)
            }
            if (progress.pages === 7) yield* copy(path, killed)
          }, Effect.orDie)
        })
        assert.strictEqual(status, "done")
        assert.strictEqual(yield* committedIn(killed), 4)
        const { requested, source } = fast()
        const resumed = yield* Export.run(source, { sink: sinks[sink](killed), mode: "resume" })
        assert.deepStrictEqual([resumed.status, resumed.progress.items, resumed.progress.runs], ["done", pages, 2])
        assert.deepStrictEqual(requested, [4, 5, 6, 7])
        assert.deepStrictEqual(differing(join(root, "killed"), join(root, "whole")), [])
      }).pipe(Effect.provide(client)))
  }
)

it.effect("a run that is interrupted leaves all its pages", () =>
  Effect.gen(function*() {
    const path = join(yield* folder, "out.jsonl")
    const fifth = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(Export.run(fast().source, {
      sink: sinks.jsonl(path),
      onPage: ({ progress }) => progress.pages === 5 ? Deferred.succeed(fifth, undefined) : Effect.void
    }))
    yield* Deferred.await(fifth)
    yield* Fiber.interrupt(fiber)
    const { requested, source } = fast()
    yield* Export.run(source, { sink: sinks.jsonl(path), mode: "resume" })
    assert.isAbove(requested[0] ?? 0, 4)
  }).pipe(Effect.provide(client)))
