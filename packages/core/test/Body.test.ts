import { assert, describe, it } from "@effect/vitest"
import * as Body from "@postwire/core/Body"

describe("a value in a body", () => {
  it.each(["__proto__", "constructor", "toString"])("is looked up as %s, which every object has", (name) => {
    assert.isUndefined(Body.lookup({}, {}, name))
    assert.isUndefined(Body.lookup({ a: {} }, { other: "a" }, `a.${name}`))
    assert.strictEqual(Body.lookup(JSON.parse(`{"${name}": 1}`), {}, name), 1)
  })
})
