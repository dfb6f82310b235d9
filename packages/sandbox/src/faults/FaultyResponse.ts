/** Applies faults to responses. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { millisOf } from "../http/Time.ts"
import type { Behaviour } from "./Faults.ts"

/** The connection breaks without a (complete) response. */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{}> {}

/**
 * Runs `work` with a fault. `refuse` creates the response for a status; `delivered` waits until everything written has been
 * handed to the socket.
 */
export const meet = <E>(
  fault: Behaviour,
  work: Effect.Effect<HttpServerResponse.HttpServerResponse, E>,
  refuse: (status: number) => HttpServerResponse.HttpServerResponse,
  delivered: Effect.Effect<void>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E | ConnectionLost> => {
  const { after = false, reset, status } = fault
  if (reset === "before" || reset === "during") return Effect.fail(new ConnectionLost())
  const refused = status === undefined ? undefined : Effect.sync(() => refuse(status))
  const worked = refused === undefined ? work : after ? Effect.andThen(work, refused) : refused
  return Effect.flatMap(worked, (response) => spoil(fault, response, delivered))
}

/** Applies a fault to a response. */
const spoil = (
  { body, delay, headers, pause, rateLimitHeaders, reset, truncate }: Behaviour,
  answer: HttpServerResponse.HttpServerResponse,
  delivered: Effect.Effect<void>
): Effect.Effect<HttpServerResponse.HttpServerResponse, ConnectionLost> => {
  let response = body === undefined ? answer : otherBody(body, answer)
  const named: Behaviour["headers"] = rateLimitHeaders && rateLimits[rateLimitHeaders]
  for (const [name, value] of Object.entries({ ...named, ...headers })) {
    response = value === null
      ? HttpServerResponse.removeHeader(response, name)
      : HttpServerResponse.setHeader(response, name, value)
  }
  if (truncate === true || pause !== undefined) {
    response = inParts(response, truncate === true ? delivered : undefined, pause)
  }
  const given = reset === "after" ? Effect.fail(new ConnectionLost()) : Effect.succeed(response)
  return delay === undefined ? given : Effect.delay(given, millisOf(delay))
}

/** Removes the headers that the fault omits. */
export const withoutHeaders = (
  fault: Behaviour | undefined,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse =>
  Object.entries(fault?.headers ?? {}).reduce(
    (kept, [name, value]) => value === null ? HttpServerResponse.removeHeader(kept, name) : kept,
    response
  )

const rateLimits = {
  missing: { "x-rate-limit-limit": null, "x-rate-limit-remaining": null, "x-rate-limit-reset": null },
  absurd: { "x-rate-limit-limit": "-1", "x-rate-limit-remaining": "NaN", "x-rate-limit-reset": "99999999999999" }
}

const otherBody = (
  body: NonNullable<Behaviour["body"]>,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const json = "application/json"
  switch (body) {
    case "html":
      return HttpServerResponse.setBody(response, HttpBody.text("<!doctype html><h1>Bad gateway</h1>", "text/html"))
    case "broken-json": {
      const bytes = bytesOf(response)
      return HttpServerResponse.setBody(response, HttpBody.uint8Array(bytes.subarray(0, bytes.length >> 1), json))
    }
    case "empty":
      return HttpServerResponse.setBody(response, HttpBody.uint8Array(new Uint8Array(0), json))
    case "huge": {
      const part = new Uint8Array(2 ** 16).fill(0x61)
      const parts = Stream.take(Stream.forever(Stream.make(part)), 2 ** 12)
      const text = (text: string) => Stream.make(new TextEncoder().encode(text))
      return HttpServerResponse.setBody(
        response,
        HttpBody.stream(text(`{"data":"`).pipe(Stream.concat(parts), Stream.concat(text(`"}`))), json)
      )
    }
  }
}

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array =>
  body._tag === "Uint8Array" ? body.body : new Uint8Array(0)

const inParts = (
  response: HttpServerResponse.HttpServerResponse,
  truncated: Effect.Effect<void> | undefined,
  pause: Behaviour["pause"]
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  const bytes = truncated ? body.body.subarray(0, body.body.length >> 1) : body.body
  const size = Math.max(1, Math.ceil(bytes.length / 16))
  const parts = Stream.fromIterable(
    Array.from({ length: 16 }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
  )
  const paced = pause === undefined
    ? parts
    : Stream.mapEffect(parts, (part) => Effect.delay(Effect.succeed(part), millisOf(pause)))
  const whole = truncated === undefined
    ? paced
    : Stream.concat(paced, Stream.fromEffect(Effect.andThen(truncated, Effect.fail(new ConnectionLost()))))
  return HttpServerResponse.setBody(response, HttpBody.stream(whole, body.contentType, body.contentLength))
}
