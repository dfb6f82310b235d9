import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Layer, Option, Redacted, Stream, Tracer } from "effect"
import type { HttpClientError } from "effect/http"
import {
  Cookies,
  Headers as HttpHeaders,
  HttpBody,
  HttpClient,
  HttpClientRequest,
  HttpClientResponse,
  HttpIncomingMessage,
  UrlParams
} from "effect/http"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as Http from "node:http"
import * as Net from "node:net"
import { inspect } from "node:util"
import * as Zlib from "node:zlib"
import * as UndiciHttpClient from "../src/UndiciHttpClient.ts"
import { UndiciTransportCause } from "../src/UndiciHttpClient.ts"

const listen = (server: Net.Server) =>
  Effect.promise(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as Net.AddressInfo).port
  })

const closed = (socket: Net.Socket) =>
  Effect.promise(() =>
    new Promise<void>((resolve) => socket.closed ? resolve() : socket.once("close", () => resolve()))
  )

/** A server that counts its connections and keeps the heads of the requests that it saw. */
const serve = Effect.fnUntraced(function*(listener: Http.RequestListener) {
  const sockets = new Set<Net.Socket>()
  const requests: Array<Http.IncomingMessage> = []
  const server = Http.createServer((request, response) => {
    requests.push(request)
    listener(request, response)
  })
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})))
  yield* Effect.addFinalizer(() => Effect.sync(() => (server.close(), server.closeAllConnections())))
  const port = yield* listen(server)
  return { url: `http://127.0.0.1:${port}`, port, server, sockets, requests }
})

const client = (options?: UndiciHttpClient.AgentOptions | UndiciHttpClient.DispatcherOptions) =>
  Effect.map(Layer.build(UndiciHttpClient.layer(options)), Context.get(HttpClient.HttpClient))

const respond =
  (body: string | Uint8Array, headers?: Http.OutgoingHttpHeaders): Http.RequestListener => (_, response) =>
    void response.writeHead(200, headers).end(body)

/** Answers with the method, the target, the headers and the body of the request. */
const echo: Http.RequestListener = async (request, response) => {
  const body = await new Response(request as never).text()
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }))
}

interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

const echoed = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.json, (json) => json as unknown as Echo)

const transportCause = (effect: Effect.Effect<unknown, HttpClientError.HttpClientError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error.reason._tag, "TransportError")
    assert.instanceOf(error.reason.cause, UndiciTransportCause)
    return error.reason.cause
  })

const decodeError = (effect: Effect.Effect<unknown, HttpClientError.HttpClientError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    if (error.reason._tag !== "DecodeError") throw error
    return error.reason
  })

const tracer = () => {
  const spans: Array<Tracer.NativeSpan> = []
  return {
    spans,
    tracer: Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
  }
}

describe("layer", () => {
  it.effect("closes its connections with its scope", () =>
    Effect.gen(function*() {
      const { sockets, url } = yield* serve(respond("ok"))
      const http = yield* Effect.scoped(Effect.tap(client(), (http) => http.get(url)))
      const [socket] = sockets
      yield* closed(socket!)
      const cause = yield* transportCause(http.get(url))
      assert.deepInclude(cause, { phase: "connect", requestSent: false, code: "UND_ERR_DESTROYED" })
      assert.strictEqual(sockets.size, 1)
    }))

  it.effect("makes no connection when closed before the first request", () =>
    Effect.gen(function*() {
      const { sockets, url } = yield* serve(respond("ok"))
      const http = yield* Effect.scoped(client())
      assert.strictEqual((yield* transportCause(http.get(url))).code, "UND_ERR_DESTROYED")
      assert.strictEqual(sockets.size, 0)
    }))

  it.effect("leaves a given dispatcher open", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond("ok"))
      const { Agent } = yield* Effect.promise(() => import("undici"))
      const dispatcher = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent()),
        (agent) => Effect.promise(() => agent.destroy())
      )
      yield* Effect.scoped(Effect.flatMap(client({ dispatcher }), (http) => http.get(url)))
      assert.isFalse(dispatcher.destroyed)
      const response = yield* UndiciHttpClient.make(dispatcher).get(url)
      assert.strictEqual(yield* response.text, "ok")
    }))
})

