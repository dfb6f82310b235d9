import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { inspect } from "node:util"
import * as OAuth1 from "../src/auth/OAuth1.ts"
import * as Redaction from "../src/auth/Redaction.ts"

const secret = "AAAA%2Fcanary:0001+b/c=d"
const redact = Redaction.make(() => [secret])
const base64 = (text: string) => Buffer.from(text).toString("base64")
const everywhere = (text: string, write: (char: string) => string) => [...text].map(write).join("")
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`

/** How a service may write what it quotes. */
const writings: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "in JSON": JSON.stringify,
  "in JSON within JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "in JSON, with its slashes escaped": (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  "in JSON, every character a number": (text) => `"${everywhere(text, unicode)}"`,
  "percent-encoded": encodeURIComponent,
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "percent-encoded in lower case": (text) => encodeURIComponent(text).replace(/%../g, (escape) => escape.toLowerCase()),
  "percent-encoded as RFC 5849 says": OAuth1.percentEncode,
  "percent-encoded wholly": (text) => everywhere(text, (char) => `%${char.charCodeAt(0).toString(16)}`),
  "as a form": (text) => new URLSearchParams({ text }).toString(),
  "in HTML": (text) => text.replaceAll("&", "&amp;").replaceAll("/", "&#x2F;").replaceAll("=", "&#61;"),
  "in base64": base64,
  "in base64 for URLs": (text) => Buffer.from(text).toString("base64url")
}

describe("a secret is replaced", () => {
  it.each(Object.entries(writings))("%s", (_, write) => {
    // At each place within a group of three bytes, which base64 writes together.
    for (const before of ["", "a", "ab", "Authorization: Bearer "]) {
      for (const after of ["", "!", "!!", ", oauth_nonce=1"]) {
        const told = redact(`got ${write(`${before}${secret}${after}`)}.`)
        assert.include(told, Redaction.marker)
        assert.notInclude(told, "canary")
        assert.notInclude(told, "0001")
        for (const part of [base64("canary").slice(0, 7), encodeURIComponent(secret)]) assert.notInclude(told, part)
      }
    }
  })

  it("as a server sees it that decodes it", () => {
    assert.strictEqual(redact(`[${decodeURIComponent(secret)}]`), `[${Redaction.marker}]`)
  })

  it("each time, among others", () => {
    const both = Redaction.make(() => ["consumer-key-1", "consumer-key-12", ""])
    assert.strictEqual(both("consumer-key-1 consumer-key-12 consumer-key"), "<redacted> <redacted> consumer-key")
  })

  const whatever = (text: string) => {
    const redact = Redaction.make(() => [text])
    assert.strictEqual(redact(`x${text}y`), "x<redacted>y")
    assert.strictEqual(JSON.parse(redact(JSON.stringify({ text }))).text, "<redacted>")
    assert.strictEqual(redact(`x:${OAuth1.percentEncode(text)}`), "x:<redacted>")
  }

  it.each([
    "\\".repeat(9),
    "%".repeat(9),
    "$&".repeat(5),
    "^(a|b)*$[-]",
    "\n\r\t\u2028\"'<>",
    "a b c d e f",
    "é😀ßüäöèà"
  ])(
    "even %j",
    whatever
  )

  it.prop("whatever it is", { text: Arbitrary.schema(Schema.String) }, ({ text }) => {
    if (text.isWellFormed()) whatever(`${text}12345678`)
  })

  it("in time, in a body of any length", () => {
    for (const text of ["\\".repeat(1e6), "%25".repeat(3e5), "A".repeat(1e6), "AAAA%2Fcanary:000".repeat(5e4)]) {
      assert.strictEqual(redact(text), text)
    }
  })
})

describe("a short secret", () => {
  const redact = Redaction.make(() => ["abc"])

  it("is replaced where it stands alone", () => {
    const quotes = [
      "Bearer abc",
      "[abc]",
      `"abc"`,
      "key=abc&",
      "%22abc%22",
      "\\u0022abc\\u0022",
      "\\nabc",
      "abc",
      base64("abc")
    ]
    for (const text of quotes) assert.notMatch(redact(text), /abc|YWJj/)
    assert.notInclude(redact(base64("Authorization: Bearer abc")), base64("abc"))
  })

  it("leaves other words as they are", () => {
    const text = "The abcess of abcd was not in the cabc_abc, nor xabc."
    assert.strictEqual(redact(text), text)
  })
})

describe("a value", () => {
  it("without a secret stays the very same", () => {
    const cause = Object.assign(new TypeError("fetch failed", { cause: { code: "ECONNRESET" } }), {
      packet: Buffer.from("a")
    })
    assert.strictEqual(Redaction.within(cause, redact), cause)
  })

  it("is told without it: keys, members, bytes, causes, stacks", () => {
    class HTTPParserError extends Error {
      readonly data = `HTTP/1.1 ${secret}`
      readonly code = "HPE_INVALID_CONSTANT"
    }
    const inner = Object.assign(new HTTPParserError(`not ${secret}`), {
      rawPacket: Buffer.from(`x ${secret}`),
      headers: new Headers({ authorization: `Bearer ${secret}` }),
      url: new URL(`http://service.test/?a=${encodeURIComponent(secret)}`),
      [secret]: [{ deep: new Map([[secret, new Set([secret])]]) }]
    })
    const cause = new TypeError("fetch failed", { cause: new AggregateError([inner], secret) })
    Object.assign(inner, { self: cause })
    const told = Redaction.within(cause, redact)
    assert.instanceOf(told, TypeError)
    const shown = inspect(told, { depth: Infinity, showHidden: true })
    assert.notInclude(shown, "canary")
    assert.notInclude(shown, Buffer.from("canary").toString("hex").match(/../g)!.join(" "))
    assert.include(shown, "HPE_INVALID_CONSTANT")
    assert.include(told.stack, "Redaction.test.ts")
  })

  it("that cannot be looked at is none", () => {
    const cause = {
      get broken() {
        throw new Error("no")
      }
    }
    assert.isUndefined(Redaction.within(cause, redact))
  })
})

it("a signature is known by its form", () => {
  const header = OAuth1.sign({
    method: "GET",
    url: "https://service.test/",
    consumerKey: "k",
    consumerSecret: "s",
    nonce: "n",
    timestamp: 1,
    hmac: () => Buffer.alloc(20, 251).toString("base64")
  })
  const value = OAuth1.parseAuthorization(header)!["oauth_signature"]!
  for (
    const text of [
      header,
      JSON.stringify(header),
      encodeURIComponent(header),
      `oauth_signature_method: HMAC-SHA1\noauth_signature: ${value}`
    ]
  ) {
    const told = Redaction.signatures(text)
    assert.include(told, Redaction.marker)
    assert.notInclude(told, value.slice(0, 10))
    assert.include(told, "HMAC")
  }
  assert.strictEqual(Redaction.signatures(value), value)
})
