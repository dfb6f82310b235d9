/** Reads request bodies within limits: JSON, forms and multipart. */
import type { Definition } from "@postwire/core/schema/Definition"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Problem from "../http/Problem.ts"
import * as Journal from "./Journal.ts"

const maxBytes = 16 * 1024 * 1024

/** Limits of multipart bodies, including their framing. */
const maxParts = 32
const maxTextBytes = 64 * 1024
const maxMultipartBytes = maxBytes + 4 * maxTextBytes

/** The limit of forms, which are read before authentication. */
const maxFormBytes = 64 * 1024

/** The maximum nesting of arrays and objects. */
const maxDepth = 32

/** True if requests to an operation have a body. */
export const isExpected = ({ body, constants }: Definition): boolean => body !== undefined || constants !== undefined

export const json = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<object, Problem.Problem> =>
  Effect.map(read(request), ({ json }) => json)

/** The object in a body, recorded in the trace. Large bodies are not retained there. */
export const traced = (
  definition: Definition,
  request: HttpServerRequest.HttpServerRequest,
  trace: Journal.Trace
): Effect.Effect<object, Problem.Problem> =>
  definition.encoding === "multipart"
    ? Effect.map(isMultipart(request) ? parts(request, definition) : decoded(request, definition), (body) => {
      trace.body = describe(body)
      return body
    })
    : Effect.map(read(request), ({ byteLength, json }) => {
      trace.body = byteLength > Journal.maxBodyBytes ? Journal.large : json
      return json
    })

/** Reads half of a body, or the first chunk if its length is unknown. */
export const half = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> => {
  const enough = Number(request.headers["content-length"] ?? 0) / 2
  let received = 0
  return request.stream.pipe(
    Stream.takeUntil((bytes) => (received += bytes.length) >= enough),
    Stream.runDrain,
    Effect.ignore
  )
}

/** The placeholder of bytes. */
export const shown = (value: unknown): unknown => value instanceof Uint8Array ? `<${value.length} bytes>` : value

/** The body for the journal, without bytes. */
const describe = (body: object): unknown => {
  const short = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shown(value)]))
  return JSON.stringify(short).length > Journal.maxBodyBytes ? Journal.large : short
}

/** The parts of a multipart body by name, with the same values as in JSON; files are bytes. */
const parts = (
  request: HttpServerRequest.HttpServerRequest,
  { body: parameters = {} }: Definition
): Effect.Effect<object, Problem.Problem> => {
  const found = new Map<string, unknown>()
  const keep = Effect.fnUntraced(function*(part: Multipart.Part) {
    const { key } = part
    if (found.has(key)) return yield* Problem.invalidRequest(`The part [${key}] is there more than once`)
    const parameter = Object.hasOwn(parameters, key) ? parameters[key] : undefined
    found.set(
      key,
      part._tag === "File"
        ? yield* part.contentEffect
        : parameter === undefined
        ? part.value
        : Parameters.fromText(parameter, part.value)
    )
  })
  return request.multipartStream.pipe(
    Stream.runForEach(keep),
    Effect.provideContext(
      Multipart.limitsServices({
        maxParts,
        maxFieldSize: maxTextBytes,
        maxFileSize: maxBytes,
        maxTotalSize: maxMultipartBytes
      })
    ),
    Effect.mapError((error) =>
      error._tag === "Problem"
        ? error
        : ["Parse", "InternalError"].includes(error.reason._tag)
        ? unreadable
        : Problem.tooLarge()
    ),
    // The parser throws if a part ends within its headers.
    Effect.catchDefect(() => Effect.fail(unreadable)),
    Effect.map(() => Object.fromEntries(found))
  )
}

const unreadable = Problem.invalidRequest("The body is not valid multipart.")

/** The JSON object in a body, with base64 texts decoded to bytes. */
const decoded = (
  request: HttpServerRequest.HttpServerRequest,
  { body: parameters = {} }: Definition
): Effect.Effect<object, Problem.Problem> =>
  Effect.flatMap(read(request), ({ json }) =>
    Effect.map(
      Effect.forEach(Object.entries(json), ([name, value]: readonly [string, unknown]) =>
        !Object.hasOwn(parameters, name) || parameters[name]?.kind !== "bytes"
          ? Effect.succeed([name, value] as const)
          : typeof value === "string" && base64.test(value)
          ? Effect.succeed([name, new Uint8Array(Buffer.from(value, "base64"))] as const)
          : Effect.fail(Problem.invalidRequest(`$.${name}: must be base64`))),
      Object.fromEntries
    ))

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const isMultipart = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(headers["content-type"] ?? "")

/** The fields of a form, or the strings of a JSON object in its place; empty if there is neither. */
export const form = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<URLSearchParams, Problem.Problem> =>
  isForm(request)
    ? Effect.map(bytesOf(request, maxFormBytes), (bytes) => new URLSearchParams(new TextDecoder().decode(bytes)))
    : isJson(request)
    ? Effect.map(read(request, maxFormBytes), ({ json }) =>
      new URLSearchParams(
        Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === "string")
      ))
    : Effect.succeed(new URLSearchParams())

const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")

const isJson = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")

/** The bytes of a body, at most `maximum`. */
const bytesOf = (
  request: HttpServerRequest.HttpServerRequest,
  maximum: number
): Effect.Effect<ArrayBuffer, Problem.Problem> =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maximum)),
    Effect.mapError(({ reason }) =>
      "reason" in reason && reason.reason === "BodyTooLarge"
        ? Problem.tooLarge()
        : Problem.invalidRequest("The body cannot be read.")
    ),
    Effect.filterOrFail(({ byteLength }) => byteLength <= maximum, Problem.tooLarge)
  )

const read = (
  request: HttpServerRequest.HttpServerRequest,
  maximum = maxBytes
): Effect.Effect<{ readonly json: object; readonly byteLength: number }, Problem.Problem> =>
  isJson(request)
    ? bytesOf(request, maximum).pipe(
      Effect.flatMap((bytes) =>
        Effect.try({
          try: () => parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
          catch: () => Problem.invalidRequest("The body is not JSON.")
        }).pipe(
          Effect.filterOrFail(
            (body): body is Schema.JsonObject => typeof body === "object" && body !== null && !Array.isArray(body),
            () => Problem.invalidRequest("The body is not an object.")
          ),
          Effect.filterOrFail(
            (body) => !isDeeper(body, maxDepth),
            () => Problem.invalidRequest(`The body nests more than ${maxDepth} deep.`)
          ),
          Effect.map((json) => ({ json, byteLength: bytes.byteLength }))
        )
      )
    )
    : Effect.fail(Problem.invalidRequest("The content type of the body is not application/json."))

const parseJson = (text: string): Schema.Json => JSON.parse(text)

const isDeeper = (value: unknown, depth: number): boolean =>
  typeof value === "object" && value !== null &&
  (depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1)))
