import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as PageToken from "../src/projection/PageToken.ts"

const listing = (
  parameters: PageToken.Listing["parameters"] = {},
  operation = "searchRecentPosts"
): PageToken.Listing => ({
  operation,
  parameters: { query: "effect", since_id: "12", ...parameters }
})

const cursor = { direction: "older", key: "1882378406461440001" } as const

const refused = (result: Result.Result<unknown, "invalid">) => Result.isFailure(result)

describe("PageToken", () => {
  it("gives back what it was made of", () => {
    for (const direction of ["older", "newer"] as const) {
      for (const key of ["0", "7", "1882378406461440001", "37-1882378406461440001"]) {
        const token = PageToken.encode(listing(), { direction, key })
        assert.match(token, /^[A-Za-z0-9_-]{16,}$/)
        assert.deepStrictEqual(PageToken.decode(listing(), token), Result.succeed({ direction, key }))
      }
    }
  })

  it("does not depend on the order of parameters, or on those that are absent", () => {
    const token = PageToken.encode({ operation: "a", parameters: { x: 1, y: "2" } }, cursor)
    assert.isTrue(
      Result.isSuccess(PageToken.decode({ operation: "a", parameters: { y: "2", z: undefined, x: 1 } }, token))
    )
  })

  it("is refused by another request", () => {
    const token = PageToken.encode(listing(), cursor)
    for (
      const other of [
        listing({}, "searchAllPosts"),
        listing({ query: "effects" }),
        listing({ since_id: undefined }),
        listing({ until_id: "13" }),
        listing({ since_id: 12 })
      ]
    ) assert.isTrue(refused(PageToken.decode(other, token)), JSON.stringify(other))
  })

  it("is refused when any character was changed, added or removed", () => {
    const token = PageToken.encode(listing(), cursor)
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= "
    for (let i = 0; i < token.length; i++) {
      assert.isTrue(refused(PageToken.decode(listing(), token.slice(0, i) + token.slice(i + 1))))
      for (const character of alphabet) {
        if (character !== token[i]) {
          assert.isTrue(refused(PageToken.decode(listing(), token.slice(0, i) + character + token.slice(i + 1))))
        }
        assert.isTrue(refused(PageToken.decode(listing(), token.slice(0, i) + character + token.slice(i))))
      }
    }
    for (const end of ["A", "=", " ", "\n"]) assert.isTrue(refused(PageToken.decode(listing(), token + end)))
  })

  it.effect.prop(
    "refuses any string that it did not make",
    { token: Schema.String },
    ({ token }) => Effect.sync(() => assert.isTrue(refused(PageToken.decode(listing(), token))))
  )
})