describe("requests", () => {
  it.effect("GET", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const http = yield* client()
      const request = yield* echoed(yield* http.get(`${url}/2/posts`, { headers: { authorization: "Bearer t" } }))
      assert.deepInclude(request, { method: "GET", url: "/2/posts", body: "" })
      assert.deepInclude(request.headers, { authorization: "Bearer t", "accept-encoding": "gzip, br" })
      assert.notProperty(request.headers, "content-length")
    }))

  it.effect("POST, PUT and DELETE", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const http = yield* client()
      const body = HttpBody.jsonUnsafe({ text: "caffè 😀" })
      for (const method of ["post", "put", "del"] as const) {
        const request = yield* echoed(yield* http[method](url, { body }))
        assert.strictEqual(request.body, "{\"text\":\"caffè 😀\"}")
        assert.deepInclude(request.headers, { "content-type": "application/json", "content-length": "22" })
      }
      assert.strictEqual((yield* echoed(yield* http.post(url))).headers["content-length"], "0")
    }))

  it.effect("raw bodies, forms and streams", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const http = yield* client()
      const post = (body: HttpBody.HttpBody) => Effect.flatMap(http.post(url, { body }), echoed)
      assert.strictEqual((yield* post(HttpBody.raw("text"))).body, "text")

      const form = new FormData()
      form.append("media", new File(["bytes"], "a.txt"))
      const sent = yield* post(HttpBody.formData(form))
      assert.match(sent.headers["content-type"]!, /^multipart\/form-data; boundary=/)
      assert.match(sent.body, /name="media"; filename="a.txt"[^]*bytes/)

      const stream = Stream.make("a", "b", "c").pipe(Stream.encodeText)
      const streamed = yield* post(HttpBody.stream(stream, "text/plain"))
      assert.strictEqual(streamed.body, "abc")
      assert.strictEqual(streamed.headers["transfer-encoding"], "chunked")
    }))

  it.effect("a failing stream fails the request, which has left in part", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const http = yield* client()
      const stream = Stream.concat(Stream.encodeText(Stream.make("a")), Stream.fail(new Error("canary")))
      const cause = yield* transportCause(http.post(url, { body: HttpBody.stream(stream) }))
      assert.deepInclude(cause, { phase: "send", requestSent: true, message: "the request could not be sent" })
    }))

  it.effect("keeps an accept-encoding of the request", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const http = yield* client()
      const request = yield* echoed(yield* http.get(url, { headers: { "Accept-Encoding": "identity" } }))
      assert.strictEqual(request.headers["accept-encoding"], "identity")
    }))

  it.effect("sends an encoded URL as it is, and encodes any other", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(respond(""))
      const http = yield* client()
      yield* http.get(`${url}/a%2fb/(c)?ids=1%2C2,3&q=a+b%20c!&e=`)
      yield* http.get(`${url}?a=1#fragment`)
      yield* http.get(`${url}/é b?q=ü`)
      yield* http.get(`${url}/p?a=1`, { urlParams: { b: "x y&z" } })
      yield* http.get(url)
      assert.deepStrictEqual(requests.map((request) => request.url), [
        "/a%2fb/(c)?ids=1%2C2,3&q=a+b%20c!&e=",
        "/?a=1",
        "/%C3%A9%20b?q=%C3%BC",
        "/p?a=1&b=x+y%26z",
        "/"
      ])
    }))

  it.effect.each(["/relative", "ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/"])(
    "refuses %s",
    (url) =>
      Effect.gen(function*() {
        const http = yield* client()
        const error = yield* Effect.flip(http.get(url))
        assert.oneOf(error.reason._tag, ["InvalidUrlError", "TransportError"])
        if (error.reason._tag === "TransportError") {
          assert.isFalse((error.reason.cause as UndiciTransportCause).requestSent)
        }
      })
  )

  it.effect("follows no redirect", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve((_, response) => response.writeHead(302, { location: "/other" }).end())
      const response = yield* (yield* client()).get(url)
      assert.strictEqual(response.status, 302)
      assert.strictEqual(response.headers.location, "/other")
      assert.strictEqual(requests.length, 1)
    }))
})

