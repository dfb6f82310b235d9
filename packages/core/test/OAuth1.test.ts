import { assert, describe, it, vi } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { createHmac } from "node:crypto"
import * as OAuth1 from "../src/auth/OAuth1.ts"
import fixture from "./fixtures/oauth1-vectors.json" with { type: "json" }
import { test } from "./support/Test.ts"

const nodeHmac = (key: string, message: string) => createHmac("sha1", key).update(message).digest("base64")
const jsHmac = OAuth1.HmacSha1.defaultValue()

// Any sequence of UTF-16 code units, lone surrogates included, with the troublesome ASCII well represented.
const text = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Union([
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0x7f })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff })),
    Schema.Int.check(Schema.isBetween({ minimum: 0xd800, maximum: 0xdfff }))
  ]))),
  (units) => String.fromCharCode(...units)
)
const pairs = Arbitrary.array(Arbitrary.all([text, text]))

const query = (entries: ReadonlyArray<readonly [string, string]>) =>
  entries.map(([name, value]) => `${OAuth1.percentEncode(name)}=${OAuth1.percentEncode(value)}`).join("&")

const oauth = { oauth_consumer_key: "key", oauth_nonce: "nonce", oauth_timestamp: "1", oauth_version: "1.0" }
const base = (url: string, method = "GET") => OAuth1.baseString(method, url, oauth)
const parameterString = (baseString: string) => decodeURIComponent(baseString.split("&")[2]!)

/** The same base string, the slow way: WHATWG URL parsing, Buffer encoding, comparison of bytes. */
const reference = (method: string, url: string) => {
  const parsed = new URL(url)
  const encode = (s: string) =>
    Array.from(Buffer.from(s), (byte) =>
      /[A-Za-z0-9._~-]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("")
  const entries = [...Object.entries(oauth), ...parsed.searchParams]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort((a, b) =>
      Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])) ||
      Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1]))
    )
  const parameters = entries.map((entry) => entry.join("=")).join("&")
  return [method, encode(parsed.origin + parsed.pathname), encode(parameters)].join("&")
}

