import { assert, describe, it } from "@effect/vitest"
import { type Effect, Redacted } from "effect"
import { createHash } from "node:crypto"
import { vi } from "vitest"
import * as CredentialHash from "../src/auth/CredentialHash.ts"
import { test } from "./support/Test.ts"

const service = "https://service.test"
const expected = createHash("sha256").update(`${service} canary é`).digest("base64").slice(0, 16)

const asInBrowsers = () => vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)

describe("the fingerprint of a token", () => {
  it("is there at once on servers, and another one at another service", () => {
    const token = Redacted.make("canary é")
    assert.strictEqual(CredentialHash.make(service)(token), expected)
    assert.notStrictEqual(CredentialHash.make("https://other.test")(token), expected)
  })

  test("is the same in browsers, and there at once from the second time on")(function*() {
    asInBrowsers()
    const fingerprintOf = CredentialHash.make(service)
    const token = Redacted.make("canary é")
    const first = fingerprintOf(token)
    assert.isNotString(first)
    assert.strictEqual(yield* first as Effect.Effect<string>, expected)
    assert.strictEqual(fingerprintOf(token), expected)
  })

  it("tells tokens apart where there is no cryptography", () => {
    asInBrowsers()
    vi.stubGlobal("crypto", {})
    const [a, same, b] = ["canary a", "canary a", "canary b"].map((token) =>
      CredentialHash.make(service)(Redacted.make(token))
    )
    assert.match(String(a), /^-?\d+$/)
    assert.strictEqual(a, same)
    assert.notStrictEqual(a, b)
  })
})