describe("responses", () => {
  it.effect("give every view of their body, any number of times", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((_, response) =>
        response.writeHead(201, {
          "content-type": "application/json",
          "x-rate-limit-limit": "15",
          "set-cookie": ["a=1; Path=/", "b=2"],
          "x-list": ["x", "y"]
        }).end("{\"text\":\"caffè 😀\"}")
      )
      const response = yield* (yield* client()).get(`${url}/p?q=1#hash`)
      const bytes = new TextEncoder().encode("{\"text\":\"caffè 😀\"}")
      for (let i = 0; i < 2; i++) {
        assert.strictEqual(yield* response.text, "{\"text\":\"caffè 😀\"}")
        assert.deepStrictEqual(yield* response.json, { text: "caffè 😀" })
        const buffer = yield* response.arrayBuffer
        assert.deepStrictEqual(new Uint8Array(buffer), bytes)
        new Uint8Array(buffer).fill(0)
        const [chunk] = yield* Stream.runCollect(response.stream)
        assert.deepStrictEqual(chunk, bytes)
        chunk!.fill(0)
      }
      assert.strictEqual(response.status, 201)
      assert.strictEqual(response.url, `${url}/p?q=1`)
      assert.strictEqual(response.headers["x-rate-limit-limit"], "15")
      assert.strictEqual(response.headers["x-list"], "x, y")
      assert.isTrue(HttpHeaders.isHeaders(response.headers))
      assert.deepStrictEqual(Cookies.toRecord(response.cookies), { a: "1", b: "2" })
      assert.isTrue(Option.isNone(response.remoteAddress))
      assert.isTrue(HttpIncomingMessage.isHttpIncomingMessage(response))
      assert.strictEqual((yield* Effect.flip(response.upgrade)).reason._tag, "StatusCodeError")
      assert.strictEqual(response.pipe((self) => self.status), 201)

      const web = Option.getOrThrow(HttpClientResponse.toWeb(response))
      assert.strictEqual(web.status, 201)
      assert.deepStrictEqual(web.headers.getSetCookie(), ["a=1; Path=/", "b=2"])
      assert.deepStrictEqual(yield* Effect.promise(() => web.json()), { text: "caffè 😀" })
    }))

  it.effect("read forms", () =>
    Effect.gen(function*() {
      const form = new FormData()
      form.append("a", "é")
      const encoded = new Response(form)
      const body = new Uint8Array(yield* Effect.promise(() => encoded.arrayBuffer()))
      const { url } = yield* serve((request, response) =>
        request.url === "/form"
          ? response.setHeader("content-type", encoded.headers.get("content-type")!).end(body)
          : response.end("?a=1&a=2&b=%C3%A9+x")
      )
      const http = yield* client()
      const formData = yield* (yield* http.get(`${url}/form`)).formData
      assert.strictEqual(formData.get("a"), "é")
      const response = yield* http.get(`${url}/params`)
      assert.deepStrictEqual(
        (yield* response.urlParamsBody).params,
        UrlParams.fromInput([
          ["?a", "1"],
          ["a", "2"],
          ["b", "é x"]
        ]).params
      )
      assert.strictEqual((yield* Effect.flip(response.formData)).reason._tag, "DecodeError")
      assert.strictEqual((yield* Effect.flip(response.json)).reason._tag, "DecodeError")
    }))

  it.effect("without a body", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((request, response) => {
        if (request.method === "HEAD") response.setHeader("content-encoding", "gzip").setHeader("content-length", 99)
        response.writeHead(request.url === "/204" ? 204 : request.url === "/304" ? 304 : 200).end()
      })
      const http = yield* client()
      const head = yield* http.head(url)
      assert.deepInclude({ ...head.headers }, { "content-encoding": "gzip", "content-length": "99" })
      for (const path of ["/", "/204", "/304"]) {
        const response = yield* http.get(url + path)
        assert.strictEqual(yield* response.text, "")
        assert.isNull(yield* response.json)
        assert.strictEqual((yield* response.arrayBuffer).byteLength, 0)
        assert.deepStrictEqual(yield* Stream.runCollect(response.stream), [])
        assert.strictEqual(Option.getOrThrow(HttpClientResponse.toWeb(response)).status, response.status)
      }
    }))

  it.effect("with a status beyond the classes of HTTP", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((_, response) => void response.writeHead(799).end("odd"))
      const response = yield* (yield* client()).get(url)
      const web = Option.getOrThrow(HttpClientResponse.toWeb(response))
      assert.deepStrictEqual([web.status, yield* Effect.promise(() => web.text())], [799, "odd"])
    }))

  it.effect("ignore a byte order mark and early hints", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((_, response) => {
        response.writeEarlyHints({ link: "</style.css>; rel=preload" })
        response.end("\ufeff{\"a\":1}")
      })
      const response = yield* (yield* client()).get(url)
      assert.strictEqual(response.status, 200)
      assert.notProperty({ ...response.headers }, "link")
      assert.deepStrictEqual(yield* response.json, { a: 1 })
    }))

  it.effect("do not show cookies when inspected", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond("body", { "set-cookie": "session=canary" }))
      const response = yield* (yield* client()).get(url, { headers: { authorization: "canary" } })
      for (const shown of [inspect(response, { depth: Infinity }), JSON.stringify(response), String(response)]) {
        assert.notInclude(shown, "canary")
        assert.include(shown, "200")
      }
    }))
})

