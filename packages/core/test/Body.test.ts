import { assert, describe, it } from "@effect/vitest"
import * as BodyLayout from "@postwire/core/schema/BodyLayout"

describe("a value in a body", () => {
  it.each(["__proto__", "constructor", "toString"])("is looked up as %s, which every object has", (name) => {
    assert.isUndefined(BodyLayout.lookup({}, {}, name))
    assert.isUndefined(BodyLayout.lookup({ a: {} }, { other: "a" }, `a.${name}`))
    assert.strictEqual(BodyLayout.lookup(JSON.parse(`{"${name}": 1}`), {}, name), 1)
  })
})
