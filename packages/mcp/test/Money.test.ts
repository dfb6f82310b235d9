import { assert, describe, it } from "@effect/vitest"
import * as Prices from "@postwire/core/spend/Prices"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import * as Recorder from "../../core/test/support/Recorder.ts"
import { host } from "./support/Scene.ts"
import { connect } from "./support/Wire.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The last line of an answer. */
const bill = (text: string) => text.split("\n").at(-1)

describe("money", () => {
  it.effect("each answer says what it cost, and what is left; reading again on one day is free", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ spendLimit: { total: 1, perDay: 5 } })
      sandbox.user({ username: "grace" }).post("On compilers")
      const input = { query: "compilers" }
      assert.strictEqual(
        bill((yield* call("search", input)).text),
        "cost $0.015; session $0.015 of $1.00, $0.985 left; today $0.015 of $5.00, $4.985 left"
      )
      assert.strictEqual(
        bill((yield* call("search", input)).text),
        "cost $0.00, 2 already read today were free; session $0.015 of $1.00, $0.985 left; today $0.015 of $5.00, $4.985 left"
      )
    }))

  it.effect("a month is in an answer where less is left of it than of the day", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ spendLimit: { total: 1, perDay: 5, perMonth: 4 } })
      sandbox.user({ username: "grace" }).post("On compilers")
      assert.include(
        (yield* call("search", { query: "compilers" })).text,
        "; today $0.015 of $5.00, $4.985 left; this month $0.015 of $4.00, $3.985 left"
      )
    }))

  it.effect("a limit refuses before anything is sent", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ spendLimit: { total: 0.1 } })
      const { isError, text } = yield* call("search", { query: "compilers" })
      assert.isTrue(isError)
      assert.match(
        text,
        /^SpendLimitReached: searchRecentPosts: it may cost \$0\.30, and the whole limit of this client is \$0\.10\. The user can raise it with the flag --max-spend of this server\.$/
      )
      assert.strictEqual(sandbox.requests.length, 0)
      assert.isFalse((yield* call("search", { query: "compilers", rows: 10, detail: "low" })).isError)
      const ofDay = yield* host({ spendLimit: { perDay: 0.1 }, command: "npx -y @postwire/cli" })
      assert.match(
        (yield* ofDay.call("search", { query: "compilers" })).text,
        /^SpendLimitReached: .* can raise it with npx -y @postwire\/cli config set spendPerDay DOLLARS\.$/
      )
    }))

  it.effect("what may pass the threshold is asked first, for all requests of a call together", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ askAbove: 100_000 })
      const { isError, text } = yield* call("search", { query: "compilers" })
      assert.isTrue(isError)
      assert.match(
        text,
        /^Refused: searchRecentPosts may cost \$0\.30, more than this server spends without asking its user\./
      )
      assert.strictEqual(sandbox.requests.length, 0)
      const asking = yield* connect({
        revision: "2026-07-28",
        askAbove: 100_000,
        answers: () => ({ action: "accept", content: { allow: true } })
      })
      assert.isFalse((yield* asking.call("search", { query: "compilers" })).isError)
      assert.deepStrictEqual(asking.questions.map(({ message }) => message), [
        "Spend on searchRecentPosts, for up to $0.30?"
      ])
    }))

  it.effect("a dry run of any tool sends nothing, and has the highest price", () =>
    Effect.gen(function*() {
      const { call, client, sandbox } = yield* host({ askAbove: 0 })
      const given: Readonly<Record<string, object>> = {
        search: { query: "cats" },
        read_thread: { id: "1" },
        read_posts: { ids: ["1", "2"] },
        call_operation: { name: "getUser", parameters: { username: "ada" } },
        jobs: { compliance: "posts" }
      }
      const { tools } = yield* client.listTools()
      for (const { inputSchema, name } of tools) {
        if (inputSchema.properties?.["dry_run"] === undefined) continue
        const { isError, text } = yield* call(name, { ...given[name], dry_run: true })
        assert.isFalse(isError, `${name}: ${text}`)
        assert.match(text, /^Would send GET \/2\/.*\nIt would cost \$\d+\.\d+ at most\. Nothing was sent\.$/, name)
      }
      assert.strictEqual(sandbox.requests.length, 0)
    }))

  it.effect("a call with several questions is answered once all of them are", () =>
    Effect.gen(function*() {
      const wire = yield* connect({
        revision: "2026-07-28",
        askAbove: 0,
        rounds: 9,
        answers: () => ({ action: "accept", content: { allow: true } })
      })
      const post = wire.sandbox.user({ username: "grace" }).post("On compilers")
      assert.include((yield* wire.call("read_thread", { id: post.id, rows: 10 })).text, "On compilers")
      assert.deepStrictEqual(wire.questions.map(({ message }) => message), [
        "Spend on getPosts, for up to $0.015?",
        "Spend on searchRecentPosts, for up to $0.165?"
      ])
    }))

  it.effect("an unknown price is not called free", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({})
      const name = "getChatConversations"
      assert.include((yield* call("find_operation", { query: name })).text, `${name} [read, price unknown]`)
      const { text } = yield* call("call_operation", { name, parameters: {}, dry_run: true })
      assert.match(text, /\nIts price is unknown\. Nothing was sent\.$/)
      assert.strictEqual(sandbox.requests.length, 0)
      const stated = yield* host({ prices: { ...Prices.current, unknown: 20_000 } })
      const dry = yield* stated.call("call_operation", { name, parameters: {}, dry_run: true })
      assert.match(dry.text, /\nIt would cost \$0\.02 at most\. Nothing was sent\.$/)
    }))

  it.effect("an unknown price is refused under a limit", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ spendLimit: { total: 1, perDay: 5 } })
      const { isError, text } = yield* call("call_operation", { name: "getChatConversations", parameters: {} })
      assert.isTrue(isError)
      assert.strictEqual(
        text,
        "SpendLimitReached: getChatConversations: its price is unknown, so the limit of the day, $5.00, cannot be enforced. " +
          "Nothing was sent. The user can state the most that it costs: postwire config set unknownPrice DOLLARS."
      )
      assert.strictEqual(sandbox.requests.length, 0)
    }))

  it.effect("many rows at a stated price are planned by their requests, and those that follow are asked again", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const priced = { folder, prices: { ...Prices.current, unknown: 20_000 } }
      const { call, sandbox } = yield* host({ ...priced, askAbove: 100_000 })
      const input = { name: "getChatConversations", rows: 1_000 }
      const dry = yield* call("call_operation", { ...input, dry_run: true })
      assert.match(dry.text, /for 1000 rows\nIt would cost \$0\.20 at most\. Nothing was sent\.$/)
      const { isError, text } = yield* call("call_operation", input)
      assert.isTrue(isError)
      assert.match(text, /^Refused: getChatConversations may cost \$0\.20, more than this server spends without asking/)
      assert.strictEqual(sandbox.requests.length, 0)
      const short = yield* host({ ...priced, askAbove: 25_000 })
      const counts = {
        name: "getAllPostsCount",
        parameters: { query: "cats", granularity: "day", start_time: "2026-01-01T00:00:00Z" },
        rows: 101
      }
      assert.match((yield* short.call("call_operation", { ...counts, dry_run: true })).text, /cost \$0\.02 at most/)
      short.sandbox.faults.add({ times: "always", delay: 1_000 })
      const counting = yield* Effect.forkChild(short.call("call_operation", counts))
      while (counting.pollUnsafe() === undefined) {
        yield* Effect.promise(() => turn())
        yield* TestClock.adjust(500)
      }
      assert.match((yield* Fiber.join(counting)).text, /^Refused: getAllPostsCount may cost \$0\.03, more than/)
      assert.strictEqual(short.sandbox.requests.length, 2)
    }))

  it.effect("an unknown price without a limit is asked first, on a page as for many rows", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const asking = yield* connect({
        revision: "2026-07-28",
        folder,
        answers: () => ({ action: "accept", content: { allow: true } })
      })
      for (const rows of [10, 1_000]) {
        const input = { name: "getChatConversations", rows }
        const { call, sandbox } = yield* host({ folder })
        const { isError, text } = yield* call("call_operation", input)
        assert.isTrue(isError, text)
        assert.match(text, /^Refused: The price of getChatConversations is unknown, and this server does not spend it/)
        assert.strictEqual(sandbox.requests.length, 0)
        assert.isFalse((yield* asking.call("call_operation", input)).isError)
      }
      const question = "Spend on getChatConversations, whose price is unknown?"
      assert.deepStrictEqual(asking.questions.map(({ message }) => message), [question, question])
    }))

  it.effect("every price is that of the server's own table", () =>
    Effect.gen(function*() {
      const { read, request } = Prices.current
      const prices = {
        ...Prices.current,
        unknown: 30_000,
        read: { ...read, post: 7_000 },
        request: { ...request, userInteractionCreate: 45_000, postCreate: 55_000 }
      }
      const { call } = yield* host({ allowWrites: true, folder: yield* temporary, prices })
      const textOf = (name: string, input: Record<string, unknown>) =>
        Effect.map(call(name, { ...input, ...input["rows"] !== undefined && { dry_run: true } }), ({ text }) => text)
      assert.include(yield* textOf("act", { do: "follow", ids: ["1", "2"] }), "for up to $0.09")
      assert.include(yield* textOf("prepare_post", { text: "hello" }), "for up to $0.055")
      assert.include(yield* textOf("find_operation", { query: "getPosts" }), "getPosts [read, up to $0.007 each]")
      assert.include(yield* textOf("find_operation", { query: "getBroadcasts" }), "[read, up to $0.03]")
      assert.include(yield* textOf("search", { query: "cats", rows: 200, detail: "low" }), "cost $1.40 at most")
    }))

  it.effect("writes are refused, and with allowWrites prepared", () =>
    Effect.gen(function*() {
      const write = { name: "createPost", parameters: { text: "hello" } }
      for (const allowWrites of [false, true]) {
        const { call, sandbox } = yield* host({ allowWrites })
        const { isError, text } = yield* call("call_operation", write)
        assert.strictEqual(isError, !allowWrites)
        assert.match(text, allowWrites ? /^createPost, for up to \$0\.015:\ntext: «\?\|hello»\nhandle: / : /only reads/)
        assert.strictEqual(sandbox.requests.length, 0)
      }
    }))
})

describe("spans", () => {
  it.effect("continue the trace of the host, with the attributes of OpenTelemetry's conventions", () =>
    Effect.gen(function*() {
      const { layer: tracer, spans } = Recorder.spans()
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      for (const protocolVersion of ["2025-11-25", "2026-07-28"] as const) {
        yield* Effect.gen(function*() {
          const { call } = yield* host({ protocolVersion })
          yield* call("spend", {}, { traceparent })
        }).pipe(Effect.provide(tracer))
        const span = spans.findLast(({ name }) => name === "tools/call spend")
        assert.strictEqual(span?.traceId, "0af7651916cd43dd8448eb211c80319c", protocolVersion)
        assert.deepInclude(Object.fromEntries(span?.attributes ?? []), {
          "mcp.method.name": "tools/call",
          "mcp.protocol.version": protocolVersion,
          "gen_ai.tool.name": "spend"
        })
      }
    }))
})