describe("compression", () => {
  const json = JSON.stringify({ data: Array.from({ length: 200 }, (_, i) => ({ id: `${i}`, text: "é" })) })

  it.effect.each(
    [
      ["gzip", Zlib.gzipSync(json)],
      ["X-GZip", Zlib.gzipSync(json)],
      ["br", Zlib.brotliCompressSync(json)]
    ] as const
  )("%s", ([encoding, body]) =>
    Effect.gen(function*() {
      const { url } = yield* serve(
        respond(body, { "content-encoding": encoding, "content-length": body.length, etag: "1" })
      )
      const response = yield* (yield* client()).get(url)
      assert.strictEqual(yield* response.text, json)
      assert.strictEqual(response.headers.etag, "1")
      assert.notProperty({ ...response.headers }, "content-encoding")
      assert.notProperty({ ...response.headers }, "content-length")
    }))

  it.effect("of a body too long for the calling thread", () =>
    Effect.gen(function*() {
      const plain = randomBytes(2 * 1024 * 1024)
      const { url } = yield* serve((request, response) =>
        request.url === "/gzip"
          ? response.setHeader("content-encoding", "gzip").end(Zlib.gzipSync(plain))
          : response.setHeader("content-encoding", "br").end(
            Zlib.brotliCompressSync(plain, { params: { [Zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })
          )
      )
      const http = yield* client()
      for (const path of ["/gzip", "/br"]) {
        const received = Buffer.from(yield* (yield* http.get(url + path)).arrayBuffer)
        assert.isTrue(received.equals(plain))
      }
    }))

  it.effect("leaves an encoding that was not asked for", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond("as it is", { "content-encoding": "custom" }))
      const response = yield* (yield* client()).get(url)
      assert.strictEqual(yield* response.text, "as it is")
      assert.strictEqual(response.headers["content-encoding"], "custom")
    }))

  it.effect.each(
    [
      ["truncated gzip", "gzip", Zlib.gzipSync(json).subarray(0, -20)],
      ["gzip without its checksum", "gzip", Zlib.gzipSync(json).subarray(0, -8)],
      ["corrupt gzip", "gzip", Buffer.from(Zlib.gzipSync(json)).fill(0, 40, 60)],
      ["no gzip", "gzip", Buffer.from(json)],
      ["truncated brotli", "br", Zlib.brotliCompressSync(json).subarray(0, -20)],
      ["no brotli", "br", Buffer.from(json)],
      ["a long truncated gzip", "gzip", Zlib.gzipSync(randomBytes(2 * 1024 * 1024)).subarray(0, -20)]
    ] as const
  )("%s is an error", ([, encoding, body]) =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond(body, { "content-encoding": encoding }))
      const reason = yield* decodeError((yield* client()).get(url))
      assert.strictEqual(reason.response.status, 200)
      assert.strictEqual(reason.response.headers["content-encoding"], encoding)
      assert.strictEqual((yield* reason.response.arrayBuffer).byteLength, body.length)
    }))
})

