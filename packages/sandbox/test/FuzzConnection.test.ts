import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import * as Sandbox from "../src/Sandbox.ts"
import * as Fuzz from "./support/Fuzz.ts"
import * as Operations from "./support/Operations.ts"
import { minute, now, secretsOf } from "./support/Requests.ts"

/** Bytes to send on a connection of their own. */
interface Raw extends Pick<Fuzz.Attempt, "expected"> {
  readonly bytes: string | Buffer
  /** Whether the end of the connection is an answer too. */
  readonly mayEnd?: boolean
}

/** Sends bytes and reads until the other side has ended. */
const exchange = (port: number, { bytes }: Raw): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = ""
    const socket = connect({ host: "127.0.0.1", port })
    // The service may have answered and gone before everything was written.
    socket.on("error", () => {}).on("close", () => resolve(received)).setTimeout(10_000, () => {
      socket.destroy()
      reject(new Error(`No answer to ${bytes.toString("latin1").slice(0, 200)}`))
    })
    socket.setEncoding("utf8").on("data", (data) => received += data)
    socket.end(bytes)
  })

/** Requests as they are written, most of them malformed. */
const raws = (random: Fuzz.Random, token: string, host: string) => {
  const head = (target: string, headers = "", { method = "GET", version = "1.1" } = {}) =>
    `${method} ${target} HTTP/${version}\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
    `Connection: close\r\n${headers}\r\n`
  const post = (headers: string, body: string) =>
    head("/2/posts", `Content-Type: application/json\r\n${headers}`, { method: "POST" }) + body
  // No text twice, which is refused, and all of one length.
  let texts = 0
  const text = () => JSON.stringify({ text: `hello ${String(texts++).padStart(6, "0")}` })
  const { length } = text()
  const me = "/2/users/me"
  const fine = [200, 429]
  const posted = [201, 429]
  const kinds: ReadonlyArray<() => Raw> = [
    () => ({ bytes: head(me), expected: fine }),
    () => ({ bytes: head(`http://${host}${me}`), expected: fine }),
    () => ({ bytes: head(`http://evil.example${me}`), expected: [403] }),
    () => ({ bytes: head(`http://${host}@evil.example${me}`), expected: [403] }),
    () => ({
      bytes: head(random.pick([
        "/2/posts/../users/me",
        "/2/./users/me",
        "/2/posts/%2e%2e/users/me",
        "/2/posts/.%2E/users/me",
        "/2/users/me/.",
        "/2/users/me/..",
        "/2\\users\\me",
        "/2/users/me;v=1",
        "/2/users;a/me",
        "//2/users/me",
        "/2//users/me",
        `//evil.example${me}`,
        "/2/users/me/",
        "/2/users%2fme",
        "*",
        "/2/users/%6d%65/%zz",
        `http://${host}/2/posts/../users/me`
      ])),
      expected: [404]
    }),
    () => ({ bytes: head(`${me}?${random.pick(["%", "a=%zz", "%ff=1", "a=%E0%A4%A"])}`), expected: [400] }),
    () => ({ bytes: head(`${me}#${Fuzz.encode(Fuzz.garbage(random, 9))}`), expected: [...fine, 400] }),
    () => ({ bytes: head(`/${"a".repeat(random.pick([500, 8_000, 14_000]))}`), expected: [404] }),
    () => ({ bytes: head(`/${"a".repeat(20_000)}`), expected: [431] }),
    () => ({ bytes: head(`${me}?a=${"a".repeat(20_000)}`), expected: [431] }),
    () => ({ bytes: head(me, `X: ${"a".repeat(20_000)}\r\n`), expected: [431] }),
    () => ({ bytes: head(me, "X: a\r\n".repeat(4_000)), expected: [431] }),
    () => ({ bytes: head(me, "X: a\r\n".repeat(300)), expected: fine }),
    () => ({
      bytes: head(me).replace(`Host: ${host}`, `Host: ${random.pick(["evil.example", "", "[", host + "/x"])}`),
      expected: [403]
    }),
    () => ({ bytes: head(me).replace(/Host: .*\r\n/, ""), expected: [400] }),
    () => ({ bytes: head(me, "Origin: http://evil.example\r\n"), expected: [403] }),
    () => ({ bytes: head(me, "", { version: random.pick(["9.9", "1", "x"]) }), expected: [400] }),
    () => ({ bytes: head(me, "", { version: "1.0" }), expected: fine }),
    () => ({ bytes: head(me, "", { method: random.pick(["get", "G ET", "FETCH", "\u0001"]) }), expected: [400] }),
    () => ({
      bytes: head(me, "", { method: random.pick(["PROPFIND", "TRACE", "OPTIONS", "PUT", "QUERY"]) }),
      expected: [404]
    }),
    () => ({ bytes: head("localhost:80", "", { method: "CONNECT" }), expected: undefined, mayEnd: true }),
    () => ({
      bytes: head(me, random.pick([" : a\r\n", "a b: c\r\n", "a\u0000: b\r\n", "\u0001\r\n", "a: b\u0000c\r\n"])),
      expected: [400]
    }),
    () => ({ bytes: head(me, "Expect: the-unexpected\r\n"), expected: [417] }),
    () => ({ bytes: post(`Expect: 100-continue\r\nContent-Length: ${length}\r\n`, text()), expected: posted }),
    () => ({
      bytes: head(
        me,
        `Connection: Upgrade\r\nUpgrade: ${
          random.pick(["websocket", "h2c", "x"])
        }\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`
      ).replace("Connection: close\r\n", ""),
      expected: fine
    }),
    () => ({ bytes: post(`Content-Length: ${length}\r\n`, text()), expected: posted }),
    () => ({
      bytes: post("Transfer-Encoding: chunked\r\n", `${length.toString(16)}\r\n${text()}\r\n0\r\n\r\n`),
      expected: posted
    }),
    () => ({ bytes: post(`Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`, text()), expected: [400] }),
    () => ({
      bytes: post("Transfer-Encoding: chunked\r\n", random.pick(["zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n"])),
      expected: [400]
    }),
    () => ({
      bytes: post(`Content-Length: ${random.pick(["-1", "x", "1e3", "99999999999999999999", "1, 2"])}\r\n`, text()),
      expected: [400]
    }),
    () => ({ bytes: post("Content-Length: 100\r\n", text()), expected: [400], mayEnd: true }),
    () => ({ bytes: post("Content-Encoding: gzip\r\nContent-Length: 4\r\n", "\u001f\u008b12"), expected: [400] }),
    () => ({ bytes: post("", Fuzz.nested(2)), expected: [400] }),
    () => ({ bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", expected: [400] }),
    () => ({ bytes: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001", expected: [400] }),
    () => ({ bytes: Buffer.from(Fuzz.garbage(random, 300) + "\u0000\r\n\r\n", "latin1"), expected: [400] })
  ]
  return () => random.pick(kinds)()
}

/** What an attempt looks like on a connection. */
const written = ({ body, expected, headers, method, target }: Fuzz.Attempt, host: string): Raw => {
  const sent = Buffer.from(body ?? "")
  const lines = Object.entries({ ...headers, host, connection: "close", "content-length": sent.length })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  return {
    bytes: Buffer.concat([
      Buffer.from(
        `${method} ${new URL(`http://${host}${target}`).href.slice(`http://${host}`.length)} HTTP/1.1\r\n${head}\r\n`
      ),
      sent
    ]),
    expected
  }
}

/** Checks what came back. */
const checkRaw = ({ bytes, expected, mayEnd }: Raw, received: string): number => {
  const target = bytes.toString("latin1")
  const about = { method: target.startsWith("HEAD ") ? "HEAD" : "raw", target, headers: {}, body: undefined }
  // A body may be announced as welcome before it is answered.
  const answer = received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")
  const [, code, head, text] = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? []
  if (code === undefined || head === undefined || text === undefined) {
    if (mayEnd !== true) assert.fail(`no answer to ${about.target.slice(0, 300)}: ${received.slice(0, 200)}`)
    return 0
  }
  const body = /^transfer-encoding: chunked/im.test(head) ? text.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/gi, "") : text
  const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim()
  Fuzz.check({ ...about, expected }, Number(code), type, body)
  return Number(code)
}

const isLong = process.env["POSTWIRE_LONG"] === "1"
/** Of fifty requests each. */
const rounds = isLong ? 60 : 8

describe("requests that nobody should send, over a connection", () => {
  it.effect("are answered with the right status, whatever the bytes", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const sandbox = Context.get(yield* Layer.build(Sandbox.layerServer({ posts: 300 })), Sandbox.Sandbox)
      const { host, port } = new URL(sandbox.baseUrl)
      const secrets = secretsOf(sandbox)
      const random = Fuzz.random(3)
      const attempt = Fuzz.attempts({
        random,
        baseUrl: sandbox.baseUrl,
        secrets,
        identity: sandbox.seeded.ada.id,
        scene: Operations.scene(sandbox)
      })
      const raw = raws(random, secrets.bearerToken, host)
      const statuses = new Map<number, number>()
      for (let round = 0; round < rounds; round++) {
        yield* TestClock.setTime(now + round * 15 * minute)
        const time = yield* Clock.currentTimeMillis
        yield* Effect.forEach(Array.from({ length: 50 }), () => {
          const chosen = random.chance(0.5) ? raw() : undefined
          const made = chosen === undefined ? attempt(time) : undefined
          const sent = chosen ?? written(made!, host)
          return Effect.map(Effect.promise(() => exchange(Number(port), sent)), (received) => {
            const status = checkRaw(sent, received)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          })
        }, { concurrency: 8, discard: true })
      }
      for (const status of [200, 201, 400, 401, 403, 404, 417, 431]) {
        assert.isAbove(statuses.get(status) ?? 0, rounds / 3, String(status))
      }
    }), 180_000)

  it.effect("are not read to the end when their bodies are too long", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const sandbox = Context.get(yield* Layer.build(Sandbox.layerServer({ posts: 10 })), Sandbox.Sandbox)
      const { host, port } = new URL(sandbox.baseUrl)
      const { bearerToken } = secretsOf(sandbox)
      let written = 0
      const received = yield* Effect.promise(() =>
        new Promise<string>((resolve) => {
          let text = ""
          const socket = connect({ host: "127.0.0.1", port: Number(port) })
          const megabyte = "x".repeat(1_000_000)
          const more = () => {
            while (written < 4_000 && socket.writable) {
              written++
              if (!socket.write(megabyte)) return
            }
          }
          socket.on("drain", more).on("error", () => {}).on("close", () => resolve(text))
          socket.on("data", (data) => {
            text += data
            socket.destroy()
          })
          socket.write(
            `POST /2/posts HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearerToken}\r\n` +
              `Content-Type: application/json\r\nContent-Length: 4000000000\r\n\r\n{"text":"`
          )
          more()
        })
      )
      assert.strictEqual(checkRaw({ bytes: "a long body", expected: [413] }, received), 413)
      assert.isBelow(written, 100)
    }))
})

describe("more requests that nobody should send, in process: npm run test:long", () => {
  it.effect.skipIf(!isLong)(
    "are answered with the right status, and leave nothing on the heap",
    () =>
      Effect.gen(function*() {
        const { heap, statuses } = yield* Fuzz.run(2, 44_000)
        Fuzz.checkRun(statuses, heap, 44_000)
      }),
    300_000
  )
})