describe("vectors", () => {
  it.each(fixture.vectors)("$label", (vector) => {
    const parameters = {
      oauth_consumer_key: vector.consumerKey,
      oauth_nonce: vector.nonce,
      oauth_signature_method: "HMAC-SHA1",
      oauth_timestamp: vector.timestamp,
      oauth_token: vector.accessToken,
      oauth_version: "1.0"
    }
    const baseString = OAuth1.baseString(vector.method, vector.url, parameters)
    assert.strictEqual(parameterString(baseString), vector.parameterString)
    assert.strictEqual(baseString, vector.baseString)
    assert.strictEqual(OAuth1.signingKey(vector.consumerSecret, vector.accessTokenSecret), vector.signingKey)
    for (const hmac of [nodeHmac, jsHmac]) {
      assert.strictEqual(hmac(vector.signingKey, vector.baseString), vector.signature)
      const header = OAuth1.sign({
        method: vector.method,
        url: vector.url,
        consumerKey: vector.consumerKey,
        consumerSecret: vector.consumerSecret,
        token: vector.accessToken,
        tokenSecret: vector.accessTokenSecret,
        nonce: vector.nonce,
        timestamp: Number(vector.timestamp),
        hmac
      })
      const parts = (value: string) => new Set(value.slice("OAuth ".length).split(", "))
      assert.deepStrictEqual(parts(header), parts(vector.authorizationHeaderFromOauthlib))
    }
  })

  it("RFC 5849, 3.4.1.1 (the form of the example moved to the query)", () => {
    const baseString = OAuth1.baseString(
      "post",
      "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q",
      {
        oauth_consumer_key: "9djdj82h48djs9d2",
        oauth_token: "kkk9d7dh3k39sjv7",
        oauth_signature_method: "HMAC-SHA1",
        oauth_timestamp: "137131201",
        oauth_nonce: "7d8f3e4a"
      }
    )
    assert.strictEqual(
      baseString,
      "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D" +
        "%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA" +
        "1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
    )
  })

  it("the example in the documentation of X", () => {
    const signature = OAuth1.signature({
      method: "POST",
      url: "https://api.twitter.com/1.1/statuses/update.json?include_entities=true",
      parameters: {
        status: "Hello Ladies + Gentlemen, a signed OAuth request!",
        oauth_consumer_key: "xvz1evFS4wEEPTGEFPHBog",
        oauth_nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
        oauth_signature_method: "HMAC-SHA1",
        oauth_timestamp: "1318622958",
        oauth_token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        oauth_version: "1.0"
      },
      consumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
      tokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
      hmac: jsHmac
    })
    assert.strictEqual(signature, "hCtSmYh+iHYCEqBWrE7C7hYmtUk=")
  })

  it("the examples of three legs, in RFC 5849, 1.2, and in the documentation of X", () => {
    const rfc = { oauth_consumer_key: "dpf43f3p2l4k3l03", oauth_signature_method: "HMAC-SHA1", realm: "Photos" }
    const signature = (
      url: string,
      parameters: Readonly<Record<string, string>>,
      consumerSecret: string,
      tokenSecret?: string
    ) => OAuth1.signature({ method: "POST", url, parameters, consumerSecret, tokenSecret, hmac: nodeHmac })
    assert.strictEqual(
      signature("https://photos.example.net/initiate", {
        ...rfc,
        oauth_timestamp: "137131200",
        oauth_nonce: "wIjqoS",
        oauth_callback: "http://printer.example.com/ready"
      }, "kd94hf93k423kf44"),
      "74KNZJeDHnMBp0EMJ9ZHt/XKycU="
    )
    assert.strictEqual(
      signature(
        "https://photos.example.net/token",
        {
          ...rfc,
          oauth_token: "hh5s93j4hdidpola",
          oauth_timestamp: "137131201",
          oauth_nonce: "walatlh",
          oauth_verifier: "hfdp7dh39dks9884"
        },
        "kd94hf93k423kf44",
        "hdhd0244k9j7ao03"
      ),
      "gKgrFCywp7rO0OXSjdot/IHF7IU="
    )
    assert.include(
      OAuth1.sign({
        method: "POST",
        url: "https://api.twitter.com/oauth/request_token",
        consumerKey: "cChZNFj6T5R0TigYB9yd1w",
        consumerSecret: "L8qq9PZyRg6ieKGEKhZolGC0vJWLw8iEJ88DRdyOg",
        nonce: "ea9ec8429b68d6b77cd5600adbbb0456",
        timestamp: 1318467427,
        also: ["oauth_callback", "http://localhost/sign-in-with-twitter/"],
        hmac: jsHmac
      }),
      `oauth_callback="http%3A%2F%2Flocalhost%2Fsign-in-with-twitter%2F", ` +
        `oauth_signature="F1Li3tvehgcraF8DMJ7OyxO4w9Y%3D"`
    )
  })

  it("a space in a query is signed as %20, also where it is sent as a plus", () => {
    for (const query of ["a%20b", "a+b"]) {
      assert.include(OAuth1.baseString("GET", `https://a.test/?query=${query}`, {}), "query%3Da%2520b")
    }
  })
})

