import { expect, it } from "@effect/vitest"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import type { ServerOptions } from "../src/admin/Options.ts"
import { Sandbox } from "../src/index.ts"
import { ask, json, listen, settle } from "./support/Listening.ts"
import { requestOf } from "./support/Operations.ts"

const start = Date.UTC(2026, 7, 1, 12)

const layerOf = (options: ServerOptions = {}) => Sandbox.layer({ posts: 0, start, ...options })

const rules = (...values: ReadonlyArray<string>) =>
  json("POST", "/2/posts/search/stream/rules", { add: values.map((value) => ({ value, tag: value })) })

const filtered = "/2/posts/search/stream"

describe("the filtered stream", () => {
  it.effect("brings what is posted, with the rules that match", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("cat has:links", "from:grace", "dog")
      const stream = yield* listen(`${filtered}?post.fields=author_id&expansions=author_id&user.fields=username`)
      const grace = sandbox.user({ username: "grace" })
      grace.post("A cat: https://example.com")
      sandbox.ada.post("Nothing of this")
      sandbox.ada.post("A dog")
      yield* settle
      expect(
        stream.items().map(({ data, includes, matching_rules }) => [
          data.text,
          includes.users[0].username,
          matching_rules.map(({ tag }: { readonly tag: string }) => tag)
        ])
      ).toEqual([
        ["A cat: https://example.com", "grace", ["cat has:links", "from:grace"]],
        ["A dog", "ada", ["dog"]]
      ])
      expect(stream.bytes().toString()).toMatch(/^\r\n(\{[^\r\n]*\}\r\n){2}$/)
    }).pipe(Effect.provide(layerOf())))

  it.effect("names an empty tag for a rule that has none", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { data: [rule] } = yield* json("POST", "/2/posts/search/stream/rules", { add: [{ value: "cat" }] })
      const stream = yield* listen(filtered)
      sandbox.ada.post("A cat")
      yield* settle
      expect(stream.items()).toMatchObject([{ matching_rules: [{ id: rule.id, tag: "" }] }])
    }).pipe(Effect.provide(layerOf())))

  it.effect("is refused without rules, and a second time, and goes to the next one when it is ended", () =>
    Effect.gen(function*() {
      expect([(yield* ask("GET", filtered)).status, yield* json("GET", filtered)]).toMatchObject([
        409,
        { title: "ConnectionException", connection_issue: "RuleConfigurationIssue" }
      ])
      yield* rules("cat")
      const first = yield* listen(filtered)
      const second = yield* ask("GET", filtered)
      expect([second.status, yield* second.json, Number(second.headers["x-rate-limit-remaining"]) > 40]).toMatchObject([
        429,
        { title: "ConnectionException", connection_issue: "TooManyConnections" },
        true
      ])
      const { data } = yield* json("GET", "/2/connections")
      expect(data).toMatchObject([{ endpoint_name: "filtered_stream", connected_at: new Date(start).toISOString() }])
      expect(yield* json("DELETE", "/2/connections", { uuids: [data[0].id] })).toMatchObject({
        data: { successful_kills: 1, failed_kills: 0 }
      })
      yield* Fiber.join(first.fiber)
      expect(first.items()).toMatchObject([{ errors: [{ disconnect_type: "ForceDisconnect" }] }])
      expect((yield* listen(filtered)).status).toBe(200)
      expect(yield* json("GET", "/2/connections?status=inactive")).toMatchObject({
        data: [{ id: data[0].id, disconnect_reason: "force_disconnect" }]
      })
    }).pipe(Effect.provide(layerOf())))

  it.effect("has a heartbeat every 20 seconds of silence", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("cat")
      const stream = yield* listen(filtered)
      yield* TestClock.adjust("19 seconds")
      expect(stream.lines).toEqual([""])
      yield* TestClock.adjust("1 second")
      yield* settle
      expect(stream.lines).toEqual(["", ""])
      yield* TestClock.adjust("10 seconds")
      sandbox.ada.post("A cat")
      yield* settle
      yield* TestClock.adjust("19 seconds")
      expect(stream.lines.length).toBe(3)
      yield* TestClock.adjust("1 second")
      yield* settle
      expect(stream.lines.length).toBe(4)
    }).pipe(Effect.provide(layerOf())))

  it.effect("begins in the past with backfill, and brings again what there was", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("cat")
      const post = (text: string) => sandbox.ada.post({ text, at: sandbox.clock.now() })
      const first = yield* listen(filtered)
      post("cat 1")
      yield* TestClock.adjust("90 seconds")
      post("cat 2")
      yield* settle
      yield* Fiber.interrupt(first.fiber)
      yield* TestClock.adjust("10 seconds")
      post("cat 3")
      const second = yield* listen(`${filtered}?backfill_minutes=1`)
      post("cat 4")
      yield* settle
      expect([first.texts(), second.texts()]).toEqual([["cat 1", "cat 2"], ["cat 2", "cat 3", "cat 4"]])
      yield* TestClock.adjust("1 second")
      const times = [sandbox.clock.now() - 300_000, sandbox.clock.now()].map((time) => new Date(time).toISOString())
      const recovery = yield* listen(`${filtered}?start_time=${times[0]}&end_time=${times[1]}`)
      yield* Fiber.join(recovery.fiber)
      expect(recovery.texts()).toEqual(["cat 1", "cat 2", "cat 3", "cat 4"])
    }).pipe(Effect.provide(layerOf())))

  it.effect("is for apps with access, where it begins in the past", () =>
    Effect.gen(function*() {
      const { app } = yield* Sandbox.Sandbox
      const { bearerToken } = app({ access: "standard" }).settings
      yield* json("POST", "/2/posts/search/stream/rules", { add: [{ value: "cat" }] }, bearerToken)
      expect((yield* ask("GET", `${filtered}?backfill_minutes=1`, undefined, bearerToken)).status).toBe(403)
      expect((yield* ask("GET", "/2/posts/sample/stream", undefined, bearerToken)).status).toBe(403)
      expect((yield* listen(filtered, bearerToken)).status).toBe(200)
    }).pipe(Effect.provide(layerOf())))
})

