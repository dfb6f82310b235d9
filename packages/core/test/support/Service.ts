/** A service in memory: it keeps the requests and answers what a test says. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { createHmac } from "node:crypto"
import { inspect } from "node:util"
import * as ErrorCodec from "../../../sync/src/internal/errorCodec.ts"
import * as Credentials from "../../src/auth/Credentials.ts"
import * as OAuth1 from "../../src/auth/OAuth1.ts"
import { catalogue } from "../../src/Catalogue.ts"
import * as Client from "../../src/client/Client.ts"
import type { AnyError } from "../../src/errors/Errors.ts"
import * as Transport from "../../src/http/Transport.ts"
import type { Definition } from "../../src/schema/Definition.ts"
import type { Joined } from "../../src/schema/Joins.ts"
import { Form } from "../../src/schema/Multipart.ts"
import type { Dictionary, Response } from "../../src/schema/Response.ts"
import type { AnyItem } from "../../src/schema/StreamItem.ts"
import type { WireName as Name } from "../../src/schema/WireName.ts"
import * as ComplianceStreams from "../../src/streams/operations/ComplianceStreams.ts"
import * as Streams from "../../src/streams/operations/Streams.ts"
import type { AnyStreamError } from "../../src/streams/Streaming.ts"
import type { StreamOptions } from "../../src/streams/StreamOptions.ts"
import * as Wire from "../../src/wire/Wire.ts"
import specification from "../fixtures/operations.json" with { type: "json" }
import * as Described from "./Described.ts"
import { partsOf } from "./Parts.ts"
import type { Row } from "./Row.ts"

/** A request as it would be on the wire. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is when it is text or a stream, as JSON otherwise. */
  readonly body?: unknown
}

/** An answer, or what leads to it. */
export type Outcome = Answer | Effect.Effect<Answer, HttpClientError.HttpClientError>

/** One secret per slot; no text may hold any of them. */
export const secrets = {
  bearerToken: "canary-bearer-token-0001",
  consumerKey: "canary-consumer-key-0002",
  consumerSecret: "canary-consumer-secret-0003",
  accessToken: "42-canary-access-token-0004",
  accessTokenSecret: "canary-access-token-secret-0005"
}

export const baseUrl = "https://service.test/prefix"

/** The settings of a client, with the name of its wire. */
export interface Settings extends Omit<Client.Settings, "wire">, Credentials.Settings {
  readonly wire?: Name | undefined
}

/**
 * Answers every request by its number, counted from 0, and keeps it. Unless it `tells`, its bodies are read, and its time
 * is limited, by the client.
 */
export const make = (answer: (request: Received, index: number) => Outcome, { tells = true } = {}) => {
  const requests: Array<Received> = []
  const client = HttpClient.make((request) =>
    Effect.suspend(() => {
      const received = receive(request)
      const outcome = answer(received, requests.push(received) - 1)
      return Effect.map(
        Effect.isEffect(outcome) ? outcome : Effect.succeed(outcome),
        ({ body = "", headers = {}, status = 200 }) =>
          HttpClientResponse.fromWeb(
            request,
            new globalThis.Response(
              typeof body === "string" || body instanceof ReadableStream ? body : JSON.stringify(body),
              { status, headers }
            )
          )
      )
    })
  )
  const http = tells
    ? Object.assign(client, {
      [Transport.reports]: (request: HttpClientRequest.HttpClientRequest) => client.execute(request)
    })
    : client
  const layer = (
    { wire = "neutral", ...settings }: Settings = secrets,
    services: Layer.Layer<never> = Layer.empty
  ) =>
    // Most tests count requests, so they say when one is to be repeated.
    Client.layer({ baseUrl, retries: 0, ...settings, wire: Wire.named[wire] }).pipe(
      Layer.provide([Credentials.layer(settings), Layer.succeed(HttpClient.HttpClient, http), services])
    )
  return { requests, http, layer }
}

const receive = (request: HttpClientRequest.HttpClientRequest): Received => {
  assert.isTrue(request.url.startsWith(baseUrl), request.url)
  const [path, query = ""] = request.url.slice(baseUrl.length).split("?") as [string, string?]
  assert.lengthOf(request.urlParams.params, 0)
  return {
    method: request.method,
    url: request.url,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: { ...request.headers },
    body: textOf(request.body)
  }
}

/** The text of a body; of one with bytes, its parts as JSON. */
const textOf = (body: HttpClientRequest.HttpClientRequest["body"]): string => {
  if (body._tag === "Uint8Array") return new TextDecoder().decode(body.body)
  if (!(body instanceof Form)) return ""
  const text = Buffer.concat(body.bytes as ReadonlyArray<Uint8Array>).toString("latin1")
  assert.strictEqual(body.contentLength, text.length)
  return JSON.stringify(partsOf(body.contentType, text))
}

/** Fails as a transport does, with the cause that it gives. */
export const transportError = (cause: object) => {
  const request = { method: "GET", url: baseUrl } as HttpClientRequest.HttpClientRequest
  return Effect.fail(
    new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
  )
}

/** An operation whose types are erased, for tests that treat all alike. */
export interface Untyped<A = Response<unknown, unknown>> {
  (parameters?: unknown): Effect.Effect<A, AnyError, Client.Client>
  readonly definition: Definition
  readonly as: {
    (form: "response"): Untyped
    (form: "dictionary"): Untyped<Dictionary<unknown, unknown>>
    (form: "raw"): Untyped<HttpClientResponse.HttpClientResponse>
  }
}

