/** The JSON of a request, within bounds. */
import type { Definition } from "@postwire/core/Definition"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as Schema from "effect/Schema"
import * as Journal from "./Journal.ts"
import * as Problem from "./Problem.ts"

const maxBytes = 16 * 1024 * 1024

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
  request: HttpServerRequest.HttpServerRequest,
  trace: Journal.Trace
): Effect.Effect<object, Problem.Problem> =>
  Effect.map(read(request), ({ byteLength, json }) => {
    trace.body = byteLength > Journal.maxBodyBytes ? Journal.large : json
    return json
  })

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
