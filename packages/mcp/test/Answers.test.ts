import { assert, describe, expect, it } from "@effect/vitest"
import * as Prices from "@postwire/core/spend/Prices"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import * as Server from "../src/server/Server.ts"
import { host, type Options, stable, tokensOf } from "./support/Scene.ts"

/** A conversation of a host with every tool, as text. */
const transcript = (protocolVersion: NonNullable<Options["protocolVersion"]>) =>
  Effect.gen(function*() {
    const { call, sandbox } = yield* host({
      protocolVersion,
      spendLimit: { total: 1, perDay: 5 },
      prices: { ...Prices.current, unknown: 0 }
    })
    const grace = sandbox.user({
      username: "grace",
      name: "Grace",
      description: "Compilers\nand ships",
      verified: "blue"
    })
    const post = grace.post("On compilers")
    grace.post("At the #lighthouse")
    sandbox.ada.reply(post, "Which one?")
    sandbox.ada.follows(grace)
    sandbox.ada.bookmarks(post)
    sandbox.ada.bookmarkFolder("Languages", post)
    const list = grace.list({ name: "Engineers", description: "Those who build" })
    const calls: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
      ["search", { query: "compilers" }],
      ["search", { query: "compilers", detail: "low" }],
      ["search", { query: "compilers", detail: "full" }],
      ["search", { query: "compilers", count: true, max_tokens: 100 }],
      ["search", { query: "compilers", dry_run: true }],
      ["search", { quer: "compilers" }],
      ["search", { query: "compilers", rows: 0 }],
      ["read_thread", { id: post.id }],
      ["read_posts", { ids: [post.id, "1"] }],
      ["read_posts", { ids: [post.id], show: "likers" }],
      ["read_user", {}],
      ["read_user", { user: "@grace", show: "posts" }],
      ["read_user", { user: "grace", detail: "full" }],
      ["read_user", { user: "nobody", show: "posts" }],
      ["timeline", {}],
      ["lists", { user: "grace" }],
      ["lists", { id: list.id, show: "list" }],
      ["lists", { show: "posts" }],
      ["bookmarks", {}],
      ["bookmarks", { show: "folders" }],
      ["trends", {}],
      ["trends", { news: "lighthouse" }],
      ["trends", { story: "1" }],
      ["messages", { rows: 1 }],
      ["jobs", {}],
      ["spend", {}],
      ["find_operation", { query: "mute" }],
      ["find_operation", { query: "getMuted" }],
      ["find_operation", { query: "xyzzy" }],
      ["call_operation", { name: "getUsage" }],
      ["call_operation", { name: "getUser", parameters: { id: "1", username: "ada" } }],
      ["call_operation", { name: "getNothing" }],
      ["call_operation", { name: "mute", parameters: { target_user_id: "1" } }]
    ]
    const parts: Array<string> = []
    for (const [name, input] of calls) {
      const { isError, structuredContent, text } = yield* call(name, input)
      assert.isUndefined(structuredContent)
      parts.push(`> ${name} ${JSON.stringify(input)}${isError ? " (error)" : ""}\n${stable(text)}\n`)
    }
    return parts.join("\n")
  })

