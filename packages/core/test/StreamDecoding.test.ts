import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Definition } from "../src/schema/Definition.ts"
import * as Response from "../src/schema/Response.ts"
import type { AnyItem, PostItem } from "../src/schema/StreamItem.ts"
import * as DecodeLines from "../src/streams/internal/decodeLines.ts"
import { LineReader } from "../src/streams/internal/decodeLines.ts"
import { streamPostLabels } from "../src/streams/operations/ComplianceStreams.ts"
import { streamLikesFirehose, streamPosts } from "../src/streams/operations/Streams.ts"
import * as Wire from "../src/wire/Wire.ts"

const encode = (text: string) => new TextEncoder().encode(text)

/** Pieces of the given sizes. */
const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length
    // A piece lies in a larger buffer that is reused, as with real transports.
    pieces.push(Buffer.from(bytes.subarray(at, at += size)))
  }
  return pieces
}

const Sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(8)
)

const Text = Schema.Array(
  Schema.Literals(["\n", "\r\n", "\r", "a", "\"quoted\"", "ü", "日本", "🎉", "\ufeff", "\u2028", "long ".repeat(8)])
)

describe("lines", () => {
  const read = (lines: LineReader, pieces: ReadonlyArray<Uint8Array>) => {
    const got: Array<string | undefined> = []
    for (const piece of pieces) {
      lines.push(piece, (line) => got.push(line), () => got.push(undefined))
      // The owner may reuse the memory.
      piece.fill(0)
    }
    return { got, rest: lines.end() }
  }

  it.prop("do not depend on where bytes are cut, and are omitted if they are too long", {
    text: Text,
    sizes: Sizes,
    longest: Schema.Literals([1, 12, 45, 1_000_000])
  }, ({ longest, sizes, text }) => {
    const bytes = encode(text.join(""))
    const parts = text.join("").split("\n")
    const rest = parts.pop()!
    const isTooLong = (line: string) => encode(line).length > longest
    const expected = {
      got: [
        ...parts.map((line) => isTooLong(`${line}\n`) ? undefined : line.replace(/\r$/, "")),
        ...(isTooLong(rest) ? [undefined] : [])
      ],
      rest: isTooLong(rest) ? "" : rest.replace(/\r$/, "")
    }
    assert.deepStrictEqual(read(new LineReader(longest), cut(bytes, sizes)), expected)
    assert.deepStrictEqual(read(new LineReader(longest), [bytes]), expected)
  }, { arbitrary: { runs: 300 } })

  it.prop("may be invalid UTF-8", {
    bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))),
    sizes: Sizes
  }, ({ bytes, sizes }) => {
    const all = Uint8Array.from([...bytes, 10])
    const { got } = read(new LineReader(), cut(all, sizes))
    assert.deepStrictEqual(got, read(new LineReader(), [Uint8Array.from(all)]).got)
    assert.lengthOf(got, all.filter((byte) => byte === 10).length)
  })

  it("are not stored if they are too long, and reported before they end", () => {
    const lines = new LineReader(1_000)
    let tooLong = 0
    const piece = new Uint8Array(1024 * 1024).fill(97)
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 64; i++) lines.push(piece, assert.fail, () => tooLong++)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 8 * 1024 * 1024)
    assert.strictEqual(tooLong, 1)
    const got: Array<string> = []
    lines.push(encode("\nnext\n"), (line) => got.push(line), assert.fail)
    assert.deepStrictEqual(got, ["next"])
  })

  it("take no more memory if they arrive byte by byte", () => {
    const lines = new LineReader()
    const piece = Uint8Array.of(97)
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 500_000; i++) lines.push(piece, assert.fail, assert.fail)
    assert.isBelow(process.memoryUsage().heapUsed - before, 32 * 1024 * 1024)
    assert.lengthOf(lines.end(), 500_000)
  })
})

const secret = "canary-secret"

const decoder = (
  options: Partial<DecodeLines.Settings> = {},
  { definition }: { readonly definition: Pick<Definition, "result"> } = streamPosts
) =>
  DecodeLines.make(definition, {
    wire: Wire.neutral,
    verify: "lenient",
    redact: (text) => text.replaceAll(secret, "<redacted>"),
    ...options
  })