describe("maxBodySize", () => {
  it.effect("ends an exchange, and its connection, once the body is longer", () =>
    Effect.gen(function*() {
      const { sockets, url } = yield* serve((_, response) => {
        const piece = Buffer.alloc(64 * 1024)
        const write = () => void (response.write(piece) ? setImmediate(write) : response.once("drain", write))
        write()
      })
      const reason = yield* decodeError((yield* client({ maxBodySize: 1024 * 1024 })).get(url))
      assert.instanceOf(reason.cause, UndiciHttpClient.BodyTooLarge)
      assert.strictEqual(reason.cause.maxBodySize, 1024 * 1024)
      const [socket] = sockets
      yield* closed(socket!)
    }))

  it.effect("is exact", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond(Buffer.alloc(1000)))
      assert.strictEqual((yield* (yield* client({ maxBodySize: 1000 })).get(url)).status, 200)
      yield* decodeError((yield* client({ maxBodySize: 999 })).get(url))
    }))

  it.effect.each(
    [
      ["gzip", Zlib.gzipSync(Buffer.alloc(256 * 1024 * 1024))],
      [
        "br",
        Zlib.brotliCompressSync(Buffer.alloc(256 * 1024 * 1024), {
          params: { [Zlib.constants.BROTLI_PARAM_QUALITY]: 1 }
        })
      ],
      ["gzip", Zlib.gzipSync(Buffer.concat([randomBytes(1100 * 1024), Buffer.alloc(1024 * 1024)]))]
    ] as const
  )("stops a bomb (%s)", ([encoding, bomb]) =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond(bomb, { "content-encoding": encoding }))
      const http = yield* client({ maxBodySize: 1200 * 1024 })
      const before = process.memoryUsage().rss
      const reason = yield* decodeError(http.get(url))
      assert.instanceOf(reason.cause, UndiciHttpClient.BodyTooLarge)
      assert.isBelow(process.memoryUsage().rss - before, 64 * 1024 * 1024)
    }))

  it.effect("may be unlimited", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(respond(Zlib.gzipSync("ok"), { "content-encoding": "gzip" }))
      const response = yield* (yield* client({ maxBodySize: Infinity })).get(url)
      assert.strictEqual(yield* response.text, "ok")
    }))
})

