import { assert, describe, it } from "@effect/vitest"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Stream } from "effect"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as Partitions from "../src/Partitions.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Plan from "../src/sources/Plan.ts"
import * as Source from "../src/sources/Source.ts"
import { client, folder, linesIn, now, planned, sandbox, stopAfter } from "./support/Scene.ts"

const days = (count: number) => `${count} days` as const

const recent = (bounds: object = {}) =>
  Source.make(searchRecentPosts, { query: "effect", max_results: 10, post_fields: ["created_at"], ...bounds })

interface Post {
  readonly id: string
  readonly created_at: string
}

const advance = (by: `${number} days`) =>
  Effect.flatMap(Sandbox.Sandbox, ({ clock }) => Effect.sync(() => clock.advance(Number.parseFloat(by) * 86_400_000)))

/** Runs an export that is stopped after so many pages. */
const stopped = (source: Source.Source, path: string, pages: number) =>
  Effect.gen(function*() {
    const { budget } = yield* Sandbox.Sandbox
    const { onPage, stop } = yield* stopAfter(pages)
    const { status } = yield* Export.run(source, {
      sink: JsonLines.make(path),
      stop,
      onPage: (report) => Effect.andThen(Effect.sync(budget.clear), onPage(report))
    })
    assert.strictEqual(status, "interrupted")
  })

const resumed = (source: Source.Source, path: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ budget }) =>
    Export.run(source, {
      sink: JsonLines.make(path),
      mode: "resume",
      onPage: () => Effect.sync(() => budget.clear())
    }))

/** All of a search, as it is now. */
const all = (source: Source.Source) =>
  Effect.gen(function*() {
    const { budget } = yield* Sandbox.Sandbox
    const pages = yield* Stream.runCollect(Stream.tap(source.pages(undefined), () => Effect.sync(() => budget.clear())))
    budget.clear()
    return pages.flatMap(({ items }) => items as ReadonlyArray<Post>)
  })

describe("a search that is resumed days later", () => {
  it.live.each(
    [
      ["without bounds", {}],
      ["with a start", { start_time: new Date(now - 6.9 * 86_400_000) }]
    ] as const
  )("%s says what has left the window, and has the rest once", ([_, bounds]) =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const before = yield* all(recent(bounds))
      yield* stopped(recent(bounds), path, 2)
      yield* advance(days(3))
      const floor = new Date(now + (3 - 7) * 86_400_000).toISOString()
      const { progress, status } = yield* resumed(recent(bounds), path)
      assert.deepStrictEqual([status, progress.errors], ["partial", 1])
      const { outOfReach } = progress
      assert.strictEqual(outOfReach?.to.slice(0, 16), floor.slice(0, 16))
      const start = new Date("start_time" in bounds ? bounds.start_time : now - 7 * 86_400_000).toISOString()
      assert.strictEqual(outOfReach?.from.slice(0, 16), start.slice(0, 16))
      const [problem] = linesIn(`${path}.postwire/errors.jsonl`)
      assert.deepInclude(problem, { type: "postwire:out-of-reach", ...outOfReach })
      const there = before.filter(({ created_at }) => created_at > floor).map(({ id }) => id)
      assert.isAbove(before.length, there.length)
      assert.isAbove(there.length, 20)
      assert.deepStrictEqual(linesIn(path).map(({ id }) => id), there)
      assert.strictEqual((yield* resumed(recent(bounds), path)).status, "partial")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("is done when nothing that it wanted has left", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const young = recent({ start_time: new Date(now - 2 * 86_400_000) })
      const before = yield* all(young)
      yield* stopped(young, join(root, "a.jsonl"), 1)
      yield* advance(days(4))
      const { status } = yield* resumed(young, join(root, "a.jsonl"))
      assert.strictEqual(status, "done")
      assert.deepStrictEqual(linesIn(join(root, "a.jsonl")).map(({ id }) => id), before.map(({ id }) => id))
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("is done when it has as many as it was to have", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const limit = { sink: JsonLines.make(path), limit: 15 }
      const stop = { stop: Effect.void, grace: 60_000 }
      assert.strictEqual((yield* Export.run(recent(), { ...limit, ...stop })).status, "interrupted")
      yield* advance(days(3))
      const { progress, status } = yield* Export.run(recent(), { ...limit, mode: "resume" })
      assert.deepStrictEqual([status, progress.items], ["done", 15])
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("in the archive keeps its thirty days", () =>
    Effect.gen(function*() {
      const { clock } = yield* Sandbox.Sandbox
      const archive = Source.make(searchAllPosts, { query: "effect", max_results: 40 })
      // The service takes one request a second.
      const paced = (cursor?: string) =>
        Stream.tap(archive.pages(cursor), () => Effect.sync(() => clock.advance("2 seconds")))
      const postsOf = (pages: ReadonlyArray<Source.Page>) => pages.flatMap(({ items }) => items as ReadonlyArray<Post>)
      const before = postsOf(yield* Stream.runCollect(paced()))
      const first = yield* Stream.runCollect(Stream.take(paced(), 2))
      yield* advance(days(20))
      assert.isBelow(postsOf(yield* Stream.runCollect(paced())).length, before.length)
      const rest = yield* Stream.runCollect(paced(first.at(-1)!.next))
      assert.deepStrictEqual(postsOf([...first, ...rest]), before)
      assert.deepStrictEqual(rest.flatMap(({ errors }) => errors), [])
      assert.isAtLeast(rest.length, 2)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("in parts says so of each that it can no longer have", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.jsonl")
      const source = recent()
      const before = yield* all(source)
      const { buckets } = yield* Plan.estimate(source)
      const plan = planned(source, buckets, 4)
      const options = { sink: JsonLines.make(path), partitions: Effect.succeed(plan), concurrency: 1 }
      const first = yield* Partitions.run(source, {
        ...options,
        ...yield* stopAfter(),
        // Those that come after the first have no page then.
        grace: 0
      })
      assert.strictEqual(first.status, "interrupted")
      yield* advance(days(5))
      const { progress, status } = yield* Partitions.run(source, { ...options, mode: "resume" })
      const floor = new Date(now - 2 * 86_400_000).toISOString()
      assert.strictEqual(status, "partial")
      assert.isAtLeast(progress.errors, 2)
      assert.strictEqual(progress.outOfReach?.from, plan.at(-1)!.begins)
      const there = before.filter(({ created_at }) => created_at > floor).map(({ id }) => id)
      assert.deepStrictEqual(linesIn(path).map(({ id }) => id), there)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))

  it.live("by a queue hears of it too", () =>
    Effect.gen(function*() {
      const { buckets } = yield* Plan.estimate(recent())
      const plan = planned(recent(), buckets, 2)
      const errors: Array<object> = []
      yield* advance(days(6))
      let cursor: Partitions.Cursor = Partitions.beginning
      while (!cursor.complete) {
        cursor = yield* Partitions.exportPartition(recent(), plan[1]!, {
          cursor: JSON.parse(JSON.stringify(cursor)) as Partitions.Cursor,
          write: (page) => Effect.sync(() => errors.push(...page.errors))
        })
      }
      assert.strictEqual(cursor.errors, 1)
      assert.deepInclude(errors[0], { type: "postwire:out-of-reach", from: plan[1]!.begins })
    }).pipe(Effect.provide(client), Effect.provide(sandbox(600))))
})
