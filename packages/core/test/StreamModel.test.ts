/** Streams against a model of a faulty service: each post is delivered once, or lies in a reported gap. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Random } from "effect"
import { TestClock } from "effect/testing"
import { StreamOverflow } from "../src/errors/StreamErrors.ts"
import type { Definition } from "../src/schema/Definition.ts"
import { streamPosts, streamPostsSample } from "../src/streams/operations/Streams.ts"
import type { Recover } from "../src/streams/StreamOptions.ts"
import { follow, idOf } from "./support/Following.ts"
import type { Answer } from "./support/Service.ts"
import { type Connect, type Line, lineOf, settle, streaming } from "./support/StreamService.ts"

const runs = process.env["POSTWIRE_LONG"] === "1" ? 40 : 1

/** Random numbers from 0 to 1, determined by the seed. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mix = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix
  return ((mix ^ (mix >>> 14)) >>> 0) / 2 ** 32
}

interface Post {
  readonly id: string
  readonly text: string
  readonly millis: number
  /** When the stream delivers it, and when a search finds it. */
  readonly streamed: number
  readonly indexed: number
  readonly tags: ReadonlyArray<string>
}

const rules = [{ id: "r-cat", value: "cat", tag: "cat" }, { id: "r-dog", value: "dog", tag: "dog" }]

const rendered = ({ id, millis, tags, text }: Post) => ({ id, text, created_at: new Date(millis).toISOString(), tags })

/** A faulty service, and its posts. */
const modelOf = (random: () => number, now: () => number) => {
  const posts: Array<Post> = []
  let trouble = 0
  const stalled = new Set<Line>()
  const chance = (of: number) => random() < of

  const connect = (): Connect => {
    if (trouble > 0) {
      trouble--
      return chance(0.5) ? "refuse" : { status: 503 }
    }
    return "accept"
  }

  const search = (query: Readonly<Record<string, string>>): Answer => {
    if (chance(0.1)) return { status: 503 }
    const [from, to] = [Date.parse(query["start_time"]!), Date.parse(query["end_time"]!)]
    const before = BigInt(query["next_token"] ?? "999999999999")
    const found = posts.filter(({ id, indexed, millis, text }) =>
      text.includes(query["query"]!) && millis >= from && millis < to && indexed <= now() && BigInt(id) < before
    ).toReversed()
    const page = found.slice(0, 5)
    return {
      body: {
        data: page.map((post) => ({ ...rendered(post), tags: undefined })),
        meta: { result_count: page.length, ...(found.length > 5 ? { next_token: page.at(-1)!.id } : {}) }
      }
    }
  }

  const service = streaming(
    connect,
    (path, query) =>
      path.endsWith("/rules")
        ? { body: { data: rules, meta: { sent: new Date(now()).toISOString() } } }
        : path.endsWith("/search/recent")
        ? search(query)
        : { status: 404 }
  )

  let seen = 0
  let streamedTo = 0
  let spoken = 0
  return {
    service,
    posts,
    /** Makes one step in time. */
    step: (isCalm: boolean) => {
      for (; seen < service.lines.length; seen++) {
        const line = service.lines[seen]!
        const minutes = Number(line.query["backfill_minutes"] ?? 0)
        const again = posts.filter(({ millis, streamed }) =>
          millis >= now() - minutes * 60_000 && streamed <= streamedTo
        )
        if (minutes > 0 && again.length > 0) line.post(...again.map(rendered))
      }
      const line = service.lines.at(-1)
      const due = posts.filter(({ streamed }) => streamed > streamedTo && streamed <= now())
      streamedTo = now()
      if (!isCalm) {
        for (let count = Math.floor(random() * 3); count > 0; count--) {
          const text = ["cat", "dog", "cat dog"][Math.floor(random() * 3)]!
          posts.push({
            id: String(posts.length + 1),
            text,
            millis: now(),
            streamed: now() + 1 + Math.floor(random() * 7_000),
            indexed: now() + Math.floor(random() * 25_000),
            tags: text.split(" ")
          })
        }
      }
      if (line === undefined || line.isClosed() || stalled.has(line)) return
      if (chance(0.3)) due.reverse()
      for (const post of due) {
        if (!isCalm && chance(0.01)) {
          // Cut inside a line.
          line.send(lineOf(rendered(post)).slice(0, 20))
          return line.cut()
        }
        line.post(rendered(post))
        if (chance(0.02)) line.post(rendered(post))
      }
      if (due.length > 0) spoken = now()
      else if (now() - spoken >= 20_000) {
        line.send("\r\n")
        spoken = now()
      }
      if (isCalm) return
      if (chance(0.005)) line.send("garbage\r\n")
      if (chance(0.006)) stalled.add(line)
      if (chance(0.006)) trouble = Math.floor(random() * 3)
      if (chance(0.015)) line.cut()
      else if (chance(0.011)) line.end()
      else if (chance(0.01)) {
        line.send(
          `${JSON.stringify({ errors: [{ title: "t", disconnect_type: "UpstreamOperationalDisconnect" }] })}\r\n`
        )
        if (chance(0.5)) line.end()
        else stalled.add(line)
      }
    }
  }
}