describe("connections", () => {
  it.effect("are listed oldest first, the latest 1,000 of those that ended", () =>
    Effect.gen(function*() {
      const { budget, streams } = yield* Sandbox.Sandbox
      yield* rules("cat")
      yield* ask("GET", filtered)
      const [oldest] = streams.connections()
      for (let i = 0; i < 1_002; i++) {
        yield* TestClock.adjust("1 millis")
        if (i % 40 === 0) budget.clear()
        yield* ask("GET", filtered)
        expect(streams.disconnect(streams.connections().at(-1)!.id)).toBe(true)
      }
      const listed = streams.connections()
      expect(listed.length).toBe(1_001)
      expect(listed[0]).toEqual(oldest)
      expect(listed.map(({ openedAt }) => openedAt - start)).toEqual([
        0,
        ...Array.from({ length: 1_000 }, (_, i) => i + 3)
      ])
    }).pipe(Effect.provide(layerOf({ streamConnections: 2 }))))

  it.effect("that a fault breaks end with a disconnection or a reset, even if the client does not read", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("cat")
      const connectBroken = Effect.gen(function*() {
        sandbox.faults.add({ stream: { kind: "cut" } })
        expect((yield* ask("GET", filtered)).status).toBe(200)
        return sandbox.streams.connections().at(-1)!
      })
      expect(sandbox.streams.disconnect((yield* connectBroken).id)).toBe(true)
      expect(sandbox.streams.connections()).toMatchObject([{ reason: "force_disconnect" }])
      yield* connectBroken
      sandbox.reset()
      yield* rules("cat")
      expect((yield* ask("GET", filtered)).status).toBe(200)
    }).pipe(Effect.provide(layerOf())))

  it.effect("receive what is listed as a match; the ledger also has posts that none received", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("cat")
      sandbox.streams.record()
      sandbox.ada.post("A cat that nobody receives")
      expect([sandbox.streams.matches(), sandbox.streams.ledger().made.length]).toEqual([[], 1])
      yield* listen(filtered)
      sandbox.ada.post("A cat")
      expect(sandbox.streams.matches()).toMatchObject([{ text: "A cat" }])
    }).pipe(Effect.provide(layerOf())))
})

describe("rules", () => {
  it.effect("are added beside those that are wrong, and not twice", () =>
    Effect.gen(function*() {
      expect(yield* rules("cat", "(", "cat")).toMatchObject({
        data: [{ value: "cat", tag: "cat" }],
        errors: [
          { type: expect.stringMatching(/\/invalid-rules$/), value: "(" },
          { type: expect.stringMatching(/\/duplicate-rules$/), value: "cat", id: expect.stringMatching(/^\d+$/) }
        ],
        meta: { summary: { created: 1, not_created: 2, valid: 2, invalid: 1 } }
      })
      expect(yield* json("GET", "/2/posts/search/stream/rules")).toMatchObject({
        data: [{ value: "cat" }],
        meta: { result_count: 1 }
      })
    }).pipe(Effect.provide(layerOf())))

  it.effect("are only tried with dry_run, deleted by id, value or all together, and counted", () =>
    Effect.gen(function*() {
      const path = "/2/posts/search/stream/rules"
      const tried = yield* json("POST", `${path}?dry_run=true`, { add: [{ value: "a" }] })
      expect(tried).toMatchObject({ meta: { summary: { created: 1 } } })
      expect(yield* json("GET", path)).toMatchObject({ meta: { result_count: 0 } })
      const { data } = yield* rules("a", "b", "c", "d")
      expect(yield* json("POST", path, { delete: { ids: [data[0].id, "1"] } })).toMatchObject({
        meta: { summary: { deleted: 1, not_deleted: 1 } }
      })
      expect(yield* json("POST", path, { delete: { values: ["b"] } })).toMatchObject({
        meta: { summary: { deleted: 1 } }
      })
      expect(yield* json("GET", `${path}/counts`)).toMatchObject({
        data: { client_app_rules_count: { rule_count: 2 }, cap_per_client_app: 1_000 }
      })
      expect(yield* json("POST", `${path}?delete_all=true`, {})).toMatchObject({ meta: { summary: { deleted: 2 } } })
    }).pipe(Effect.provide(layerOf())))

  it.effect("are no more than an app may have", () =>
    rules("a", "b", "c").pipe(
      Effect.map((answer) =>
        expect(answer).toMatchObject({
          errors: [{ type: expect.stringMatching(/\/rule-cap$/) }],
          meta: { summary: { created: 2 } }
        })
      ),
      Effect.provide(layerOf({ streamRules: 2 }))
    ))
})

