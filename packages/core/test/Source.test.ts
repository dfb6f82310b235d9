import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { Readable } from "node:stream"
import * as Source from "../src/media/Source.ts"
import { noise } from "./support/MediaService.ts"
import { test } from "./support/Test.ts"

const bytes = noise(1000)

const sourceOf = (input: Source.Input): Source.Source => {
  const source = Source.from(input)
  assert.isDefined(source)
  return source
}

/** All of a source, read so many bytes at a time. */
const all = (input: Source.Input, length = 300) =>
  Effect.scoped(Effect.gen(function*() {
    const source = yield* sourceOf(input).open
    const pieces: Array<Uint8Array> = []
    for (let offset = 0; offset < source.size; offset += length) pieces.push(yield* source.read(offset, length))
    return new Uint8Array(Buffer.concat(pieces))
  }))

/** The bytes in pieces of these lengths. */
const cut = (lengths: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  let at = 0
  return lengths.map((length) => bytes.subarray(at, at += length))
}

const locked = () => {
  const stream = web([bytes])
  stream.getReader()
  return stream
}

const web = (given: Iterable<unknown>) =>
  new ReadableStream({
    start: (controller) => {
      for (const piece of given) controller.enqueue(piece)
      controller.close()
    }
  })

describe("a source", () => {
  const inputs: Readonly<Record<string, () => Source.Input>> = {
    "a Uint8Array": () => bytes,
    "a Buffer": () => Buffer.from(bytes),
    "a part of a buffer": () => Buffer.concat([noise(10), bytes, noise(10)]).subarray(10, 1010),
    "an ArrayBuffer": () => bytes.slice().buffer,
    "a Blob": () => new Blob([bytes.slice()]),
    "a File": () => new File([bytes.slice()], "a.png"),
    "a web stream": () => ({ stream: web(cut([1, 500, 499])), size: 1000 }),
    "a Node stream": () => ({ stream: Readable.from(cut([400, 600])), size: 1000 }),
    "a Stream": () => ({ stream: Stream.fromIterable(cut([400, 0, 600])), size: 1000 }),
    "a Source": () => Source.fromBytes(bytes)
  }

  test.each(Object.entries(inputs))("can be %s")(function*([, input]) {
    assert.deepStrictEqual(yield* all(input()), bytes)
  })

  it("has a name for messages", () => {
    assert.strictEqual(sourceOf(new File(["a"], "a.png")).name, "a.png")
    assert.strictEqual(sourceOf(new Blob(["a"])).name, "the Blob")
    assert.strictEqual(sourceOf(bytes).name, "the bytes")
    assert.strictEqual(sourceOf({ stream: Stream.empty, size: 1 }).name, "the stream")
    assert.strictEqual(sourceOf({ stream: Stream.empty, size: 1, name: "a.png" }).name, "a.png")
  })
})

describe("a stream as a source", () => {
  const stream = (...lengths: ReadonlyArray<number>) => ({ stream: Stream.fromIterable(cut(lengths)), size: 1000 })

  it.effect.prop("is the same however it comes and is read", {
    lengths: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))),
    length: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))
  }, ({ length, lengths }) =>
    Effect.gen(function*() {
      const fitting: Array<number> = []
      let left = 1000
      for (const each of lengths) {
        fitting.push(Math.min(each, left))
        left -= Math.min(each, left)
      }
      assert.deepStrictEqual(yield* all(stream(...fitting, left), length), bytes)
    }), { arbitrary: { runs: 100 } })

  test("gives its beginning in any order, and then what was read last")(function*() {
    const MiB = 1_048_576
    const long = noise(64)
    const given = { stream: Stream.range(1, 3 * MiB / 64).pipe(Stream.map(() => long)), size: 3 * MiB }
    const source = yield* sourceOf(given).open
    assert.deepInclude(source, { reach: MiB, isSeekable: false })
    assert.deepStrictEqual(yield* source.read(640, 64), long)
    assert.deepStrictEqual(yield* source.read(0, 64), long)
    assert.lengthOf(yield* source.read(0, 2 * MiB), 2 * MiB)
    assert.lengthOf(yield* source.read(0, MiB), MiB)
    assert.lengthOf(yield* source.read(2 * MiB, 2 * MiB), MiB)
    assert.lengthOf(yield* source.read(2 * MiB, 64), 64)
    const error = yield* Effect.flip(source.read(0, 64))
    assert.strictEqual(error.message, "Cannot upload the stream: it cannot be read (a stream cannot be read again).")
  })

  test.each(
    [
      ["it ended before its size (after 999 of 1000 bytes)", stream(999)],
      ["it continues beyond its size", { ...stream(1000), size: 999 }],
      ["it continues beyond its size", { ...stream(999, 1), size: 999 }],
      ["it cannot be read (it emits something other than bytes)", { stream: web(["text"]), size: 4 }],
      ["it cannot be read (torn)", { stream: Stream.fail(new Error("torn")), size: 4 }],
      ["it cannot be read (the stream is locked: something else reads it)", { stream: locked(), size: 4 }],
      ["it cannot be read (torn)", {
        stream: new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("torn")) }),
        size: 4
      }],
      ["it cannot be read (torn)", {
        stream: Readable.from(cut([3])).map(() => Promise.reject(new Error("torn"))),
        size: 4
      }]
    ] as ReadonlyArray<readonly [string, Source.SizedStream]>
  )("says that %s")(function*([message, input]) {
    assert.strictEqual((yield* Effect.flip(all(input))).message, `Cannot upload the stream: ${message}.`)
  })

  test("is read once, unless it is made anew for each reader")(function*() {
    const once = sourceOf({ stream: web(cut([1000])), size: 1000 })
    yield* all(once)
    assert.include((yield* Effect.flip(all(once))).message, "a stream can be read once only")
    const often = sourceOf(stream(1000))
    yield* all(often)
    assert.deepStrictEqual(yield* all(often), bytes)
  })

  test("is let go by who stops reading")(function*() {
    let isCancelled = false
    const input = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes),
      cancel: () => {
        isCancelled = true
      }
    })
    yield* Effect.scoped(Effect.flatMap(sourceOf({ stream: input, size: 5000 }).open, ({ read }) => read(0, 10)))
    assert.isTrue(isCancelled)
  })
})