const stepMillis = 1_000

describe("a stream of a faulty service", () => {
  const cases: ReadonlyArray<readonly [Recover, Definition, consumer: "quick" | "slow"]> = [
    ["none", streamPosts.definition, "quick"],
    ["search", streamPosts.definition, "quick"],
    ["search", streamPosts.definition, "slow"],
    ["recovery", streamPostsSample.definition, "quick"],
    ["recovery", streamPosts.definition, "slow"]
  ]
  const numbered = cases.flatMap(([recover, definition, consumer]) =>
    Array.from({ length: runs }, (_, index) => [definition.name, recover, consumer, index + 1, definition] as const)
  )

  it.effect.each(numbered)(
    "%s with recover %s and a %s consumer, run %i: each post is delivered once, or lies in a reported gap",
    ([, recover, consumer, seed, definition]) =>
      Effect.gen(function*() {
        const begun = 1_800_000_000_000
        yield* TestClock.setTime(begun)
        const clock = yield* TestClock.testClockWith(Effect.succeed)
        const now = () => clock.currentTimeMillisUnsafe()
        const { posts, service, step } = modelOf(randomOf(seed), now)
        const pauses = randomOf(-seed)
        let isCalm = false
        const { events, fiber } = yield* follow(
          service,
          consumer === "quick" ? { recover } : { recover, bufferSize: 20 },
          definition,
          {},
          () => consumer === "slow" && !isCalm && pauses() < 0.04 ? Effect.sleep(pauses() * 4_000) : Effect.void
        )
        const steps = (millis: number, isCalm: boolean) =>
          Effect.gen(function*() {
            for (let passed = 0; passed < millis; passed += stepMillis) {
              step(isCalm)
              yield* settle
              yield* TestClock.adjust(stepMillis)
              yield* settle
            }
          })
        yield* steps(300_000, false)
        isCalm = true
        yield* steps(180_000, true)
        const exit = fiber.pollUnsafe()
        // A consumer that is too slow ends. Until then, everything holds.
        const isOver = consumer === "slow" && exit !== undefined
        if (isOver) assert.instanceOf(yield* Effect.flip(Fiber.join(fiber)), StreamOverflow)
        else assert.isUndefined(exit)

        const delivered = new Map<string, ReadonlyArray<string | undefined>>()
        const gaps: Array<readonly [from: number, to: number]> = []
        const isThere = ({ id, millis }: Post) =>
          delivered.has(id) || gaps.some(([from, to]) => millis >= from && millis < to)
        const [connected] = events.filter(({ _tag }) => _tag === "Connected")
        const asked = posts.filter(({ millis }) => millis >= connected!.at.getTime())
        let until = 0
        for (const event of events) {
          if (event._tag === "Gap" && event.filledBy === undefined) {
            gaps.push([event.from.getTime(), event.to.getTime()])
          }
          if (event._tag === "Watermark") {
            assert.isAtLeast(event.until.getTime(), until)
            until = event.until.getTime()
            const missing = asked.filter((post) => post.millis < until && !isThere(post))
            assert.deepStrictEqual(missing, [], `before ${until - begun}, told at ${event.at.getTime() - begun}`)
          }
          if (event._tag !== "Delivered") continue
          const id = idOf(event.item)
          assert.isFalse(delivered.has(id), `${id} came twice`)
          delivered.set(id, event.item.matchingRules.map(({ tag }) => tag))
        }
        if (!isOver) {
          assert.deepStrictEqual(asked.filter((post) => !isThere(post)), [])
          assert.isAbove(until, posts.at(-1)!.millis)
        }
        for (const { id, tags } of posts) if (delivered.has(id)) assert.sameMembers([...delivered.get(id)!], [...tags])
        if (recover !== "none") assert.lengthOf(gaps, 0)
      }).pipe(Random.withSeed(`${seed}`))
  )
})
