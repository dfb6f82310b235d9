// Texts of strangers are data: whatever they say, the words of the server around them stay the same.
import { assert, describe, it } from "@effect/vitest"
import type { RunningSandbox } from "@postwire/sandbox/Sandbox"
import { Effect, Schema } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fence from "../src/text/Fence.ts"
import { host, type Options, stable } from "./support/Scene.ts"
import { connect } from "./support/Wire.ts"

const Injections = Schema.Array(Schema.Struct({
  name: Schema.String,
  text: Schema.String,
  times: Schema.optional(Schema.Int),
  end: Schema.optional(Schema.String)
}))

const injections = Schema.decodeUnknownSync(Injections)(
  JSON.parse(readFileSync(new URL("fixtures/injections.json", import.meta.url), "utf8"))
).map(({ end = "", name, text, times = 1 }) => ({ name, text: text.repeat(times) + end }))

/** A field of a stranger's text, which ends at the first `»`. */
const field = /«(\d{1,19}|\?)\|[^«»]*»/g

const nameOfFile = /[\w/.-]+\/getUsersPosts-[0-9a-f]{8}\.jsonl/g

/** The words of the server. */
const ownWords = (text: string): string =>
  stable(text).replace(field, "FIELD").replaceAll(/ \(\d+ lines, already paid\)/g, "").replaceAll(nameOfFile, "FILE")
    .replaceAll(/\(\d+ bytes/g, "(N bytes")
    // A text decides by its length how many rows of a file fit.
    .replace(/The first \d+:(\n.*)[\s\S]*$/, "The first:$1")

/** Characters that a reader does not see, by their own list: that of the source might forget some. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\u034F\u115F\u1160\u2028\u2029\u2800\u3164\uFFA0\u{E0000}-\u{E0FFF}]/u

/** A user with this text wherever a user can write one. */
const arrange = (ada: RunningSandbox["ada"], mallory: RunningSandbox["ada"], text: string) => {
  const post = mallory.post(text)
  mallory.reply(post, text)
  const list = mallory.list({ name: text, description: text, members: [ada] })
  mallory.message(ada, text)
  ada.follows(mallory)
  ada.bookmarks(post)
  ada.bookmarkFolder(text, post)
  mallory.space({ title: `space ${text}` })
  return { post: post.id, list: list.id, user: mallory.id }
}

const isLong = process.env["POSTWIRE_LONG"] !== undefined

/** Full lines have all fields of the others. */
const details = isLong ? ["low", "normal", "full"] : ["full"]

/** The texts that are read by every tool: each takes a sandbox of its own. */
const read = injections.filter((_, index) => isLong || index % 3 === 0)

type Ids = ReturnType<typeof arrange>

/** Every way by which such a text reaches a model. */
const reads = ({ list, post, user }: Ids): ReadonlyArray<readonly [name: string, input: Record<string, unknown>]> => [
  ["search", { query: "from:mallory", rows: 10 }],
  ["read_thread", { id: post }],
  ["read_posts", { ids: [post] }],
  ["read_user", { user: "mallory" }],
  ["read_user", { show: "followers" }],
  ["timeline", {}],
  ["lists", { user: "mallory" }],
  ["lists", { id: list, show: "list" }],
  ["bookmarks", {}],
  ["bookmarks", { show: "folders" }],
  ["messages", { user: "mallory" }],
  ["call_operation", {
    name: "getUsersPosts",
    parameters: { id: user, expansions: ["author_id"], post_fields: ["entities"] }
  }],
  ["call_operation", { name: "searchSpaces", parameters: { query: "space", space_fields: ["title"] } }]
]

/** A folder for files. */
const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** All answers about a stranger who writes `text`, at each detail. */
const answers = Effect.fnUntraced(function*(text: string, options: Options = {}) {
  const { call, client, sandbox } = yield* host({ askAbove: 1e9, folder: yield* temporary, ...options })
  const before = yield* client.listTools()
  const ids = arrange(
    sandbox.ada,
    sandbox.user({ username: "mallory", name: text, description: text, location: text }),
    text
  )
  const told: Array<string> = []
  for (const [name, input] of reads(ids)) {
    for (const detail of details) {
      const { isError, text } = yield* call(name, { ...input, detail, max_tokens: 20_000 })
      assert.isFalse(isError, `${name} ${JSON.stringify(input)}: ${text}`)
      told.push(text)
    }
  }
  assert.deepStrictEqual(yield* client.listTools(), before)
  const { content } = yield* call("read_user", { user: ids.user, show: "posts", rows: 200 })
  const link = content.find((block) => block.type === "resource_link")
  told.push(content.map((block) => block.type === "text" ? block.text : "").join("\n"))
  const { resources } = yield* client.listResources()
  assert.deepStrictEqual(resources.map(({ uri }) => uri), [link!.uri])
  for (
    const uri of [
      ...["users/mallory", `posts/${ids.post}`, `lists/${ids.list}`].map((path) => `postwire://${path}`),
      link!.uri
    ]
  ) {
    const { contents } = yield* client.readResource({ uri })
    told.push(contents.map((one) => "text" in one ? one.text : "").join("\n"))
  }
  return told
})

describe("the corpus of injections", () => {
  it.effect("change no word of an answer outside of their fields", () =>
    Effect.gen(function*() {
      const harmless = (yield* Effect.scoped(answers("A harmless text."))).map(ownWords)
      for (const { name, text } of read) {
        const told = yield* Effect.scoped(answers(text))
        assert.deepStrictEqual(told.map(ownWords), harmless, name)
        for (const line of told.join("\n").split("\n")) assert.notMatch(line, invisible, name)
      }
    }))

  it("cannot close their field, whatever characters they consist of", () => {
    for (const { text } of injections) {
      for (const author of ["2244994945", undefined, text]) {
        for (const cut of [1, 10, 140, Infinity]) {
          assert.strictEqual(Fence.fence(text, author, cut).replace(field, ""), "")
        }
      }
      assert.match(Fence.id(text), /^(«\?\|[^«»]*»)$/)
      assert.match(Fence.handle(text), /^(«\?\|[^«»]*»)$/)
    }
    for (let first = 0; first <= 0x10FFFF; first += 0x100) {
      const characters = String.fromCodePoint(...Array.from({ length: 0x100 }, (_, index) => first + index))
      assert.match(Fence.fence(`a${characters}b`, undefined), /^«\?\|a[^«»\n\r\u2028\u2029]*b»$/, `${first}`)
    }
  })

  it.effect("are in no error", () =>
    Effect.gen(function*() {
      const { call, client } = yield* host()
      for (const { name, text } of injections) {
        for (const kind of ["users", "posts", "lists", "files"]) {
          const uri = `postwire://${kind}/${encodeURIComponent(text.slice(0, 30).toWellFormed())}`
          const { message } = yield* Effect.flip(client.readResource({ uri }))
          assert.match(message, /^(InvalidParameters|Refused): /, `${name}: ${uri}`)
          assert.notInclude(message, text.slice(0, 30), uri)
        }
        for (
          const [tool, input] of [
            ["read_posts", { ids: [text] }],
            ["read_thread", { id: text }],
            ["read_user", { user: text, show: "posts" }],
            ["lists", { id: text }],
            ["search", { query: "effect", cursor: text }],
            ["search", { query: "effect", sort_order: text }],
            ["messages", { conversation_id: text }],
            ["call_operation", { name: text }],
            ["call_operation", { name: "getUser", parameters: { id: text } }],
            ["call_operation", { name: "getUser", parameters: { username: "grace", [text]: text } }],
            ["call_operation", { name: "searchRecentPosts", parameters: { query: text } }],
            ["search", { query: "effect", [text]: 1 }]
          ] as const
        ) {
          const answer = yield* call(tool, input)
          if (!answer.isError) continue
          assert.notInclude(answer.text, text, `${name}: ${tool} ${JSON.stringify(input)}`)
          assert.notMatch(answer.text.replaceAll("\n", ""), invisible)
        }
      }
    }))

  it.effect("are in no path of a file", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      for (const { text } of injections.filter(({ name }) => /path|shell|link|closed fence/.test(name))) {
        const { call, sandbox } = yield* host({ folder, askAbove: 1e9 })
        const { user } = arrange(sandbox.ada, sandbox.user({ username: "mallory", name: text }), text)
        const { content } = yield* call("read_user", { user, show: "posts", rows: 200 })
        const [link] = content.filter((block) => block.type === "resource_link")
        assert.match(link!.uri, /^postwire:\/\/files\/getUsersPosts-[0-9a-f]{8}\.jsonl$/)
        assert.match(link!.name, /^getUsersPosts-[0-9a-f]{8}\.jsonl$/)
      }
      for (const name of readdirSync(folder)) assert.match(name, /^getUsersPosts-[0-9a-f]{8}\.jsonl(\.postwire)?$/)
    }))

  it("that differ have previews that differ", () => {
    const alike = [
      "a\nb",
      "a\\nb",
      "a\r\nb",
      "a\rb",
      "a\u2028b",
      "a\\\\nb",
      "\u202e",
      "\\u{202e}",
      "«",
      "»",
      "‹",
      "\\u{ab}",
      "\u00a0",
      " "
    ]
    const texts = [...new Set([...alike, ...injections.map(({ text }) => text)])]
    assert.strictEqual(new Set(texts.map(Fence.exact)).size, texts.length)
    for (const text of texts) {
      const shown = /^«\?\|([^«»]*)»$/u.exec(Fence.exact(text))?.[1] ?? assert.fail(text)
      const read = shown.replace(
        /\\(?:u\{(\w+)\}|(.))/gu,
        (_, code: string | undefined, sign: string) =>
          code === undefined ? sign === "n" ? "\n" : sign : String.fromCodePoint(parseInt(code, 16))
      )
      assert.strictEqual(read, text)
    }
  })

  it.effect("change no word of a preview and of a confirmation", () =>
    Effect.gen(function*() {
      const { call, questions } = yield* connect({
        revision: "2025-11-25",
        answers: () => ({ action: "decline" }),
        allowWrites: true
      })
      const previews = new Set<string>()
      for (const { text } of injections) {
        const preview = yield* call("prepare_post", { text, poll: ["Tea", "Coffee"] })
        if (!preview.isError) previews.add(withoutFacts(preview.text))
        yield* call("act", { do: "message", ids: ["2244994945"], text: text.slice(0, 5_000) })
      }
      assert.isAbove(questions.length, 50)
      assert.deepStrictEqual([...new Set(questions.map(({ message }) => withoutFacts(message)))], [
        "Allow message, for up to $N?\nmessage, for up to $N: 1 user, 2244994945\ntext: FIELD"
      ])
      assert.strictEqual(previews.size, 1, [...previews].join("\n\n"))
      for (const preview of previews) assert.include(preview, "\ntext: FIELD (N of 280)\n")
    }))
})

/** The words of the server without its prices, handles and lengths. */
const withoutFacts = (text: string): string =>
  ownWords(text)
    .replaceAll(/\$[\d.]+( because it has a link)?/g, "$N")
    .replaceAll(/handle: \w+/g, "handle: H")
    .replaceAll(/\(\d+ of 280\)/g, "(N of 280)")