describe("answers", () => {
  for (const { protocolVersion } of Server.protocols) {
    it.effect(`of every tool are the checked-in ones by ${protocolVersion}`, () =>
      Effect.gen(function*() {
        const text = yield* transcript(protocolVersion)
        yield* Effect.promise(() => expect(text).toMatchFileSnapshot("./fixtures/answers.txt"))
      }))
  }

  it.effect("that need another credential have the command with which the user signs in", () =>
    Effect.gen(function*() {
      for (const allowWrites of [false, true]) {
        const { call, sandbox } = yield* host({ account: "ada", allowWrites })
        sandbox.faults.add({ status: 401 })
        const { text } = yield* call("timeline")
        assert.match(
          text,
          new RegExp(`postwire login ada --for mcp:${allowWrites ? "write" : "read"}\\. Then repeat this call\\.$`)
        )
        sandbox.faults.add({ status: 401 })
        assert.match((yield* call("jobs", { compliance: "posts" })).text, /can set POSTWIRE_APP_BEARER_TOKEN for this/)
      }
    }))

  it.effect("keep within the budget, and cursors bring the rest once, without paying again", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host()
      const grace = sandbox.user({ username: "grace" })
      const ids = Array.from({ length: 37 }, (_, index) => grace.post(`Letter ${index} ${"of many ".repeat(20)}`).id)
      const input = { user: "grace", show: "posts", rows: 30, max_tokens: 500 }
      const found: Array<string> = []
      let cursor: string | undefined
      let answers = 0
      do {
        const { cursor: next, text } = yield* call("read_user", { ...input, ...cursor !== undefined && { cursor } })
        assert.isAtMost(tokensOf(text.split("\nmore: ")[0] ?? ""), 500)
        found.push(...[...text.matchAll(/ id:(\d+)/g)].map(([, id]) => String(id)))
        cursor = next
        answers++
      } while (cursor !== undefined)
      assert.deepStrictEqual(found, ids.reverse())
      assert.isAbove(answers, 4)
      assert.strictEqual(sandbox.requests.length, 3)
    }))

  it.effect("keep within the budget where one line is longer, and a cut text stays in a fence", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host()
      const mallory = sandbox.user({ username: "mallory" })
      const text = Array.from({ length: 300 }, (_, index) => `${index} \u{1F680}`).join()
      mallory.message(sandbox.ada, text)
      const parts: Array<string> = []
      let cursor: string | undefined
      do {
        const answer = yield* call("messages", {
          detail: "full",
          max_tokens: 100,
          ...cursor !== undefined && { cursor }
        })
        const part = answer.text.split(/\n(?:more|cost): /)[0]?.split("\ncost ")[0] ?? ""
        assert.isAtMost(part.length, 402)
        assert.isTrue(part.isWellFormed())
        parts.push(...[...part.matchAll(new RegExp(`«${mallory.id}\\|([^«»]*)»`, "g"))].map(([, piece = ""]) => piece))
        assert.match(part.replace(/«\d+\|[^«»]*»/g, ""), /^[^«»🚀]*$/u)
        cursor = answer.cursor
      } while (cursor !== undefined)
      assert.isAbove(parts.length, 4)
      assert.strictEqual(parts.join("").replaceAll("……", ""), text)
    }))

  it.effect("name what is wrong with a cursor", () =>
    Effect.gen(function*() {
      const { call } = yield* host()
      const unknown = yield* call("timeline", { cursor: "c0000000" })
      assert.isTrue(unknown.isError)
      assert.match(unknown.text, /^Refused: cursor: timeline has none like this in this session/)
      const { cursor } = yield* call("messages", { rows: 1 })
      assert.isTrue((yield* call("timeline", { cursor })).isError)
      assert.isFalse((yield* call("messages", { cursor })).isError)
    }))

  it.effect("link to a file where there are many rows", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const { call, sandbox } = yield* host({ folder, askAbove: 10_000_000 })
      const grace = sandbox.user({ username: "grace" })
      for (let count = 0; count < 130; count++) grace.post(`Letter ${count}`)
      const input = { query: "letter", rows: 120, detail: "low" }
      const dry = yield* call("search", { ...input, dry_run: true })
      assert.match(dry.text, /searchRecentPosts, page by page, for 120 rows\nIt would cost \$0\.60 at most/)
      const { content, isError, text } = yield* call("search", input)
      assert.isFalse(isError, text)
      const link = content.find((block) => block.type === "resource_link")
      const path = / are in (.+) as JSON Lines/.exec(text)?.[1] ?? ""
      assert.strictEqual(link?.type === "resource_link" ? link.uri : "", `postwire://files/${basename(path)}`)
      const lines = readFileSync(path, "utf8").trim().split("\n")
      assert.strictEqual(lines.length, 120)
      assert.match(text, /^120 rows of searchRecentPosts/)
      assert.notInclude(text, "Letter")
      assert.match((yield* call("jobs")).text, /^searchRecentPosts: 120 rows, done, /)
      const { call: without } = yield* host()
      assert.match((yield* without("search", input)).text, /^Refused: rows: this server has no folder/)
    }))

  it.effect("of a server that fails say nothing of the failure", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host()
      sandbox.faults.add({ status: 503 })
      const { isError, text } = yield* call("search", { query: "cats" })
      assert.isTrue(isError)
      assert.match(text, /^ServerFailure: searchRecentPosts/)
      sandbox.faults.add({ reset: "before" })
      const lost = yield* call("search", { query: "cats" })
      assert.match(
        lost.text,
        /^TransportFailure: searchRecentPosts: .* in a terminal: postwire doctor, with this server's cred/
      )
    }))
})
