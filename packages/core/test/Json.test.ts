import { assert, describe, it } from "@effect/vitest"
import { describe as refusalOf } from "../src/client/CallErrors.ts"
import { read } from "../src/client/internal/rawBody.ts"
import * as Json from "../src/wire/Json.ts"
import * as Wire from "../src/wire/Wire.ts"

const nested = (levels: number, open: string, close: string, text = "") =>
  open.repeat(levels) + JSON.stringify(text) + close.repeat(levels)

describe("JSON", () => {
  it.each([["[", "]", 1], [`{"a":`, "}", 1], [`{"a":[`, "]}", 2]] as const)(
    "of 512 levels of %s%s is read",
    (open, close, of) => {
      const most = nested(Json.mostLevels / of, open, close)
      assert.deepStrictEqual(Json.parse(most), JSON.parse(most))
      for (const deep of [`[${most}]`, `{"a":1,"b":[[],{"c":${most}}]}`, nested(20_000, open, close)]) {
        assert.throws(() => Json.parse(deep), RangeError)
      }
    }
  )

  it("has brackets in its texts, and as many lists as it has", () => {
    const wide = JSON.stringify({ data: Array.from({ length: 5_000 }, () => ({ text: "[{".repeat(600), of: [{}] })) })
    assert.strictEqual(JSON.stringify(Json.parse(wide)), wide)
  })

  it("that is deeper is in no raw answer and no refusal", () => {
    const deep = nested(20_000, "[", "]")
    assert.strictEqual(
      read(`{"data":${deep}}`, (value) => ({ value })),
      "the body is nested more than 512 levels deep"
    )
    assert.deepStrictEqual(refusalOf(`{"errors":[{"message":"no","of":${deep}}]}`, Wire.neutral), { problems: [] })
  })
})
