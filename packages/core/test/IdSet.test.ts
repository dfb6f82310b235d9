import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { IdSet } from "../src/internal/idSet.ts"

const largest = 9_999_999_999_999_999_999n

describe("a set of ids", () => {
  it("tells ids from those that differ by one bit, in every length", () => {
    for (
      const base of [1n, 999_999_999n, 1_000_000_000n, 2n ** 32n, 2n ** 53n + 1n, 1_800_000_000_000_000_000n, largest]
    ) {
      const ids = Array.from({ length: 64 }, (_, bit) => base ^ (1n << BigInt(bit))).filter((id) =>
        id > 0n && id <= largest
      ).map(String)
      const set = new IdSet()
      for (const id of ids) assert.isTrue(set.add(id), id)
      for (const id of ids) assert.isFalse(set.add(id), id)
      assert.isFalse(set.has(String(base)))
      assert.strictEqual(set.size, ids.length)
    }
  })

  it.prop("is a Set of texts, whatever they are", {
    ids: Schema.Array(
      Schema.Union([
        Schema.String.check(Schema.isPattern(/^[0-9]{0,20}$/)),
        Schema.Literals(["0", "00", "01", "1", "-1", "1.0", "1e3", " 1", "9223372036854775807", "9223372036854775808"]),
        Schema.String
      ])
    )
  }, ({ ids }) => {
    const set = new IdSet()
    const known = new Set<string>()
    for (const id of ids) {
      assert.strictEqual(set.has(id), known.has(id))
      assert.strictEqual(set.add(id), !known.has(id))
      known.add(id)
    }
    assert.strictEqual(set.size, known.size)
  })
})
