import { assert, describe, it } from "@effect/vitest"
import * as StreamItem from "@postwire/core/schema/StreamItem"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as delay } from "node:timers/promises"
import { Duplicates } from "../../core/src/streams/internal/deduplicator.ts"
import { make as random, type Random } from "../../sandbox/src/text/random.ts"
import * as Sealed from "../src/files/Sealed.ts"
import type { FileSink } from "../src/folders/Sink.ts"
import * as Follow from "../src/Follow.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import { allIdsIn, filesIn, idsIn, linesOf } from "./support/Archives.ts"
import { folder, now } from "./support/Scene.ts"
import { type SinkName, sinks } from "./support/Sinks.ts"

type Event = StreamEvent<StreamItem.AnyItem>

/** A second lies between two posts. */
const timeOf = (number: number): number => now + number * 1_000
const idOf = (number: number): string => String(BigInt(timeOf(number) - 1_288_834_974_657) << 22n)

const item = (number: number): StreamItem.AnyItem =>
  StreamItem.make(true, {
    data: {
      id: idOf(number),
      text: `Post ${number} ${"é".repeat(number % 50)}`,
      edit_history_post_ids: [idOf(number)]
    },
    includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
    matching_rules: [{ id: "7", tag: "cats" }]
  })

const delivered = (number: number, at = timeOf(number)): Event => ({
  _tag: "Delivered",
  at: new Date(at),
  item: item(number)
})

/** Both clocks are the same. */
const watermark = (at: number, until: number): Event => ({
  _tag: "Watermark",
  at: new Date(at),
  serviceAt: new Date(at),
  until: new Date(until)
})

const at = new Date(now)

/** A stream that brings just this. */
const scripted = (events: ReadonlyArray<Event>): Follow.Source<never, never> => ({
  ...streamPosts,
  parameters: {},
  events: () => Stream.concat(Stream.fromIterable(events), Stream.never)
})

/** Follows it to so many items. */
const follow = (events: ReadonlyArray<Event>, sink: FileSink, options: Partial<Follow.Options> = {}) =>
  Follow.run(scripted(events), {
    sink,
    limit: events.filter(({ _tag }) => _tag === "Delivered").length,
    ...options
  })

const posts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => delivered(from + i))

const out = Effect.map(folder, (root) => ({ root, path: join(root, "posts.jsonl") }))