/** Entries as plain data. */
const shown = (entries: ReadonlyArray<DecodeLines.Entry>) =>
  entries.map((entry) => DecodeLines.isItem(entry) ? { ...entry.toJSON(), anomalies: entry.anomalies } : entry)

const read = (text: string, ...options: Parameters<typeof decoder>) => {
  const { end, push } = decoder(...options)
  return [...push(encode(text)), ...end()]
}

const itemOf = (line: object, ...options: Parameters<typeof decoder>): AnyItem => {
  const [entry, ...others] = read(`${JSON.stringify(line)}\r\n`, ...options)
  assert.lengthOf(others, 0)
  assert.isTrue(entry !== undefined && DecodeLines.isItem(entry))
  return entry as AnyItem
}

const Line = Schema.Literals([
  "",
  `{"data":{"id":"1","text":"a"},"matching_rules":[{"id":"7","tag":"ü"}]}`,
  `{"data":{"id":"2","text":"日本 🎉 \\n \\u2028","lang":"ja"},"includes":{"users":[{"id":"3","name":"n","username":"u"}]}}`,
  `{"data":{"id":"4","text":"a","edit_history_tweet_ids":["4"],"referenced_tweets":[{"type":"retweeted","id":"1"}]}}`,
  `{"data":{"id":"5","text":5}}`,
  `{"errors":[{"title":"operational-disconnect","disconnect_type":"ForceDisconnect"}]}`,
  `{"data":`,
  `[]`,
  `1`,
  `{"data":{"id":"6","text":"${"x".repeat(300)}"}}`
])

