/** An exchange whose response has no end: it resolves with the headers, and its body is streamed. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Transform } from "node:stream"
import type { Dispatcher } from "undici"
import { BufferedResponse, type IncomingHeaders } from "./bufferedResponse.ts"
import { Exchange, versionOf } from "./exchange.ts"

/** The number of unread bytes that are buffered; beyond it, the connection waits. */
const mostKept = 256 * 1024

type Chunks = Stream.Stream<Uint8Array, HttpClientError.HttpClientError>

class StreamedResponse extends BufferedResponse {
  readonly #chunks: Chunks

  constructor(
    request: HttpClientRequest,
    status: number,
    headers: IncomingHeaders,
    version: string | undefined,
    chunks: Chunks
  ) {
    super(request, status, headers, Buffer.alloc(0), version)
    this.#chunks = chunks
  }

  /** Read once, by one reader. */
  override get stream(): Chunks {
    return this.#chunks
  }
}

/** For a response that is not a success, an ordinary exchange. */
export class Streamed extends Exchange {
  #body: Body | undefined

  override onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHeaders): void {
    super.onResponseStart(controller, status, headers)
    if (this.settled || status < 200 || status >= 300) return
    const encoding = headers["content-encoding"]
    const decode = typeof encoding === "string" ? decoders.get(encoding.trim().toLowerCase()) : undefined
    this.#body = new Body(controller, decode?.())
    const { "content-encoding": _, "content-length": __, ...plain } = headers
    const response = new StreamedResponse(
      this.request,
      status,
      decode === undefined ? headers : plain,
      versionOf(controller),
      this.#body.chunks((error) => this.#broken(error))
    )
    this.settle(Effect.succeed(response))
  }

  override onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body === undefined) super.onResponseData(controller, chunk)
    else this.#body.write(chunk)
  }

  override onResponseEnd(): void {
    if (this.#body === undefined) super.onResponseEnd()
    else this.#body.end()
  }

  override onResponseError(controller: unknown, error: unknown): void {
    if (this.#body === undefined) super.onResponseError(controller, error)
    else this.#body.fail(error)
  }

  /** The reader has stopped. */
  override interrupt(): void {
    if (this.#body === undefined) super.interrupt()
    else this.#body.close()
  }

  #broken(error: unknown): HttpClientError.HttpClientError {
    return new HttpClientError.HttpClientError({ reason: this.brokenOff(error) })
  }
}

/** The unread part of a body. The connection waits while it is large. */
class Body {
  readonly #controller: Dispatcher.DispatchController
  readonly #decoder: Transform | undefined
  #kept: Array<Uint8Array> = []
  #size = 0
  #outcome: "open" | "ended" | { readonly error: unknown } = "open"
  #loss: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined
  #isClogged = false

  constructor(controller: Dispatcher.DispatchController, decoder: Transform | undefined) {
    this.#controller = controller
    this.#decoder = decoder
    decoder?.on("data", (chunk: Buffer) => this.#keep(chunk))
    decoder?.on("end", () => this.#settle(this.#loss ?? "ended"))
    decoder?.on("error", (error) => {
      this.#settle({ error })
      controller.abort(error)
    })
    decoder?.on("drain", () => {
      this.#isClogged = false
      this.#flow()
    })
  }

  write(chunk: Buffer): void {
    if (this.#decoder === undefined) this.#keep(chunk)
    else if (!this.#decoder.write(chunk)) {
      this.#isClogged = true
      this.#controller.pause()
    }
  }

  end(): void {
    if (this.#decoder === undefined) this.#settle("ended")
    else this.#decoder.end()
  }

  fail(error: unknown): void {
    this.#loss = { error }
    if (this.#decoder === undefined) this.#settle(this.#loss)
    // The bytes before it are still being read.
    else this.#decoder.end()
  }

  /** Ends the connection. */
  close(): void {
    this.#settle("ended")
    this.#kept = []
    this.#decoder?.destroy()
    this.#controller.abort(new Error("interrupted"))
  }

  /** All bytes since the last read. The bytes before a failure are read first. */
  chunks(brokenOff: (error: unknown) => HttpClientError.HttpClientError): Chunks {
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, HttpClientError.HttpClientError> = Effect.suspend(
      () => {
        const kept = this.#kept
        if (Arr.isArrayNonEmpty(kept)) {
          this.#kept = []
          this.#size = 0
          this.#flow()
          return Effect.succeed(kept)
        }
        if (this.#outcome === "ended") return Cause.done()
        if (this.#outcome !== "open") return Effect.fail(brokenOff(this.#outcome.error))
        return Effect.andThen(
          Effect.callback<void>((resume) => {
            this.#wake = () => resume(Effect.void)
            return Effect.sync(() => {
              this.#wake = undefined
            })
          }),
          next
        )
      }
    )
    return Stream.fromPull(Effect.succeed(next))
  }

  #keep(chunk: Uint8Array): void {
    if (this.#outcome !== "open") return
    this.#kept.push(chunk)
    this.#size += chunk.length
    if (this.#size >= mostKept) {
      this.#decoder?.pause()
      this.#controller.pause()
    }
    this.#rouse()
  }

  #flow(): void {
    if (this.#outcome !== "open" || this.#size >= mostKept) return
    if (this.#decoder?.isPaused() === true) this.#decoder.resume()
    if (!this.#isClogged && this.#controller.paused) this.#controller.resume()
  }

  #settle(outcome: "ended" | { readonly error: unknown }): void {
    if (this.#outcome === "open") this.#outcome = outcome
    this.#rouse()
  }

  /** Wakes the reader once for all bytes of one read of the connection. */
  #rouse(): void {
    const wake = this.#wake
    this.#wake = undefined
    if (wake !== undefined) queueMicrotask(wake)
  }
}

// Flushed with every chunk, so that even a short one can be read.
const zlib = () => process.getBuiltinModule("node:zlib")

const gunzip = () => {
  const { constants: { Z_SYNC_FLUSH }, createGunzip } = zlib()
  return createGunzip({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH })
}

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", () => {
    const { constants: { Z_SYNC_FLUSH }, createInflate } = zlib()
    return createInflate({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH })
  }],
  ["br", () => {
    const { constants: { BROTLI_OPERATION_FLUSH }, createBrotliDecompress } = zlib()
    return createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH })
  }]
])
