import { assert, describe, it } from "@effect/vitest"
import { catalogue, scopesFor } from "../src/Catalogue.ts"
import { InvalidParameters } from "../src/errors/Errors.ts"
import * as Scopes from "../src/schema/Scopes.ts"
import * as Wire from "../src/wire/Wire.ts"

describe("scopesFor", () => {
  it("is what the operations need, and a refresh token, in our order", () => {
    assert.deepStrictEqual(scopesFor([]), ["offline.access"])
    assert.deepStrictEqual(scopesFor(["getBookmarks", "createPost", "getBookmarks"]), [
      "post.read",
      "post.write",
      "users.read",
      "offline.access",
      "bookmark.read"
    ])
    assert.deepStrictEqual(scopesFor(["follow"]), scopesFor(["followUser"]))
  })

  it("of each operation is what its declaration says", () => {
    for (const [name, { definition }] of Object.entries(catalogue)) {
      assert.sameMembers([...scopesFor([name as keyof typeof catalogue])], [...definition.scopes, "offline.access"])
    }
  })

  it.each(["createPots", "toString", "", "__proto__"])("refuses %s", (name) => {
    assert.throws(() => scopesFor([name as "createPost"]), InvalidParameters, "must be names of operations")
  })

  it("names what is meant", () => {
    // @ts-expect-error no operation
    assert.throws(() => scopesFor(["createPots"]), "(did you mean createPost?). Got \"createPots\".")
  })
})

describe("a scope", () => {
  it.each(Wire.names)("comes back from the wire %s", (wire) => {
    const said = Scopes.scopes.map((scope) => Scopes.onWire(wire, scope))
    assert.strictEqual(said.includes("tweet.read"), wire !== "neutral")
    assert.deepStrictEqual(Scopes.fromWire(said.toReversed().join(" ")), Scopes.scopes)
  })

  it("of a later service is left out", () => {
    assert.deepStrictEqual(Scopes.fromWire("later.read  users.read tweet.later"), ["users.read"])
    assert.deepStrictEqual(Scopes.fromWire(""), [])
  })

  it("is said in a sentence of its own", () => {
    assert.sameMembers(Object.keys(Scopes.meanings), [...Scopes.scopes])
    assert.lengthOf(new Set(Object.values(Scopes.meanings)), Scopes.scopes.length)
  })
})