describe("failures", () => {
  it.effect("connection refused", () =>
    Effect.gen(function*() {
      const server = Net.createServer()
      const port = yield* listen(server)
      yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      const http = yield* client()
      const cause = yield* transportCause(http.post(`http://127.0.0.1:${port}/`, { body: HttpBody.text("x") }))
      assert.deepInclude(cause, { phase: "connect", requestSent: false, code: "ECONNREFUSED" })
      assert.include(cause.message, `127.0.0.1:${port}`)
      // Two addresses, two refusals, and an error of Node without any text.
      const local = yield* transportCause(http.get(`http://localhost:${port}/`))
      assert.deepInclude(local, { phase: "connect", requestSent: false, code: "ECONNREFUSED" })
      assert.include(local.message, `127.0.0.1:${port}`)
    }))

  it.effect("TLS with a server that does not speak it", () =>
    Effect.gen(function*() {
      const { port, requests } = yield* serve(respond("plain"))
      const cause = yield* transportCause((yield* client()).get(`https://127.0.0.1:${port}/`))
      assert.deepInclude(cause, { phase: "connect", requestSent: false })
      assert.match(cause.code!, /SSL|EPROTO|ECONNRESET/)
      assert.strictEqual(requests.length, 0)
    }))

  it.effect("connectTimeout", () =>
    Effect.gen(function*() {
      const server = Net.createServer((socket) => socket.on("error", () => {}))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const port = yield* listen(server)
      const cause = yield* transportCause((yield* client({ connectTimeout: 50 })).get(`https://127.0.0.1:${port}/`))
      assert.deepInclude(cause, { phase: "connect", requestSent: false, code: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  it.effect("headersTimeout", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(() => {})
      const cause = yield* transportCause((yield* client({ headersTimeout: 50 })).post(url))
      assert.deepInclude(cause, { phase: "headers", requestSent: true, code: "UND_ERR_HEADERS_TIMEOUT" })
      yield* closed(requests[0]!.socket)
    }))

  it.effect("bodyTimeout", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((_, response) => void response.write("a"))
      const cause = yield* transportCause((yield* client({ bodyTimeout: 50 })).get(url))
      assert.deepInclude(cause, { phase: "body", requestSent: true, code: "UND_ERR_BODY_TIMEOUT" })
    }))

  it.effect("reset before the headers", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((request) => request.socket.resetAndDestroy())
      const cause = yield* transportCause((yield* client()).post(url, { body: HttpBody.text("x") }))
      assert.deepInclude(cause, { phase: "headers", requestSent: true })
      assert.oneOf(cause.code, ["ECONNRESET", "UND_ERR_SOCKET"])
    }))

  it.effect("closed after early hints is not in the body yet", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((request, response) =>
        response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => request.socket.end())
      )
      const cause = yield* transportCause((yield* client()).get(url))
      assert.deepInclude(cause, { phase: "headers", requestSent: true })
    }))

  it.effect.each([["with a length", { "content-length": 100 }], ["chunked", {}]] as const)(
    "closed in the body, %s",
    ([, headers]) =>
      Effect.gen(function*() {
        const { url } = yield* serve((request, response) => {
          response.writeHead(200, headers).write("{\"a\":1", () => request.socket.end())
        })
        const cause = yield* transportCause((yield* client()).get(url))
        assert.deepInclude(cause, { phase: "body", requestSent: true })
      })
  )

  it.effect("what is no HTTP", () =>
    Effect.gen(function*() {
      const server = Net.createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-OpenSSH\r\n"))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const port = yield* listen(server)
      const cause = yield* transportCause((yield* client()).get(`http://127.0.0.1:${port}/`))
      assert.deepInclude(cause, { phase: "headers", requestSent: true, message: "there was no valid response" })
    }))
})

