/** The body of a request, within bounds: JSON, a form, or parts of which some are bytes. */
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

/** Of a body of parts: what they hold, and what is between them. */
const maxParts = 32
const maxTextBytes = 64 * 1024
const maxMultipartBytes = maxBytes + 4 * maxTextBytes

/** Of a form, which nobody has signed in for yet. */
const maxFormBytes = 64 * 1024

/** How many arrays and objects may be within each other. */
const maxDepth = 32

/** Whether requests to an operation have a body. */
export const isExpected = ({ body, constants }: Definition): boolean => body !== undefined || constants !== undefined

/** The object that a body holds. */
export const json = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<object, Problem.Problem> =>
  Effect.map(read(request), ({ json }) => json)

/** The object that a body holds, noted for the journal: an answer that is held back holds no large body with it. */
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

/** Reads half of a body, or all that came at once of one whose length nobody told. */
export const half = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> => {
  const enough = Number(request.headers["content-length"] ?? 0) / 2
  let received = 0
  return request.stream.pipe(
    Stream.takeUntil((bytes) => (received += bytes.length) >= enough),
    Stream.runDrain,
    Effect.ignore
  )
}

/** What stands for bytes where they are shown. */
export const shown = (value: unknown): unknown => value instanceof Uint8Array ? `<${value.length} bytes>` : value

/** A body without its bytes, and of its texts no more than the journal takes. */
const describe = (body: object): unknown => {
  const short = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shown(value)]))
  return JSON.stringify(short).length > Journal.maxBodyBytes ? Journal.large : short
}

/** The parts of a body by name, with values as they are in JSON; those that are bytes are bytes. */
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
    // The parser throws where a part ends within its headers.
    Effect.catchDefect(() => Effect.fail(unreadable)),
    Effect.map(() => Object.fromEntries(found))
  )
}

const unreadable = Problem.invalidRequest("The body cannot be read as parts.")

/** The object that a body holds, with bytes for the texts that stand for them. */
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

/** What a form in the body holds, or the texts of a JSON object in its place; nothing where there is neither. */
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

/** The bytes of a body; over a connection, no more than `maximum` are read. */
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
