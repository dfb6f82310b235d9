import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { appendFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import * as Rows from "../src/rows/Rows.ts"
import { folder } from "./support/Scene.ts"

const written = (name: string, content: string | Uint8Array) =>
  Effect.map(folder, (root) => {
    const path = join(root, name)
    writeFileSync(path, content)
    return path
  })

const read = (name: string, content: string | Uint8Array, options: Rows.Options = { kind: Rows.users }) =>
  Effect.gen(function*() {
    const rows = yield* Rows.open(yield* written(name, content), options)
    const all = (yield* Stream.runCollect(rows.batches(2))).flat()
    assert.strictEqual(all.length, rows.count)
    return { rows, all, values: all.map(({ value }) => value), lines: all.map(({ line }) => line) }
  })

const refusal = (name: string, content: string | Uint8Array, options: Rows.Options = { kind: Rows.users }) =>
  Effect.map(Effect.flip(read(name, content, options)), ({ message }) => message.replace(/^.*\//, ""))

describe("rows of a file", () => {
  it.effect("are lines, less empty ones, whatever ends them", () =>
    Effect.gen(function*() {
      const { lines, rows, values } = yield* read("users.txt", "\ufeffada\r\n\r\n 12 \n@grace\nhttps://x.com/alan")
      assert.deepStrictEqual(values, ["@ada", "12", "@grace", "@alan"])
      assert.deepStrictEqual(lines, [1, 3, 4, 5])
      assert.deepInclude(rows, { format: "lines", count: 4, names: 3 })
    }))

  it.effect("are of CSV with the column that is known or named, and have all their cells", () =>
    Effect.gen(function*() {
      const csv = "name,User ID,username\r\n\"A, the\r\nfirst\",1,ada\r\n\r\n\"G \"\"x\"\"\",2,grace\r\n"
      const known = yield* read("users.csv", csv)
      assert.deepStrictEqual(known.values, ["1", "2"])
      assert.deepStrictEqual(known.lines, [2, 5])
      assert.deepStrictEqual(known.all[0]?.cells, {
        name: "A, the\r\nfirst".replace("\r", "\r"),
        "User ID": "1",
        username: "ada"
      })
      const named = yield* read("users.csv", csv, { kind: Rows.users, column: "username" })
      assert.deepStrictEqual(named.values, ["@ada", "@grace"])
      assert.deepStrictEqual((yield* read("u.csv", "id;x\n1;2\n")).values, ["1"])
      assert.deepStrictEqual((yield* read("u.tsv", "x\tid\n1\t2\n")).values, ["2"])
      assert.deepStrictEqual((yield* read("u.csv", "1\n2\n")).values, ["1", "2"])
      assert.deepStrictEqual((yield* read("u.csv", "Whose id\n2\n")).values, ["2"])
    }))

  it.effect("are of JSON Lines, where ids may be numbers of any size", () =>
    Effect.gen(function*() {
      const lines = "{\"id\":1460323737035677698,\"a\":[1]}\n{\"id\":\"2\"}\n"
      const { all, values } = yield* read("posts.jsonl", lines, { kind: Rows.posts })
      assert.deepStrictEqual(values, ["1460323737035677698", "2"])
      assert.deepStrictEqual(all[0]?.cells["a"], [1])
      assert.deepStrictEqual((yield* read("posts.txt", lines, { kind: Rows.posts })).values, values)
      assert.deepStrictEqual(
        (yield* read("a.jsonl", "{\"user\":{\"id\":\"7\"}}\n", { kind: Rows.users, column: "user.id" })).values,
        ["7"]
      )
      assert.deepStrictEqual((yield* read("a.jsonl", "\"ada\"\n12\n")).values, ["@ada", "12"])
    }))

  it.effect("are the same when they are compressed, in members and frames of any number", () =>
    Effect.gen(function*() {
      const parts = Array.from({ length: 40 }, (_, i) => `${i}\n`.repeat(1 + i * 5))
      const expected = parts.join("").trim().split("\n")
      const members = Buffer.concat(parts.map((part) => gzipSync(part)))
      const frames = Buffer.concat([
        Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]),
        ...parts.map((part) => zstdCompressSync(part))
      ])
      assert.deepStrictEqual((yield* read("a.txt.gz", members)).values, expected)
      assert.deepStrictEqual((yield* read("a.txt.zst", frames)).values, expected)
      assert.match(yield* refusal("a.gz", members.subarray(0, -9)), /unexpected end of file/)
      assert.match(yield* refusal("a.zst", frames.subarray(0, -2)), /a Zstandard frame is incomplete/)
      assert.match(
        yield* refusal("a.zst", Buffer.concat([frames, Buffer.from("abcd")])),
        /a Zstandard frame is followed by other data/
      )
    }))

  it.effect("go on from the place after any of them", () =>
    Effect.gen(function*() {
      const csv = `query,n\n${Array.from({ length: 30 }, (_, i) => `"é ${i}\n,""x""",${i}\n`).join("\n")}`
      for (const [name, content] of [["q.csv", csv], ["q.csv.gz", gzipSync(csv)]] as const) {
        const { all, rows } = yield* read(name, content, { kind: Rows.queries })
        assert.strictEqual(all.length, 30)
        for (const [i, { next }] of all.entries()) {
          const rest = (yield* Stream.runCollect(rows.batches(7, next))).flat()
          assert.deepStrictEqual(rest, all.slice(i + 1))
        }
      }
    }))

  it.effect("are refused with their line before anything is asked for", () =>
    Effect.gen(function*() {
      const kind = Rows.posts
      assert.strictEqual(
        yield* refusal("a.txt", "1\n\nada lovelace\nx\n"),
        "a.txt, line 3: \"ada lovelace\" is not the id or the name of a user"
      )
      assert.strictEqual(
        yield* refusal("a.txt", "1\nx y\n?\n", { kind }),
        "a.txt, line 2: \"x y\" is not the id of a post; nor in 1 more of 3 rows"
      )
      assert.strictEqual(
        yield* refusal("a.csv", "id,b\n1,2\n,3\n", { kind }),
        "a.csv, line 3: there is not the id of a post in id"
      )
      assert.strictEqual(
        yield* refusal("a.csv", "a,b\n1,2\n", { kind }),
        "a.csv, line 1: no known column has the id of a post; there are a, b"
      )
      assert.strictEqual(
        yield* refusal("a.csv", "id,b\n1,2\n", { kind, column: "c" }),
        "a.csv, line 1: there is no column c; there are id, b"
      )
      assert.match(yield* refusal("a.csv", "id,b\n1,2\n3\n", { kind }), /line 3: it has 1 columns, the first has 2/)
      assert.match(yield* refusal("a.csv", "id,b\n1,\"2\n3,4\n", { kind }), /line 2: a quote is not closed/)
      assert.match(
        yield* refusal("a.csv", "id,b\n1,2\n1,a\"b\"\n", { kind }),
        /line 3: there is a quote inside a value/
      )
      assert.match(yield* refusal("a.jsonl", "{\"id\":1}\n{\"id\"\n", { kind }), /line 2: it is not JSON/)
      assert.match(yield* refusal("a.json", "[1,\n2]\n", { kind }), /line 1: it is not JSON/)
      assert.match(yield* refusal("a.json", "[1,2]\n", { kind }), /line 1: an array is not read row by row/)
      assert.match(yield* refusal("a.txt", Buffer.from([0xff, 0xfe, 0x31, 0])), /line 1: it is not text in UTF-8/)
      assert.match(yield* refusal("a.txt", "x".repeat(2_000_000)), /line 1: it is longer than 1 MB/)
      assert.match(yield* Effect.map(Effect.flip(Rows.open("/nowhere/ids", { kind })), String), /there is no such file/)
    }))

  it.effect("are those of one file: another one has another hash, and one that changes meanwhile is refused", () =>
    Effect.gen(function*() {
      const one = yield* read("a.txt", "1\n2\n")
      const other = yield* read("b.txt", "1\n3\n")
      assert.notStrictEqual(one.rows.sha256, other.rows.sha256)
      assert.strictEqual(one.rows.sha256, (yield* read("c.txt", "1\n2\n")).rows.sha256)
      const path = yield* written("d.txt", "1\n2\n")
      const rows = yield* Rows.open(path, { kind: Rows.posts })
      appendFileSync(path, "3\n")
      assert.match(String(yield* Effect.flip(Stream.runDrain(rows.batches(10)))), /it was changed while it was read/)
    }))

  it.effect("can come from standard input", () =>
    Effect.gen(function*() {
      const stdin = Stream.toAsyncIterable(Stream.make(Buffer.from("1\n"), Buffer.from("2\n")))
      const rows = yield* Rows.open("-", { kind: Rows.posts, stdin })
      for (const size of [1, 2]) {
        const values = (yield* Stream.runCollect(rows.batches(size))).flat().map(({ value }) => value)
        assert.deepStrictEqual(values, ["1", "2"])
      }
      const stray = Rows.open("-", { kind: Rows.posts, stdin: Stream.toAsyncIterable(Stream.make(Buffer.from("?"))) })
      assert.strictEqual(
        (yield* Effect.flip(stray)).message,
        "standard input, line 1: \"?\" is not the id of a post"
      )
    }))
})
