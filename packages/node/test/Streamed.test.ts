import { assert, describe, it } from "@effect/vitest"
import { Streaming } from "@postwire/core/http/Transport"
import { Cause, Context, Effect, Exit, Fiber, Layer, Schema, Scope, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Zlib from "node:zlib"
import * as UndiciHttpClient from "../src/UndiciHttpClient.ts"

/** A server that hands over each response. */
const serve = Effect.gen(function*() {
  const responses: Array<Http.ServerResponse> = []
  const server = Http.createServer((_, response) => void responses.push(response))
  yield* Effect.addFinalizer(() => Effect.sync(() => (server.close(), server.closeAllConnections())))
  const request = yield* Effect.promise(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return HttpClientRequest.get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })
  const http = Context.get(yield* Layer.build(UndiciHttpClient.layer()), HttpClient.HttpClient)
  const taken = Effect.gen(function*() {
    while (responses.length === 0) yield* Effect.promise(() => once(server, "request"))
    return responses.shift()!
  })
  /** Asks for a stream, and answers as a test says. */
  const open = (scope: Scope.Scope, answer: (response: Http.ServerResponse) => void) =>
    Effect.gen(function*() {
      const asked = yield* Effect.forkChild(Effect.provideService(http.execute(request), Streaming, scope))
      const sent = yield* taken
      answer(sent)
      return { sent, response: yield* Fiber.join(asked) }
    })
  return { open }
})

const text = (chunks: ReadonlyArray<Uint8Array>) => Buffer.concat(chunks).toString()

const encoders = {
  identity: () => undefined,
  gzip: () => Zlib.createGzip({ flush: Zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => Zlib.createDeflate({ flush: Zlib.constants.Z_SYNC_FLUSH }),
  br: () => Zlib.createBrotliCompress({ flush: Zlib.constants.BROTLI_OPERATION_FLUSH })
} as const

describe("a response without an end", () => {
  it.effect.each(Object.keys(encoders) as Array<keyof typeof encoders>)(
    "has its head at once, and each piece as it comes: %s",
    (encoding) =>
      Effect.gen(function*() {
        const { open } = yield* serve
        const encoder = encoders[encoding]()
        const { response, sent } = yield* open(yield* Effect.scope, (response) => {
          response.writeHead(200, encoder && { "content-encoding": encoding })
          if (encoder === undefined) response.flushHeaders()
          else {
            encoder.pipe(response)
            response.flushHeaders()
          }
        })
        const write = (piece: string) => void (encoder ?? sent).write(piece)
        assert.strictEqual(response.status, 200)
        assert.isUndefined(response.headers["content-encoding"])
        let got = ""
        write("first ")
        yield* Stream.runForEach(response.stream, (chunk) =>
          Effect.sync(() => {
            got += text([chunk])
            if (got === "first ") write("second ü")
            else if (got === "first second ü") (encoder ?? sent).end()
          }))
        assert.strictEqual(got, "first second ü")
      })
  )

  it.effect.prop(
    "is the same wherever it is cut",
    {
      encoding: Schema.Literals(["identity", "gzip", "deflate", "br"]),
      parts: Schema.Array(Schema.Literals(["a", "ü", "🎉", "\r\n", "long ".repeat(40)])).check(Schema.isMaxLength(12)),
      size: Schema.Literals([1, 2, 7])
    },
    ({ encoding, parts, size }) =>
      Effect.scoped(Effect.gen(function*() {
        const { open } = yield* serve
        const plain = Buffer.from(parts.join(""))
        const packed = encoding === "gzip"
          ? Zlib.gzipSync(plain)
          : encoding === "deflate"
          ? Zlib.deflateSync(plain)
          : encoding === "br"
          ? Zlib.brotliCompressSync(plain)
          : plain
        const { response } = yield* open(yield* Effect.scope, (response) => {
          response.writeHead(200, encoding === "identity" ? {} : { "content-encoding": encoding })
          // Each is a chunk of HTTP, and so it arrives by itself.
          for (let at = 0; at < packed.length; at += size) response.write(packed.subarray(at, at + size))
          response.end()
        })
        assert.strictEqual(text(yield* Stream.runCollect(response.stream)), plain.toString())
      })),
    { arbitrary: { runs: 20 } }
  )

  it.effect("gives what came before it breaks off", () =>
    Effect.gen(function*() {
      const { open } = yield* serve
      const { response } = yield* open(yield* Effect.scope, (response) => {
        response.writeHead(200)
        response.write("half", () => setImmediate(() => response.destroy()))
      })
      const got: Array<Uint8Array> = []
      const error = yield* Effect.flip(
        Stream.runForEach(response.stream, (chunk) => Effect.sync(() => void got.push(chunk)))
      )
      assert.strictEqual(text(got), "half")
      assert.strictEqual(error.reason._tag, "TransportError")
      assert.propertyVal("cause" in error.reason ? error.reason.cause : undefined, "phase", "body")
    }))

  it.effect("ends its connection with the scope, whoever reads", () =>
    Effect.gen(function*() {
      const { open } = yield* serve
      const scope = yield* Scope.make()
      const { response, sent } = yield* open(scope, (response) => response.writeHead(200).flushHeaders())
      const closed = once(sent, "close")
      const reading = yield* Effect.forkChild(Effect.exit(Stream.runDrain(response.stream)), {
        startImmediately: true
      })
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => closed)
      assert.deepStrictEqual(yield* Fiber.join(reading), Exit.void)
    }))

  it.effect("is asked for in vain when nobody waits any more", () =>
    Effect.gen(function*() {
      const { open } = yield* serve
      const scope = yield* Scope.make()
      let sent: Http.ServerResponse | undefined
      const asking = yield* Effect.forkChild(open(scope, (response) => {
        sent = response
        asking.interruptUnsafe()
      }))
      const exit = yield* Fiber.await(asking)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
      yield* Effect.promise(() => sent!.closed ? Promise.resolve([]) : once(sent!, "close"))
    }))

  it.effect("waits while it is not read", () =>
    Effect.gen(function*() {
      const { open } = yield* serve
      const { response, sent } = yield* open(yield* Effect.scope, (response) => response.writeHead(200).flushHeaders())
      const piece = Buffer.alloc(64 * 1024, "a")
      let written = 0
      // Until neither this process nor the system takes any more.
      const isFull = () =>
        new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => resolve(true), 100)
          sent.once("drain", () => {
            clearTimeout(timer)
            resolve(false)
          })
        })
      const full = Effect.promise(async () => {
        for (;;) {
          written += piece.length
          if (!sent.write(piece) && await isFull()) return
          assert.isBelow(written, 64 * 1024 * 1024)
        }
      })
      yield* full
      sent.end()
      let read = 0
      yield* Stream.runForEach(response.stream, (chunk) => Effect.sync(() => void (read += chunk.length)))
      assert.strictEqual(read, written)
    }))

  it.effect("is read to its end where it is no success", () =>
    Effect.gen(function*() {
      const { open } = yield* serve
      const { response } = yield* open(yield* Effect.scope, (response) => response.writeHead(409).end("no rules"))
      assert.strictEqual(response.status, 409)
      assert.strictEqual(yield* response.text, "no rules")
    }))
})