describe("a stream into files", () => {
  it.effect("has a line for each item: the post as exports have it, with its rules and what came along", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      const { files, items, progress, status } = yield* follow(posts(0, 3), JsonLines.make(path))
      assert.deepStrictEqual([status, items, progress.items], ["done", 3, 3])
      assert.deepStrictEqual(files.map(({ name, rows }) => [name, rows]), [["posts.jsonl", 3]])
      assert.deepStrictEqual(linesOf(readFileSync(path, "utf8"))[1], {
        id: idOf(1),
        text: "Post 1 é",
        edit_history_post_ids: [idOf(1)],
        includes: { users: [{ id: "1", name: "Ada", username: "ada" }] },
        matching_rules: [{ id: "7", tag: "cats" }]
      })
      assert.deepStrictEqual(filesIn(root), ["posts.jsonl"])
    }))

  it.effect("is one file that grows where nothing else is said, also over several runs", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      let seen = 0
      yield* follow(posts(0, 5), JsonLines.make(path), {
        checkpoint: 0,
        onCheckpoint: ({ items }) =>
          Effect.sync(() => {
            seen = Math.max(seen, linesOf(readFileSync(path, "utf8")).length)
            assert.strictEqual(seen, items)
          })
      })
      assert.strictEqual(seen, 5)
      const { items, progress } = yield* follow(posts(5, 8), JsonLines.make(path))
      assert.deepStrictEqual([items, progress.items, progress.runs], [3, 8, 2])
      assert.deepStrictEqual(yield* Effect.promise(() => idsIn(path)), [0, 1, 2, 3, 4, 5, 6, 7].map(idOf))
      // Somebody has put it away: the next lines are of another file.
      renameSync(path, join(root, "old.jsonl"))
      yield* follow(posts(8, 9), JsonLines.make(path))
      assert.deepStrictEqual(yield* Effect.promise(() => idsIn(path)), [idOf(8)])
      assert.strictEqual((yield* Effect.promise(() => idsIn(join(root, "old.jsonl")))).length, 8)
    }))

  it.effect("begins a file at every multiple of a time, and names it after its first line", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      const { files } = yield* follow(posts(30, 200), JsonLines.make(path), { rotate: { every: "1 minute" } })
      const names = ["120030", "120100", "120200", "120300"].map((time) => `posts-20261120T${time}Z.jsonl`)
      assert.deepStrictEqual(filesIn(root), names)
      assert.deepStrictEqual(files.map(({ name, rows }) => [name, rows]), [
        [names[0], 30],
        [names[1], 60],
        [names[2], 60],
        [names[3], 20]
      ])
      const told = linesOf(readFileSync(`${path}.postwire/files.jsonl`, "utf8"))
      assert.deepStrictEqual(told, files.map((file) => ({ ...file })))
    }))

  it.effect("names a file after its own first line, though the next file's comes while that is being saved", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      const source: Follow.Source<never, never> = {
        ...streamPosts,
        parameters: {},
        events: () =>
          Stream.concat(
            // Saving takes a while.
            Stream.make(delivered(0, now - 100), {
              _tag: "Unreadable" as const,
              at: new Date(now - 100),
              reason: "x".repeat(20_000_000)
            }),
            // The pause before the save may begin after the first second.
            Stream.fromEffect(Effect.as(Effect.repeat(TestClock.adjust("1 second"), { times: 1 }), delivered(2)))
          )
      }
      yield* Follow.run(source, { sink: JsonLines.make(path), rotate: { every: "1 hour" } })
      const names = ["posts-20261120T115959Z.jsonl", "posts-20261120T120002Z.jsonl"]
      assert.deepStrictEqual(filesIn(root), names)
      const ids = yield* Effect.forEach(names, (name) => Effect.promise(() => idsIn(join(root, name))))
      assert.deepStrictEqual(ids, [[idOf(0)], [idOf(2)]])
    }))

  it.effect("begins a file where one has its size, and never takes a name twice", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      const events = posts(0, 300).map((event) => ({ ...event, at }))
      const { files } = yield* follow(events, JsonLines.make(path), { rotate: { size: 10_000 } })
      const names = files.map(({ name }) => name)
      assert.deepStrictEqual(filesIn(root), names.toSorted())
      assert.isAbove(names.length, 5)
      assert.include(names, "posts-20261120T120000Z.jsonl")
      assert.include(names, "posts-20261120T120000Z-2.jsonl")
      for (const { bytes } of files.slice(0, -1)) assert.closeTo(bytes, 10_000, 500)
      assert.strictEqual(new Set(yield* Effect.promise(() => allIdsIn(root))).size, 300)
    }))

  it.effect("goes on from where the last checkpoint is, and knows what it has of the time after that", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      yield* follow([...posts(0, 9), watermark(timeOf(9), timeOf(7)), ...posts(9, 10)], JsonLines.make(path))
      let resumed: unknown
      const source: Follow.Source<never, never> = {
        ...streamPosts,
        parameters: {},
        events: ({ resumeFrom }) => {
          resumed = resumeFrom
          return Stream.concat(Stream.make(delivered(10)), Stream.never)
        }
      }
      yield* Follow.run(source, { sink: JsonLines.make(path), limit: 1 })
      // What is fetched begins a little before.
      assert.deepStrictEqual(resumed, { at: new Date(timeOf(5)), ids: [1, 2, 3, 4, 5, 6, 7, 8, 9].map(idOf) })
    }))

  it.effect("resumes at the same time, however often it ends before the missed items have arrived", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      yield* follow([watermark(timeOf(9), timeOf(7)), ...posts(0, 9)], JsonLines.make(path))
      const resumed: Array<Date | undefined> = []
      const source: Follow.Source<never, never> = {
        ...streamPosts,
        parameters: {},
        events: ({ resumeFrom }) => {
          const at = resumed.push(resumeFrom?.at) + 8
          return Stream.make(watermark(timeOf(at), resumeFrom?.at.getTime() ?? NaN), delivered(at))
        }
      }
      for (let run = 0; run < 3; run++) yield* Follow.run(source, { sink: JsonLines.make(path), limit: 1 })
      assert.deepStrictEqual(resumed, [5, 5, 5].map((number) => new Date(timeOf(number))))
    }))

  it.effect("writes none of its items again, however many an earlier run has kept", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      const many = 100_001
      yield* follow([watermark(now, now), ...posts(0, 1)], JsonLines.make(path), { rotate: { every: "1 hour" } })
      const place = `${path}.postwire/stream.json`
      const { sha256: _, standing, ...rest } = JSON.parse(readFileSync(place, "utf8"))
      const ids = Array.from({ length: many }, (_, i) => `${i}:${now.toString(36)}`).join(" ")
      writeFileSync(place, Sealed.stringify({ ...rest, standing: { ...standing, ids } }))
      let known = 0
      const source: Follow.Source<never, never> = {
        ...streamPosts,
        parameters: {},
        events: ({ duplicates, resumeFrom: { ids = [] } = { at } }) => {
          const seen = new Duplicates(duplicates?.size ?? 200_000, Infinity)
          for (const id of ids) seen.add(id, 0, true)
          for (let i = 0; i < many - 1; i++) seen.add(`new-${i}`, 0, true)
          for (const id of ids) if (!seen.add(id, 0, true)) known++
          return Stream.empty
        }
      }
      yield* Follow.run(source, { sink: JsonLines.make(path), rotate: { every: "1 hour" } })
      assert.strictEqual(known, many)
    }))

  it.effect("tells beside the files what is missing", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      const { progress } = yield* follow([
        { _tag: "Gap", at, from: new Date(timeOf(1)), to: new Date(timeOf(4)), filledBy: "search" },
        { _tag: "Gap", at, from: new Date(timeOf(7)), to: new Date(timeOf(9)), filledBy: undefined, why: "no" },
        { _tag: "Dropped", at, count: 3 },
        { _tag: "Unreadable", at, reason: "it is no JSON" },
        delivered(10)
      ], JsonLines.make(path))
      assert.deepStrictEqual([progress.gaps, progress.lost], [1, 4])
      assert.deepStrictEqual(linesOf(readFileSync(`${path}.postwire/gaps.jsonl`, "utf8")), [
        { from: "2026-11-20T12:00:01.000Z", to: "2026-11-20T12:00:04.000Z", filledBy: "search", at: at.toISOString() },
        { from: "2026-11-20T12:00:07.000Z", to: "2026-11-20T12:00:09.000Z", why: "no", at: at.toISOString() },
        { dropped: 3, at: at.toISOString() },
        { unreadable: "it is no JSON", at: at.toISOString() }
      ])
    }))

  it.effect("leaves nothing where nothing came, and completes its files when it fails", () =>
    Effect.gen(function*() {
      const { path, root } = yield* out
      const failing = (events: ReadonlyArray<Event>): Follow.Source<Error, never> => ({
        ...streamPosts,
        parameters: {},
        events: () => Stream.concat(Stream.fromIterable(events), Stream.fail(new Error("no more")))
      })
      yield* Effect.flip(Follow.run(failing([]), { sink: JsonLines.make(path) }))
      assert.isFalse(existsSync(`${path}.postwire`))
      const prompt = yield* Deferred.make<void>()
      const asking = yield* Effect.forkChild(Follow.run(failing([]), {
        sink: JsonLines.make(path),
        onStart: () => Effect.andThen(Deferred.succeed(prompt, undefined), Effect.never)
      }))
      yield* Deferred.await(prompt)
      assert.isTrue(existsSync(`${path}.postwire`))
      yield* Fiber.interrupt(asking)
      assert.isFalse(existsSync(`${path}.postwire`))
      const error = yield* Effect.flip(
        Follow.run(failing(posts(0, 4)), { sink: JsonLines.make(path), rotate: { every: "1 hour" } })
      )
      assert.strictEqual(error.message, "no more")
      assert.deepStrictEqual(filesIn(root), ["posts-20261120T120000Z.jsonl"])
    }))

  it.effect("stops on request, with its files complete", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      const stop = yield* Deferred.make<void>()
      const { items, status } = yield* Follow.run(scripted(posts(0, 4)), {
        sink: JsonLines.make(path),
        onEvent: (event) => {
          if (event._tag === "Delivered" && event.at.getTime() === timeOf(3)) Deferred.doneUnsafe(stop, Exit.void)
        },
        stop: Deferred.await(stop)
      })
      assert.deepStrictEqual([status, items], ["interrupted", 4])
      assert.strictEqual((yield* Effect.promise(() => idsIn(path))).length, 4)
    }))

  it.effect("refuses what is another's, and what was asked otherwise", () =>
    Effect.gen(function*() {
      const { path } = yield* out
      writeFileSync(path, "mine\n")
      const taken = yield* Effect.flip(follow(posts(0, 1), JsonLines.make(path)))
      assert.strictEqual(taken._tag, "FileExists")
      assert.isFalse(existsSync(`${path}.postwire`))
      yield* follow(posts(0, 1), JsonLines.make(path), { mode: "force" })
      assert.deepStrictEqual(yield* Effect.promise(() => idsIn(path)), [idOf(0)])
      const other = yield* Effect.flip(follow(posts(1, 2), JsonLines.make(path), { tags: ["dogs"] }))
      assert.match(other.message, /tags was not set and is now dogs/)
    }))
})