describe("interruption", () => {
  const interruptOn = Effect.fnUntraced(function*(
    exchange: Effect.Effect<unknown, HttpClientError.HttpClientError>,
    arrived: Promise<unknown>
  ) {
    const fiber = yield* Effect.forkChild(exchange, { startImmediately: true })
    yield* Effect.promise(() => arrived)
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
  })

  it.effect("is seen by the server before and within the response", () =>
    Effect.gen(function*() {
      for (const answer of [false, true]) {
        const arrived = Promise.withResolvers<void>()
        const aborted = Promise.withResolvers<void>()
        const { url } = yield* serve((request, response) => {
          request.on("error", () => {})
          response.on("close", () => aborted.resolve())
          if (answer) response.write("a", () => arrived.resolve())
          else arrived.resolve()
        })
        yield* interruptOn((yield* client()).get(url), arrived.promise)
        yield* Effect.promise(() => aborted.promise)
      }
    }))

  it.effect("before a connection is there sends nothing", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(respond("ok"))
      const http = yield* client()
      yield* interruptOn(http.post(`${url}/interrupted`), Promise.resolve())
      assert.strictEqual((yield* http.get(`${url}/next`)).status, 200)
      assert.deepStrictEqual(requests.map((request) => request.url), ["/next"])
    }))

  it.effect("while waiting for a connection sends nothing and spares the connection", () =>
    Effect.gen(function*() {
      const arrived = Promise.withResolvers<void>()
      const waiting: Array<Http.ServerResponse> = []
      const { requests, sockets, url } = yield* serve((request, response) => {
        if (request.url !== "/first") return void response.end()
        waiting.push(response)
        arrived.resolve()
      })
      const http = yield* client({ connections: 1 })
      const first = yield* Effect.forkChild(http.get(`${url}/first`), { startImmediately: true })
      yield* Effect.promise(() => arrived.promise)
      yield* interruptOn(http.post(`${url}/second`), Promise.resolve())
      waiting[0]!.end()
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
      assert.strictEqual((yield* http.get(`${url}/third`)).status, 200)
      assert.deepStrictEqual(requests.map((request) => request.url), ["/first", "/third"])
      assert.strictEqual(sockets.size, 1)
    }))

  it.effect("stops a streamed body", () =>
    Effect.gen(function*() {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const { url } = yield* serve((request) => {
        request.on("error", () => {}).once("data", () => arrived.resolve())
      })
      const body = HttpBody.stream(
        Stream.concat(Stream.encodeText(Stream.make("a")), Stream.never).pipe(
          Stream.ensuring(Effect.sync(() => released.resolve()))
        )
      )
      yield* interruptOn((yield* client()).post(url, { body }), arrived.promise)
      yield* Effect.promise(() => released.promise)
    }))
})

describe("connections", () => {
  it.effect("are kept for the next request", () =>
    Effect.gen(function*() {
      const { requests, sockets, url } = yield* serve(respond("ok"))
      const http = yield* client()
      yield* Effect.forEach(Array.from({ length: 100 }), () => http.get(url), { discard: true })
      assert.strictEqual(requests.length, 100)
      assert.isAtMost(sockets.size, 2)
    }))

  it.effect("are limited", () =>
    Effect.gen(function*() {
      const { requests, sockets, url } = yield* serve(respond("ok"))
      const http = yield* client({ connections: 5 })
      yield* Effect.forEach(Array.from({ length: 100 }), () => http.get(url), {
        concurrency: "unbounded",
        discard: true
      })
      assert.strictEqual(requests.length, 100)
      assert.isAtMost(sockets.size, 5)
    }))

  it.effect("may be closed by the server between requests", () =>
    Effect.gen(function*() {
      const { server, sockets, url } = yield* serve(respond("ok"))
      const http = yield* client()
      for (let i = 0; i < 20; i++) {
        assert.strictEqual((yield* http.post(url)).status, 200)
        server.closeIdleConnections()
      }
      assert.isAtLeast(sockets.size, 2)
    }))
})

describe("tracing", () => {
  it.effect("makes a span and propagates it when there is a tracer", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(respond("ok"))
      const http = yield* client()
      const { spans, tracer: installed } = tracer()
      const response = yield* Effect.provideService(
        http.get(`${url}/a%2Cb?q=%2C`, { headers: { authorization: "canary" } }),
        Tracer.Tracer,
        installed
      )
      assert.strictEqual(yield* response.text, "ok")
      assert.strictEqual(spans.length, 1)
      assert.strictEqual(spans[0]!.attributes.get("http.response.status_code"), 200)
      assert.include(requests[0]!.headers.traceparent, spans[0]!.spanId)
      assert.strictEqual(requests[0]!.url, "/a%2Cb?q=%2C")
      assert.notInclude(inspect(spans, { depth: Infinity }), "canary")
      assert.isTrue(Option.isSome(HttpClientResponse.toWeb(response)))
    }))

  it.effect("does nothing without", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve(respond("ok"))
      const http = yield* client()
      yield* Effect.withSpan(http.get(url), "parent")
      assert.notProperty(requests[0]!.headers, "traceparent")
      assert.notProperty(requests[0]!.headers, "b3")
    }))
})