describe("a decoded line", () => {
  it.prop("does not depend on where its bytes were cut or how lines end", {
    lines: Schema.Array(Line),
    ends: Schema.Array(Schema.Literals(["\n", "\r\n"])),
    sizes: Sizes
  }, ({ ends, lines, sizes }) => {
    const text = lines.map((line, i) => line + (ends[i % ends.length] ?? "\r\n")).join("")
    const { end, push } = decoder({ wire: Wire.x202602, longest: 300 })
    const entries = [...cut(encode(text), sizes).flatMap((piece) => push(piece)), ...end()]
    assert.lengthOf(entries, lines.length)
    assert.deepStrictEqual(
      shown(entries),
      lines.flatMap((line) => shown(read(`${line}\n`, { wire: Wire.x202602, longest: 300 })))
    )
  }, { arbitrary: { runs: 200 } })

  it("may be a label event without a type", () => {
    const event = { event_at: "2026-08-01T00:00:00.000Z", application: "apply" }
    const line = JSON.stringify({ data: { public_tweet_unviewable: { tweet: { id: "1" }, ...event } } })
    assert.deepStrictEqual(shown(read(`${line}\n`, { wire: Wire.x }, streamPostLabels)), [{
      data: { public_post_unviewable: { post: { id: "1" }, ...event } },
      anomalies: []
    }])
  })

  it("is an item with neutral field names, from any naming", () => {
    const neutral = {
      data: { id: "1", text: "a", edit_history_post_ids: ["1"], referenced_posts: [{ type: "reposted", id: "2" }] },
      includes: { posts: [{ id: "2", text: "b", edit_history_post_ids: ["2"] }] },
      matching_rules: [{ id: "7", tag: "tweet" }]
    }
    const february = {
      data: { id: "1", text: "a", edit_history_tweet_ids: ["1"], referenced_tweets: [{ type: "retweeted", id: "2" }] },
      includes: { tweets: [{ id: "2", text: "b", edit_history_tweet_ids: ["2"] }] },
      matching_rules: [{ id: "7", tag: "tweet" }]
    }
    assert.deepStrictEqual(JSON.parse(JSON.stringify(itemOf(neutral))), neutral)
    for (const wire of [Wire.x, Wire.x202602]) {
      for (const line of [february, neutral]) {
        assert.deepStrictEqual(JSON.parse(JSON.stringify(itemOf(line, { wire }))), neutral)
      }
    }
  })

  it("is a post with its rules and includes", () => {
    const item = itemOf({
      data: { id: "1", text: "a", author_id: "3" },
      includes: { users: [{ id: "3", name: "n", username: "u" }] },
      matching_rules: [{ id: "7", tag: null }, { id: "8", tag: "cats", embedding_similarity: 0.7 }]
    }) as PostItem<unknown, unknown>
    assert.deepStrictEqual(item.post, { id: "1", text: "a", author_id: "3" })
    assert.deepStrictEqual(item.matchingRules, [{ id: "7" }, { id: "8", tag: "cats", embedding_similarity: 0.7 }])
    assert.deepStrictEqual(item.joined().author, { id: "3", name: "n", username: "u" })
    assert.deepStrictEqual(item.joined().item, item.post)
    const bare = itemOf({ data: { id: "1", text: "a" } })
    assert.deepStrictEqual([bare.matchingRules, bare.includes, bare.errors, bare.anomalies], [[], {}, [], []])
  })

  it("is an event on a stream without posts", () => {
    const item = itemOf(
      { data: { id: "a", liked_post_id: "1", created_at: "2026-01-15T10:35:00.000Z" } },
      {},
      streamLikesFirehose
    )
    assert.isTrue("event" in item)
  })

  it("loses its anomalies, or is refused with strict verification", () => {
    const line = { data: { id: "1", text: "a", lang: 5, edit_controls: { edits_remaining: `a ${secret}` } } }
    const item = itemOf(line)
    assert.deepStrictEqual(item.toJSON().data, { id: "1", text: "a", edit_controls: {} })
    assert.deepStrictEqual(item.anomalies.map(({ glimpse, path }) => [path, glimpse]), [[
      "data.edit_controls.edits_remaining",
      "\"a <redacted>\""
    ], ["data.lang", "5"]])
    assert.deepStrictEqual(read(`${JSON.stringify(line)}\n`, { verify: "strict" }), [{
      _tag: "Unreadable",
      reason: "data.edit_controls.edits_remaining is not an integer"
    }])
  })

  it("is unreadable if nothing of it can be used, with a reason without credentials", () => {
    const reasonOf = (line: string) => {
      const [entry] = read(`${line}\n`)
      assert.isTrue(entry !== undefined && "_tag" in entry && entry._tag === "Unreadable", line)
      return (entry as DecodeLines.Unreadable).reason
    }
    assert.strictEqual(reasonOf(`{"data":{"text":"no id"}}`), "data.id is not a string")
    assert.strictEqual(reasonOf(`{"meta":{}}`), "the line has neither data nor errors")
    assert.strictEqual(reasonOf(`{"data":null}`), "the line has neither data nor errors")
    assert.strictEqual(reasonOf(`{"errors":[]}`), "the line has neither data nor errors")
    assert.strictEqual(reasonOf(`<html>${secret}`), "the line is not JSON")
    assert.strictEqual(reasonOf(`null`), "the line is not an object")
  })

  it("is unreadable if it is nested too deep, also where it would be kept as text", () => {
    const line = `{"data":{"id":"1","text":"a","of":${"[".repeat(20_000)}${"]".repeat(20_000)}}}\n`
    const schema = Schema.Struct({ id: Schema.String })
    const whole = Response.value(schema, (body) => Object.assign(body, { text: JSON.stringify(body) }))
    for (const operation of [streamPosts, { definition: { result: whole } }]) {
      assert.deepStrictEqual(read(line, {}, operation), [
        { _tag: "Unreadable", reason: "the line is nested more than 512 levels deep" }
      ])
    }
  })

  it("reports problems without credentials, beside an item or instead of one", () => {
    const problem = { title: "Not Found", resource_type: "tweet", detail: `no ${secret}` }
    const clean = { title: "Not Found", resource_type: "post", detail: "no <redacted>" }
    assert.deepStrictEqual(itemOf({ data: { id: "1", text: "a" }, errors: [problem] }, { wire: Wire.x202602 }).errors, [
      clean
    ])
    assert.deepStrictEqual(read(`${JSON.stringify({ errors: [problem] })}\n`, { wire: Wire.x202602 }), [{
      _tag: "Problems",
      problems: [clean],
      disconnectType: undefined
    }])
  })
})
