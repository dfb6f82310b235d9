import { assert, it } from "@effect/vitest"
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import { Effect } from "effect"
import * as NodeCrypto from "../src/NodeCrypto.ts"

it.effect("replaces the HMAC of core by an equal one", () =>
  Effect.gen(function*() {
    const plain = yield* OAuth1.HmacSha1
    const native = yield* Effect.provide(OAuth1.HmacSha1, NodeCrypto.layer)
    assert.notStrictEqual(native, plain)
    for (const text of ["", "é😀", "\ud800", "x".repeat(1000)]) {
      assert.strictEqual(native(text, "message"), plain(text, "message"))
      assert.strictEqual(native("key", text), plain("key", text))
    }
  }))