describe("secrets", () => {
  const secret = "canary-7f3a"
  const texts = (error: HttpClientError.HttpClientError) => [
    String(error),
    error.message,
    error.stack ?? "",
    JSON.stringify(error),
    JSON.stringify(error.reason),
    inspect(error, { depth: Infinity }),
    inspect(error.reason, { depth: Infinity }),
    inspect(error.cause, { depth: Infinity, showHidden: true }),
    inspect(Exit.fail(error), { depth: Infinity }),
    Cause.pretty(Cause.fail(error)),
    JSON.stringify(Cause.fail(error)),
    inspect(Cause.prettyErrors(Cause.fail(error)), { depth: Infinity })
  ]

  const fails = Effect.fnUntraced(function*(http: HttpClient.HttpClient, url: string, authorization: string) {
    const request = HttpClientRequest.post(url, {
      headers: { authorization, cookie: `session=${secret}` },
      body: HttpBody.text("body")
    })
    const error = yield* Effect.flip(http.execute(request))
    for (const shown of texts(error)) assert.notInclude(shown, secret)
    return error
  })

  it.effect.each([`Bearer ${secret}\r\nx: y`, `Bearer ${secret}\n`, `Bearer ${secret}\0`, `Bearer ${secret}\u2713`])(
    "an impossible header stays unsaid and unsent: %j",
    (authorization) =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve(respond("ok"))
        const error = yield* fails(yield* client(), url, authorization)
        assert.deepInclude(error.cause, { phase: "send", requestSent: false, code: "UND_ERR_INVALID_ARG" })
        assert.strictEqual(requests.length, 0)
      })
  )

  it.effect("every other failure", () =>
    Effect.gen(function*() {
      const { port, url } = yield* serve((request, response) => {
        if (request.url === "/gzip") return void response.setHeader("content-encoding", "gzip").end("plain")
        if (request.url === "/large") return void response.end(Buffer.alloc(2000))
        if (request.url === "/body") return void response.write("a", () => request.socket.destroy())
        request.socket.destroy()
      })
      const http = yield* client({ maxBodySize: 1000 })
      for (const target of ["/gzip", "/large", "/body", "/"]) yield* fails(http, url + target, `Bearer ${secret}`)
      for (const target of [`https://127.0.0.1:${port}/`, "http://127.0.0.1:1/", "/relative"]) {
        yield* fails(http, target, `Bearer ${secret}`)
      }
    }))

  it.effect("whatever a dispatcher says", () =>
    Effect.gen(function*() {
      const refusals = [
        new TypeError(`Headers.append: "Bearer ${secret}" is an invalid header value.`),
        Object.assign(new TypeError(`Invalid value "Bearer ${secret}"`), { code: "ERR_HTTP_INVALID_HEADER_VALUE" }),
        Object.assign(new TypeError(`Received 'Bearer ${secret}'`), { code: "ERR_INVALID_ARG_VALUE" }),
        `Bearer ${secret}`
      ]
      for (const refusal of refusals) {
        const http = UndiciHttpClient.make({
          dispatch: () => {
            throw refusal
          }
        })
        const error = yield* fails(http, "http://127.0.0.1/", `Bearer ${secret}`)
        assert.deepInclude(error.cause, { requestSent: false })
      }
    }))

  it("a redacted value would be shown, were it not redacted", () => {
    // Guards the check itself: the canary is found where it is.
    assert.include(inspect({ value: Redacted.value(Redacted.make(secret)) }), secret)
  })
})