/** What a service makes and sends, over several runs of which each is killed. */
class Service {
  /** How many posts there are by now. */
  made = 0
  readonly missing = new Set<string>()
  readonly #draw: Random

  /** As streams are kept up: what was missed comes first or is told, a watermark follows, and order is no more than rough. */
  readonly source: Follow.Source<never, never> = {
    ...streamPosts,
    parameters: {},
    events: ({ resumeFrom }) =>
      Stream.fromIterable(this.#events(resumeFrom?.at, new Set(resumeFrom?.ids)), {
        chunkSize: 1 + this.#draw.below(40)
      }).pipe(
        Stream.mapArrayEffect((some) => Effect.as(Effect.promise(() => delay()), some))
      )
  }

  constructor(draw: Random) {
    this.#draw = draw
  }

  *#events(since: Date | undefined, known: ReadonlySet<string>): Generator<Event> {
    const draw = this.#draw
    yield { _tag: "Connected", at: new Date(timeOf(this.made)), attempt: 1 }
    yield watermark(timeOf(this.made), since?.getTime() ?? timeOf(this.made))
    if (since !== undefined) {
      const to = new Date(timeOf(this.made))
      const missed = numbersFrom(since).filter((number) => number < this.made && !known.has(idOf(number)))
      if (draw.chance(0.2)) {
        for (const number of missed) this.missing.add(idOf(number))
        yield { _tag: "Gap", at: to, from: since, to, filledBy: undefined, why: "nobody knows" }
      } else {
        for (const number of missed) yield delivered(number, to.getTime())
        yield { _tag: "Gap", at: to, from: since, to, filledBy: "search" }
      }
    }
    while (true) {
      // Five at a time, in any order.
      const some = Array.from({ length: 5 }, (_, i) => this.made + i).sort(() => draw.next() - 0.5)
      this.made += 5
      const at = timeOf(this.made)
      for (const number of some) yield delivered(number, at)
      if (draw.chance(0.3)) {
        yield watermark(at, timeOf(this.made - draw.below(Math.min(this.made, 12))))
      }
    }
  }
}

