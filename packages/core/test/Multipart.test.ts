import { assert, describe, it } from "@effect/vitest"
import { Stream } from "effect"
import * as Multipart from "../src/schema/Multipart.ts"
import { partsOf } from "./support/Parts.ts"
import { test } from "./support/Test.ts"

const text = async ({ bytes }: Multipart.Form) => new Blob([...bytes]).text()

describe("a body of parts", () => {
  it("has texts before bytes, which are no part of what describes it", async () => {
    const bytes = new TextEncoder().encode("canary")
    const body = Multipart.make({ media: bytes, segment_index: 0, shared: false, note: "é" })
    assert.deepStrictEqual(body.parts.map(({ name }) => name), ["segment_index", "shared", "note", "media"])
    assert.strictEqual(Multipart.describe(body), `{"segment_index":"0","shared":"false","note":"é","media":"6 bytes"}`)
    const form = new Multipart.Form(body)
    assert.deepStrictEqual(partsOf(form.contentType, await text(form)), {
      segment_index: "0",
      shared: "false",
      note: "é",
      media: "canary"
    })
    assert.notInclude(JSON.stringify(form), "canary")
    assert.strictEqual(form.contentLength, Buffer.byteLength(await text(form)))
  })

  it("says nothing of the file but its type, and of that nothing which is none", async () => {
    const secret = new File(["a"], "holiday-with-bob.jpg", { type: "image/jpeg" })
    const whole = await text(new Multipart.Form(Multipart.make({ media: secret })))
    assert.include(whole, `name="media"; filename="media"\r\ncontent-type: image/jpeg\r\n\r\na\r\n`)
    assert.notInclude(whole, "bob")
    for (const type of ["text/html; charset=utf-8", "a", "a/b/c", "image/x y"]) {
      const form = new Multipart.Form(Multipart.make({ media: new Blob(["a"], { type }) }))
      assert.include(await text(form), "content-type: application/octet-stream\r\n")
    }
  })

  it("has another boundary each time, and breaks out of no header", async () => {
    const body = Multipart.make({ "a\r\nb\"": "c" })
    const types = Array.from({ length: 50 }, () => new Multipart.Form(body).contentType)
    assert.strictEqual(new Set(types).size, 50)
    for (const type of types) assert.match(type, /^multipart\/form-data; boundary=postwire-[0-9a-f-]{36}$/)
    assert.include(await text(new Multipart.Form(body)), `name="a%0D%0Ab%22"\r\n\r\nc\r\n`)
  })

  test("is a stream for any client, which can be gone through again and reads no more than is asked for")(function*() {
    const slices: Array<string> = []
    class Watched extends Blob {
      override slice(start = 0, end = 0): Blob {
        slices.push(`${start}-${end}`)
        return new Blob(["x".repeat(Math.min(end, this.size) - start)])
      }
    }
    const form = new Multipart.Form(Multipart.make({ media: new Watched(["x".repeat(300_000)]) }))
    const [head] = yield* Stream.runCollect(Stream.take(form.stream, 1))
    assert.isBelow(head!.length, 300)
    assert.deepStrictEqual(slices, [])
    for (let times = 1; times <= 2; times++) {
      const pieces = yield* Stream.runCollect(form.stream)
      assert.strictEqual(pieces.reduce((size, piece) => size + piece.length, 0), form.contentLength)
      assert.lengthOf(slices, 3 * times)
    }
    assert.deepStrictEqual(slices.slice(0, 3), ["0-131072", "131072-262144", "262144-393216"])
  })
})