describe("baseString", () => {
  const endpoint = "https://api.example.test/2/posts"

  it.each([
    ["plus is a space", "?q=a+b", "?q=a%20b"],
    ["an equals sign inside a value", "?next_token=abc==", "?next_token=abc%3D%3D"],
    ["an encoded name", "?c%40=1", "?c@=1"],
    ["upper and lower case escapes", "?q=%c3%a9%2c", "?q=%C3%A9%2C"],
    ["an empty query", "?", ""],
    ["a second question mark", "?a=b?c", "?a=b%3Fc"],
    ["stray ampersands", "?&a=1&&b=2&", "?a=1&b=2"],
    ["a name without an equals sign", "?a", "?a="],
    ["an escape that is none", "?q=%zz%20a", "?q=%25zz%20a"],
    ["bytes that are no UTF-8", "?q=%ff", "?q=%EF%BF%BD"],
    ["a fragment", "?a=1#b?c=2", "?a=1"]
  ])("%s", (_, actual, same) => {
    assert.strictEqual(base(endpoint + actual), base(endpoint + same))
  })

  it.each([
    ["HTTPS://API.Example.TEST/P", "https://api.example.test/P"],
    ["https://api.example.test:443/p", "https://api.example.test/p"],
    ["http://api.example.test:80/p", "http://api.example.test/p"],
    ["https://api.example.test:80/p", "https://api.example.test:80/p"],
    ["http://127.0.0.1:8443/p", "http://127.0.0.1:8443/p"],
    ["http://[::1]:80/p", "http://[::1]/p"],
    ["https://user:secret@api.example.test/p", "https://api.example.test/p"],
    ["https://api.example.test", "https://api.example.test/"],
    ["https://api.example.test?a=1", "https://api.example.test/"],
    ["https://api.example.test/a%20b/(c)!", "https://api.example.test/a%20b/(c)!"]
  ])("base URI of %s", (url, uri) => {
    assert.strictEqual(base(url).split("&")[1], OAuth1.percentEncode(uri))
  })

  it("keeps duplicates and empty values, in the order of bytes rather than of a locale", () => {
    const sorted = parameterString(base(`${endpoint}?a=2&a=&Z=1&a=1&a.b=1&a_b=1&a-b=1&a%21=1`))
    assert.strictEqual(
      sorted,
      "Z=1&a=&a=1&a=2&a%21=1&a-b=1&a.b=1&a_b=1&" + query(Object.entries(oauth))
    )
  })

  it("takes the method in upper case", () => {
    assert.isTrue(base(endpoint, "delete").startsWith("DELETE&"))
  })

  it("refuses a relative URL without quoting it", () => {
    assert.throws(() => base("/2/posts?secret=1"), TypeError, /^OAuth 1\.0a signs absolute URLs only$/)
  })

  it.prop("agrees with a slow reference", { pairs }, ({ pairs }) => {
    const url = `${endpoint}?${query(pairs)}`
    assert.strictEqual(base(url), reference("GET", url))
  })

  it.prop("agrees with a slow reference on raw queries", { raw: text }, ({ raw }) => {
    // What a URL parser strips or encodes before anybody could sign it is not on the wire.
    const url = `${endpoint}?${raw.replace(/[^!"$-~]/g, "")}`
    assert.strictEqual(base(url), reference("GET", url))
  })

  it.prop("does not depend on the order of the query", { pairs }, ({ pairs }) => {
    assert.strictEqual(base(`${endpoint}?${query(pairs)}`), base(`${endpoint}?${query(pairs.toReversed())}`))
  })
})