const numbersFrom = (time: Date): ReadonlyArray<number> =>
  Array.from({ length: 100_000 }, (_, i) => Math.max(0, Math.ceil((time.getTime() - now) / 1_000)) + i)

interface Case {
  readonly sink: SinkName
  readonly rotate: Follow.Rotation | undefined
}

const cases: ReadonlyArray<Case> = [
  { sink: "jsonl", rotate: undefined },
  { sink: "jsonl", rotate: { every: "5 minutes" } },
  { sink: "jsonl.gz", rotate: { size: 3_000 } },
  { sink: "csv", rotate: { every: "5 minutes", size: 20_000 } },
  { sink: "parquet", rotate: { every: "5 minutes" } },
  { sink: "sqlite", rotate: undefined }
]

describe.each(cases)("a stream into $sink with rotation $rotate, cut off at random", ({ rotate, sink }) => {
  const isGrowing = rotate === undefined && sinks[sink]("a").growing !== undefined

  it.live("has every item once, or tells that it is missing", () =>
    Effect.gen(function*() {
      const seed = Math.floor(Math.random() * 1e9)
      const draw = random(seed, "cuts")
      const root = yield* folder
      const service = new Service(random(seed, "service"))
      let place = join(root, "0")
      mkdirSync(place)
      const cuts = 4
      for (let cut = 1; cut <= cuts; cut++) {
        const next = join(root, String(cut))
        let left = 5 + draw.below(50)
        const isCut = yield* Deferred.make<void>()
        // What is on the disk at any moment is what a crash leaves.
        const tick = () => {
          if (--left > 0) return void setImmediate(tick)
          cpSync(place, next, { recursive: true })
          // A copy is no link.
          if (isGrowing) rmSync(join(next, `posts.${sink}`), { force: true })
          Deferred.doneUnsafe(isCut, Exit.void)
        }
        let begin = tick
        yield* Follow.run(service.source, {
          sink: sinks[sink](join(place, `posts.${sink}`)),
          checkpoint: 1 + draw.below(4),
          // Before there is a checkpoint, nothing was written, and nothing is gone on with.
          onCheckpoint: () =>
            Effect.sync(() => {
              begin()
              begin = () => {}
            }),
          ...rotate === undefined ? {} : { rotate },
          stop: Deferred.await(isCut)
        })
        place = next
        // What is made while nobody listens.
        service.made += draw.below(30)
      }
      const last = service.made
      const stop = yield* Deferred.make<void>()
      const { progress } = yield* Follow.run(service.source, {
        sink: sinks[sink](join(place, `posts.${sink}`)),
        onEvent: (event) => {
          // Posts are generated a chunk ahead of delivery. This one is delivered after everything that was missed.
          if (event._tag === "Delivered" && event.at.getTime() > timeOf(last + 20)) Deferred.doneUnsafe(stop, Exit.void)
        },
        stop: Deferred.await(stop),
        ...rotate === undefined ? {} : { rotate }
      })
      const ids = yield* Effect.promise(() => allIdsIn(place))
      const times = new Map<string, number>()
      for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1)
      assert.deepStrictEqual([...times].filter(([, count]) => count > 1), [], `twice, seed ${seed}`)
      const lost = Array.from({ length: last }, (_, i) => idOf(i))
        .filter((id) => !times.has(id) && !service.missing.has(id))
      assert.deepStrictEqual(lost.length, 0, `lost, seed ${seed}`)
      assert.strictEqual(progress.items, ids.length, `counted, seed ${seed}`)
      const gaps = `${join(place, `posts.${sink}`)}.postwire/gaps.jsonl`
      if (service.missing.size > 0) assert.isAtLeast(linesOf(readFileSync(gaps, "utf8")).length, 1)
    }))
})