/** An operation that pages, likewise. */
export interface UntypedPaged<A = Response<unknown, unknown>> extends Untyped<A> {
  readonly pages: (parameters?: unknown) => Stream.Stream<A, AnyError, Client.Client>
  readonly items: (parameters?: unknown) => Stream.Stream<unknown, AnyError, Client.Client>
  readonly joined: (parameters?: unknown) => Stream.Stream<Joined<unknown, unknown>, AnyError, Client.Client>
}

export const isPaged = (operation: Untyped): operation is UntypedPaged => "pages" in operation

const operations = Object.entries(catalogue as unknown as Readonly<Record<string, Untyped>>)

/** Every operation that answers once with an envelope. What answers with a file or a document has tests of its own. */
export const all = operations.filter(([, { definition: { live, result } }]) =>
  result._tag !== "Bytes" && result._tag !== "Document" && live === undefined
)

type Call = (
  parameters?: unknown
) => Effect.Effect<Pick<Response<unknown, unknown>, "body" | "data">, AnyStreamError, Client.Client>

/** Every operation that answers with JSON, by what it answers first. */
export const firsts: ReadonlyArray<readonly [name: string, first: Call & { readonly definition: Definition }]> = [
  ...all,
  ...Object.entries({ ...Streams, ...ComplianceStreams }).map(([name, stream]) => {
    const run = stream as unknown as (
      parameters: unknown,
      options: StreamOptions
    ) => Stream.Stream<AnyItem, AnyStreamError, Client.Client>
    const first: Call = (parameters) =>
      Effect.map(Stream.runHead(run(parameters, { recover: "none", reconnects: 0 })), (head) => {
        const { body } = Option.getOrThrow(head)
        return { data: body.data, body }
      })
    return [name, Object.assign(first, { definition: stream.definition })] as const
  })
]

/** What the specification says of its operations. */
export const rows: ReadonlyArray<Row> = Object.entries(specification).map(([name, row]) =>
  // JSON has no tuples and no literals.
  ({ name, ...row }) as unknown as Row
)

/** The row of the specification with a name or an alias. */
export const specifiedRowOf = (name: string): Row | undefined =>
  rows.find((row) => row.name === name || row.aliases.includes(name))

/** What is known of an operation, by its name or an alias of it: where the specification has no row, what its declaration says. */
export const rowOf = (name: string): Row => {
  const row = specifiedRowOf(name)
  if (row !== undefined) return row
  const operation = operations.find(([other]) => other === name)?.[1]
  if (operation === undefined) throw new Error(`${name} is no operation of the service`)
  return Described.describe(operation.definition)
}

/** Verifies the authorization of a request and returns the kind of it. */
export const authorizationOf = (
  { headers, method, url }: Pick<Received, "method" | "url"> & {
    readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  }
): "bearer" | "oauth1" => {
  const header = String(headers["authorization"] ?? "")
  if (header === `Bearer ${secrets.bearerToken}`) return "bearer"
  const parameters = OAuth1.parseAuthorization(header)
  assert.isDefined(parameters, header)
  const { oauth_nonce, oauth_signature, oauth_timestamp, ...rest } = parameters
  assert.deepStrictEqual(rest, {
    oauth_consumer_key: secrets.consumerKey,
    oauth_signature_method: "HMAC-SHA1",
    oauth_token: secrets.accessToken,
    oauth_version: "1.0"
  })
  assert.match(oauth_nonce!, /^[0-9a-f]{32}$/)
  assert.match(oauth_timestamp!, /^\d+$/)
  assert.strictEqual(
    oauth_signature,
    OAuth1.signature({
      method,
      url,
      parameters,
      consumerSecret: secrets.consumerSecret,
      tokenSecret: secrets.accessTokenSecret,
      hmac: (key, message) => createHmac("sha1", key).update(message).digest("base64")
    })
  )
  return "oauth1"
}

/** Every text that a value may end up in. */
export const textsOf = (value: unknown): ReadonlyArray<string> => [
  String(value),
  JSON.stringify(value) ?? "",
  inspect(value, { depth: Infinity, showHidden: true }),
  inspect(value),
  Cause.pretty(Cause.fail(value)),
  inspect(Exit.fail(value), { depth: Infinity }),
  ...(value instanceof Error ? [value.message, value.stack ?? "", inspect(value.cause, { depth: Infinity })] : []),
  ...Option.toArray(ErrorCodec.encode(value)).map((encoded) => JSON.stringify(encoded))
]

export const assertNoSecret = (value: unknown): void => {
  for (const text of textsOf(value)) assert.notInclude(text, "canary")
}

/** The error of an effect, which is of a class and has these fields. */
export const fails = <A, E, R, F extends Error>(
  effect: Effect.Effect<A, E, R>,
  errorClass: new(fields: never) => F,
  fields: { readonly [K in keyof F]?: F[K] | undefined } = {}
): Effect.Effect<F, A, R> =>
  Effect.map(Effect.flip(effect), (error) => {
    if (!(error instanceof errorClass)) return assert.fail(`${String(error)} is not a ${errorClass.name}`)
    assert.deepInclude<object>(error, fields)
    return error
  })

/** A request without a client, what it brings, and what was sent. */
export const answered = <A, E>(
  request: Effect.Effect<A, E, HttpClient.HttpClient>,
  answer: Answer | Parameters<typeof make>[0]
) => {
  const { http, requests } = make(typeof answer === "function" ? answer : () => answer)
  return Effect.map(Effect.provideService(request, HttpClient.HttpClient, http), (value) => ({ value, requests }))
}

/** The same of one that fails. */
export const failed = <A, E>(
  request: Effect.Effect<A, E, HttpClient.HttpClient>,
  answer: Parameters<typeof make>[0]
) => {
  const { http, requests } = make(answer)
  const provided = Effect.provideService(request, HttpClient.HttpClient, http)
  return Effect.map(Effect.flip(provided), (error) => ({ error, requests }))
}