describe("other streams", () => {
  it.effect("bring what becomes of posts, likes and users", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const posts = yield* Effect.forEach(
        [1, 2, 3, 4],
        (part) => listen(`/2/posts/compliance/stream?partition=${part}`)
      )
      const users = yield* Effect.forEach(
        [1, 2, 3, 4],
        (part) => listen(`/2/users/compliance/stream?partition=${part}`)
      )
      const unliked = yield* listen("/2/likes/compliance/stream")
      const liked = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => i + 1),
        (part) => listen(`/2/likes/firehose/stream?partition=${part}&expansions=liked_post_id`)
      )
      const grace = sandbox.user({ username: "grace" })
      const post = sandbox.ada.post("On engines")
      grace.likes(post)
      sandbox.store.likes.set(grace.id, post.id, false)
      sandbox.store.posts.delete(post.id)
      grace.suspended()
      yield* settle
      expect(posts.flatMap(({ items }) => items())).toMatchObject([{ data: { delete: { post: { id: post.id } } } }])
      expect(users.flatMap(({ items }) => items())).toMatchObject([{
        data: { user_suspend: { user: { id: grace.id } } }
      }])
      expect(unliked.items()).toMatchObject([{ data: { delete: { favorite: { id: post.id, user_id: grace.id } } } }])
      expect(liked.flatMap(({ items }) => items())).toMatchObject([
        { data: { liked_post_id: post.id }, includes: { posts: [{ text: "On engines" }] } }
      ])
    }).pipe(Effect.provide(layerOf())))

  it.effect("bring every post in one part, of one language, and one in so many as a sample", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const parts = (path: string, count: number) =>
        Effect.forEach(Array.from({ length: count }, (_, i) => i + 1), (part) => listen(`${path}?partition=${part}`))
      const all = yield* parts("/2/posts/firehose/stream", 20)
      const english = yield* parts("/2/posts/firehose/stream/lang/en", 8)
      const tenth = yield* parts("/2/posts/sample10/stream", 2)
      const sample = yield* listen("/2/posts/sample/stream")
      const posts = Array.from(
        { length: 1_000 },
        (_, i) => sandbox.ada.post({ text: `Post ${i}`, lang: i % 4 === 0 ? "en" : "de" }).id
      )
      yield* settle
      const ids = (streams: ReadonlyArray<Effect.Success<ReturnType<typeof listen>>>) =>
        streams.flatMap(({ items }) => items().map(({ data }) => data.id as string))
      expect(ids(all).toSorted()).toEqual(posts.toSorted())
      expect(all.every(({ items }) => items().length > 20)).toBe(true)
      expect(ids(english).length).toBe(250)
      expect(ids(tenth).length).toBeGreaterThan(60)
      expect(ids(tenth).length).toBeLessThan(140)
      expect(ids([sample]).length).toBeGreaterThan(1)
      expect(ids([sample]).length).toBeLessThan(25)
      expect(ids(tenth)).toEqual(expect.arrayContaining(ids([sample])))
    }).pipe(Effect.provide(layerOf())))
})

describe("connections", () => {
  it.effect.each(Wire.names)("end by the name of their stream in the words of %s", (wire) =>
    Effect.gen(function*() {
      const stream = yield* listen("/2/posts/compliance/stream?partition=1")
      const { path } = requestOf("deleteEndpointConnections", { endpoint_id: "posts_compliance_stream" }, "", wire)
      expect(yield* json("DELETE", path)).toMatchObject({ data: { successful_kills: 1, failed_kills: 0 } })
      yield* Fiber.join(stream.fiber)
    }).pipe(Effect.provide(layerOf())))
})

describe("load", () => {
  it.effect("makes so many posts a second by the clock, and the ledger tells which were made and sent", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* rules("effect", "lang:en -is:nullcast the")
      sandbox.streams.record()
      const stream = yield* listen(filtered)
      const load = sandbox.load({ perSecond: 100, posts: 250, seed: 5 })
      yield* TestClock.adjust("1 second")
      expect(load.made()).toBe(100)
      yield* TestClock.adjust("10 seconds")
      yield* settle
      expect([load.made(), load.isOver()]).toEqual([250, true])
      const { made, sent } = sandbox.streams.ledger()
      expect(made.length).toBeGreaterThan(20)
      expect(sent.map(({ ids }) => ids)).toEqual([made.map(({ id }) => id)])
      expect(stream.items().map(({ data }) => data.id)).toEqual(sent[0]?.ids)
    }).pipe(Effect.provide(layerOf({ posts: 100 }))))
})
