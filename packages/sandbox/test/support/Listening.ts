/** Requests of the app alone, and streams that are read as they come. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Sandbox } from "../../src/index.ts"

/** Asks as the app alone. */
export const ask = Effect.fnUntraced(
  function*(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown, token?: string) {
    const { baseUrl, seeded } = yield* Sandbox.Sandbox
    const client = yield* HttpClient.HttpClient
    const request = HttpClientRequest.make(method)(baseUrl + path).pipe(
      HttpClientRequest.bearerToken(token ?? Redacted.value(seeded.appBearerToken))
    )
    return yield* client.execute(body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body))
  }
)

export const json = (...asked: Parameters<typeof ask>) =>
  Effect.map(Effect.flatMap(ask(...asked), ({ text }) => text), (text) => JSON.parse(text))

/** Reads a stream from now on. */
export const listen = Effect.fnUntraced(function*(path: string, token?: string) {
  const response = yield* ask("GET", path, undefined, token)
  const lines: Array<string> = []
  const pieces: Array<Uint8Array> = []
  const fiber = yield* Effect.forkChild(
    response.stream.pipe(
      Stream.tap((piece) => Effect.sync(() => pieces.push(piece))),
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => lines.push(line))),
      Effect.exit
    )
  )
  yield* settle
  return {
    status: response.status,
    response,
    /** All that came, and without heartbeats. */
    lines,
    bytes: () => Buffer.concat(pieces),
    items: () => lines.filter((line) => line !== "").map((line) => JSON.parse(line)),
    texts: () => lines.filter((line) => line !== "").map((line) => JSON.parse(line).data.text),
    fiber
  }
})

/** Everything that can happen at this time does. */
export const settle = Effect.gen(function*() {
  for (let i = 0; i < 50; i++) yield* Effect.yieldNow
})