describe("percentEncode", () => {
  it("leaves nothing but unreserved characters", () => {
    assert.strictEqual(OAuth1.percentEncode("-._~aZ09"), "-._~aZ09")
    assert.strictEqual(OAuth1.percentEncode("!*'() é😀"), "%21%2A%27%28%29%20%C3%A9%F0%9F%98%80")
    assert.strictEqual(OAuth1.percentEncode("\ud83d"), "%EF%BF%BD")
  })

  it.prop("can be undone", { text }, ({ text }) => {
    const encoded = OAuth1.percentEncode(text)
    assert.match(encoded, /^([A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/)
    assert.strictEqual(decodeURIComponent(encoded), text.toWellFormed())
  })
})

describe("HmacSha1", () => {
  it.prop("agrees with node:crypto", { key: text, message: text }, ({ key, message }) => {
    assert.strictEqual(jsHmac(key, message), nodeHmac(key, message))
  })

  it("agrees with node:crypto around the sizes of blocks", () => {
    for (let length = 0; length < 200; length++) {
      const sample = "x".repeat(length)
      assert.strictEqual(jsHmac(sample, "message"), nodeHmac(sample, "message"))
      assert.strictEqual(jsHmac("key", sample), nodeHmac("key", sample))
    }
  })

  test("has a default and can be replaced")(function*() {
    assert.strictEqual((yield* OAuth1.HmacSha1)("key", "message"), nodeHmac("key", "message"))
    const replaced = yield* OAuth1.HmacSha1.pipe(Effect.provideService(OAuth1.HmacSha1, () => "replaced"))
    assert.strictEqual(replaced("key", "message"), "replaced")
  })
})

describe("sign", () => {
  const request = { method: "GET", url: "https://api.example.test/2/posts?ids=1", nonce: "n", timestamp: 1_600_000_000 }

  it("leaves the token out when there is none", () => {
    const header = OAuth1.sign({ ...request, consumerKey: "k", consumerSecret: "s", hmac: nodeHmac })
    const { oauth_signature, ...parameters } = OAuth1.parseAuthorization(header)!
    assert.deepStrictEqual(parameters, {
      oauth_consumer_key: "k",
      oauth_nonce: "n",
      oauth_signature_method: "HMAC-SHA1",
      oauth_timestamp: "1600000000",
      oauth_version: "1.0"
    })
    assert.strictEqual(
      oauth_signature,
      nodeHmac("s&", OAuth1.baseString(request.method, request.url, parameters))
    )
  })

  it.prop(
    "gives what a server can verify",
    { consumerKey: text, consumerSecret: text, token: text, tokenSecret: text, pairs },
    ({ consumerKey, consumerSecret, pairs, token, tokenSecret }) => {
      const url = `https://api.example.test/2/posts?${query(pairs)}`
      const signed = OAuth1.signer({ consumerKey, consumerSecret, token, tokenSecret }, nodeHmac)({ ...request, url })
      assert.match(signed, /^OAuth [!-~ ]+$/)
      const parameters = OAuth1.parseAuthorization(signed)!
      assert.strictEqual(parameters.oauth_consumer_key, consumerKey.toWellFormed())
      assert.strictEqual(parameters.oauth_token, token.toWellFormed())
      const verify = (tokenSecret: string) =>
        OAuth1.signature({ method: "GET", url, parameters, consumerSecret, tokenSecret, hmac: jsHmac })
      assert.strictEqual(verify(tokenSecret), parameters.oauth_signature)
      assert.notStrictEqual(verify(`${tokenSecret}x`), parameters.oauth_signature)
    }
  )

  it("ignores the realm that a client may have added", () => {
    const header = OAuth1.sign({ ...request, consumerKey: "k", consumerSecret: "s", hmac: nodeHmac })
    const parameters = OAuth1.parseAuthorization(header.replace("OAuth ", "oauth realm=\"Photos\","))!
    assert.strictEqual(parameters.realm, "Photos")
    assert.strictEqual(
      OAuth1.signature({ ...request, parameters, consumerSecret: "s", hmac: nodeHmac }),
      parameters.oauth_signature
    )
  })
})

describe("parseAuthorization", () => {
  it.each([
    "Bearer token",
    "OAuth",
    "OAuth ",
    "OAuth a",
    "OAuth a=b",
    "OAuth a=\"1\" b=\"2\"",
    "OAuth a=\"1\", a=\"2\"",
    "OAuth a=\"%zz\"",
    "OAuth a=\"1\","
  ])("refuses %s", (header) => {
    assert.isUndefined(OAuth1.parseAuthorization(header))
  })

  it("decodes names and values, where plus is no space", () => {
    assert.deepStrictEqual(OAuth1.parseAuthorization("OAuth a%20b=\"c%2Fd+e\" ,x=\"\""), { "a b": "c/d+e", x: "" })
  })

  it("keeps __proto__ as data", () => {
    const parameters = OAuth1.parseAuthorization("OAuth __proto__=\"x\"")!
    assert.deepStrictEqual(Object.entries(parameters), [["__proto__", "x"]])
    assert.strictEqual(Object.getPrototypeOf(parameters), Object.prototype)
  })
})

describe("nonce", () => {
  it("is unique and does not come from Math.random", () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5)
    const nonces = Array.from({ length: 1000 }, () => OAuth1.nonce())
    assert.strictEqual(new Set(nonces).size, 1000)
    for (const nonce of nonces) assert.match(nonce, /^[0-9a-f]{32}$/)
  })
})
