/**
 * The service as a function from a request to a response. Its routes, parameters and rules are those of the catalogue,
 * on both wires at once; the sandbox adds what only a service knows: who asks, how often, and the state.
 */
import * as Body from "@postwire/core/Body"
import { type Catalogue, catalogue, type Name } from "@postwire/core/Catalogue"
import { routesOf } from "@postwire/core/Definition"
import { type Definition, parametersOf, successStatus } from "@postwire/core/Definition"
import * as Monotonic from "@postwire/core/Monotonic"
import * as OAuth1 from "@postwire/core/OAuth1"
import * as Parameters from "@postwire/core/Parameters"
import { isSelector, queryKey } from "@postwire/core/Prepare"
import { envelope } from "@postwire/core/Response"
import * as Rule from "@postwire/core/Rule"
import * as WireNames from "@postwire/core/WireNames"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import * as Authentication from "./Authentication.ts"
import * as Faults from "./Faults.ts"
import type { Call, Reply } from "./Handler.ts"
import { handlers } from "./handlers/index.ts"
import * as Journal from "./Journal.ts"
import type * as Nonces from "./Nonces.ts"
import * as PageToken from "./PageToken.ts"
import * as Problem from "./Problem.ts"
import * as Projection from "./Projection.ts"
import * as RateLimits from "./RateLimits.ts"
import type * as Secrets from "./Secrets.ts"
import type * as ServiceClock from "./ServiceClock.ts"
import type { Store } from "./store/Store.ts"

/** Settings of the service. */
export interface Options {
  /** The words of an answer where the request does not tell: paths such as `/2/users/me` are the same on both wires. */
  readonly wire?: WireNames.Wire | undefined
}

type Handle = (call: Call<unknown>) => Effect.Effect<Reply, Problem.Problem>

interface Route {
  readonly name: Name
  readonly definition: Definition
  readonly handle: Handle
  /** The alternative parameter that this route stands for. */
  readonly selectedBy: string
  /** The wire that the path tells, or none when both spell it alike. */
  readonly wire: WireNames.Wire | undefined
}

/** What the service remembers, and what it can be told to do. */
export interface Parts {
  readonly store: Store["Service"]
  readonly clock: ServiceClock.ServiceClock
  readonly faults: Faults.Faults
  readonly journal: Journal.Journal
  readonly limits: RateLimits.RateLimits
  readonly postCap: RateLimits.PostCap
  readonly nonces: Nonces.Nonces
  readonly secrets: Secrets.Secrets
  /** How often the state was replaced. */
  readonly epoch: () => number
  /** Waits until all that was written of an answer is on its way: a broken connection takes the rest with it. */
  readonly delivered: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
}

/** What is learned of a request on its way, for the journal. */
interface Trace {
  operation?: Name
  caller?: Authentication.Caller
  /** What its body held, or that it was large. */
  body?: unknown
  problem?: string
  fault?: Faults.Behaviour
}

/** Answers a request, or breaks the connection. */
export type Service = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Faults.ConnectionLost>

/** Makes the service of its parts. */
export const make = Effect.fnUntraced(function*(parts: Parts, options: Options = {}) {
  const { clock, delivered, epoch, faults, journal, limits, nonces, postCap, secrets, store } = parts
  const authority = { store, hmac: yield* OAuth1.HmacSha1, nonces }
  const router = routes()
  let detours = 0

  const identify = (request: HttpServerRequest.HttpServerRequest, url: URL) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Authentication.identify(authority, now, {
        method: request.method,
        url: url.href,
        authorization: request.headers["authorization"]
      }))

  const work = Effect.fnUntraced(function*(
    request: HttpServerRequest.HttpServerRequest,
    url: URL,
    route: Route,
    params: Readonly<Record<string, string | undefined>>,
    identified: Result.Result<Authentication.Identified, Problem.Problem>,
    trace: Trace
  ) {
    const now = yield* Clock.currentTimeMillis
    const begun = epoch()
    const { definition, name } = route
    const { caller, claim } = yield* Effect.fromResult(identified)
    yield* claim(now)
    const window = limits.count(name, caller.key, now)
    const headers = RateLimits.headers(window)
    const spoken = wireOf(definition, url, undefined)
    // The live service takes `post.fields` at its own paths too; its words are then those of the request.
    const told = route.wire === "x" && spoken === "neutral" ? spoken : route.wire
    let wire = told ?? spoken ?? options.wire ?? "neutral"
    const reply = Effect.gen(function*() {
      const identity = definition.identity === undefined ? undefined : params[definition.identity]
      yield* Authentication.authorize(definition, caller, identity)
      if (!window.allowed) return yield* Problem.tooManyRequests()
      const body = hasBody(definition) ? yield* read(request, trace) : undefined
      // While it was read, another state may have come, which does not know who asks.
      if (epoch() !== begun) yield* identify(request, url)
      wire = told ?? wireOf(definition, url, body) ?? wire
      const received = yield* receive(route, wire, params, url.searchParams, body, caller.access)
      const listing: PageToken.Listing = { operation: name, parameters: received.listing }
      const cursor = received.token === undefined ? undefined : PageToken.decode(listing, received.token)
      if (cursor !== undefined && Result.isFailure(cursor)) {
        const parameter = definition.paging?.token ?? "pagination_token"
        return yield* Problem.invalidRequest(`The \`${parameter}\` query parameter value is not valid.`, {
          [parameter]: received.token ?? ""
        })
      }
      if (definition.postCap === true && postCap.isSpent(caller.appId, now)) return yield* Problem.usageCapped()
      const fault = definition.paging === undefined ? undefined : trace.fault?.page
      const { data, errors = [], meta, page } = yield* route.handle({
        definition,
        parameters: received.parameters,
        caller,
        now,
        store,
        page: {
          limit: fault === "short" ? Math.ceil(received.limit / 3) : received.limit,
          cursor: cursor?.success
        }
      })
      if (fault === "empty") {
        const token = PageToken.encode(listing, cursor?.success, ++detours)
        const count = meta?.total_post_count === undefined ? "result_count" : "total_post_count"
        return envelopeOf(wire, definition, { meta: { [count]: 0, next_token: token } })
      }
      if (definition.postCap === true && Array.isArray(data)) postCap.add(caller.appId, data.length, now)
      const projected = Projection.project(
        { store, now, viewer: caller },
        definition.result,
        received.selection,
        data
      )
      const allErrors = [...errors, ...projected.errors]
      const tokens = page === undefined ? undefined : tokensOf(definition, listing, page)
      const again = fault === "repeated-token" && tokens?.["next_token"] !== undefined && received.token !== undefined
      return envelopeOf(wire, definition, {
        ...(projected.data === undefined ? {} : { data: projected.data }),
        ...(projected.includes === undefined ? {} : { includes: projected.includes }),
        ...(allErrors.length === 0 ? {} : { errors: allErrors }),
        ...(meta === undefined ? {} : { meta: { ...meta, ...tokens, ...(again && { next_token: received.token }) } })
      })
    })
    return yield* reply.pipe(
      Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, wire, trace))),
      Effect.map(HttpServerResponse.setHeaders({ ...headers, "x-access-level": caller.rights }))
    )
  })

  const answer = Effect.fnUntraced(function*(
    request: HttpServerRequest.HttpServerRequest,
    url: URL,
    trace: Trace
  ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Problem.Problem | Faults.ConnectionLost> {
    const found = router.find(request.method, url.pathname)
    if (found === undefined || !isPlain(request.originalUrl)) return yield* Problem.noRoute()
    if (!isEscaped(url.search)) return yield* Problem.invalidRequest("The query string has a malformed escape.")
    const { handler: candidates, params } = found
    // Of those who cannot sign in nothing is read but the head.
    const identified = yield* Effect.result(identify(request, url))
    const caller = Result.isSuccess(identified) ? identified.success.caller : undefined
    if (caller !== undefined) trace.caller = caller
    const route = candidates.length === 1 || caller === undefined
      ? candidates[0]!
      : yield* choose(candidates, request)
    trace.operation = route.name
    const fault = (caller && (yield* Faults.asked(request.headers))) ?? faults.next(route.name)
    if (fault === undefined) return yield* work(request, url, route, params, identified, trace)
    trace.fault = fault
    if (fault.reset === "before") return yield* new Faults.ConnectionLost()
    const refused = fault.status === undefined ? undefined : Faults.refusal(fault.status)
    // Nothing reads the body for its sake, but the journal shows what was refused.
    if (refused !== undefined && caller !== undefined && hasBody(route.definition)) {
      yield* Effect.ignore(read(request, trace))
    }
    const worked = refused === undefined
      ? work(request, url, route, params, identified, trace).pipe(
        Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, undefined, trace)))
      )
      : Effect.succeed(refuse(refused, route.wire ?? options.wire, trace))
    return yield* Effect.flatMap(worked, (response) => Faults.spoil(fault, response, delivered(request)))
  })

  const service: Service = (request) =>
    clock.provide(Effect.gen(function*() {
      const url = urlOf(request)
      const at = yield* Clock.currentTimeMillis
      const begun = yield* Monotonic.millis
      const trace: Trace = {}
      const answered = url === undefined ? Effect.fail(Problem.noRoute()) : answer(request, url, trace)
      return yield* answered.pipe(
        Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, undefined, trace))),
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("The sandbox failed", defect),
            refuse(Problem.ofFailure(defect), undefined, trace)
          )
        ),
        Effect.map((response) =>
          HttpServerResponse.setHeaders(response, {
            date: new Date(at).toUTCString(),
            "x-transaction-id": randomUUID(),
            // What the fault says stands.
            ...response.headers
          })
        ),
        Effect.map((response) => Faults.withoutHeaders(trace.fault, response)),
        Effect.onExit((exit) =>
          Effect.map(Monotonic.millis, (end) =>
            journal.add({
              at,
              method: request.method,
              path: url?.pathname ?? request.originalUrl.replace(/[?#].*/s, ""),
              query: Object.fromEntries(url?.searchParams ?? []),
              headers: request.headers,
              body: trace.body,
              operation: trace.operation,
              caller: trace.caller &&
                { form: trace.caller.form, appId: trace.caller.appId, userId: trace.caller.userId },
              status: Exit.isSuccess(exit) ? exit.value.status : undefined,
              problem: trace.problem,
              fault: trace.fault,
              millis: Math.round(end - begun)
            }, secrets.of(request.headers["authorization"])))
        )
      )
    }))
  return service
})

const envelopeOf = (
  wire: WireNames.Wire,
  definition: Definition,
  neutral: object
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(wire === "x" ? WireNames.problemToX(toX(definition)(neutral)) : neutral, {
    status: successStatus(definition)
  })

const routes = (): FindMyWay.Router<ReadonlyArray<Route>> => {
  const router = FindMyWay.make<ReadonlyArray<Route>>({
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false,
    maxParamLength: 500
  })
  const table = new Map<string, Array<Route>>()
  const add = (method: string, path: string, route: Route): void => {
    const known = table.get(`${method} ${path}`)
    if (known !== undefined) return void known.push(route)
    const routes = [route]
    table.set(`${method} ${path}`, routes)
    router.on(method, path as `/${string}`, routes)
  }
  for (const name of Object.keys(handlers) as Array<keyof typeof handlers>) {
    const { definition } = catalogue[name] as Catalogue[keyof Catalogue]
    for (const [selectedBy, route] of routesOf(definition)) {
      const [method, path] = route.split(" ") as [string, string]
      const xPath = WireNames.path(path)
      // Each handler reads the parameters that its own operation declares; the table above has paired them.
      const entry = { name, definition, selectedBy, handle: handlers[name] as Handle }
      add(method, path, { ...entry, wire: sameRoute(xPath, path) ? undefined : "neutral" })
      if (!sameRoute(xPath, path)) add(method, xPath, { ...entry, wire: "x" })
    }
  }
  return router
}

/** Of operations that share a method and a path, the one whose constants the body holds. */
const choose = (routes: ReadonlyArray<Route>, request: HttpServerRequest.HttpServerRequest): Effect.Effect<Route> =>
  Effect.match(jsonOf(request), {
    // What is wrong with the body, the first one tells as well as any.
    onFailure: () => routes[0]!,
    onSuccess: (body) => routes.find(({ definition }) => wrongConstant(definition, body) === undefined) ?? routes[0]!
  })

const hasBody = ({ body, constants }: Definition): boolean => body !== undefined || constants !== undefined

/** The position at which the body does not hold the constant of the operation. */
const wrongConstant = ({ constants = {} }: Definition, body: object): string | undefined =>
  Object.keys(constants).find((position) => Body.lookup(body, {}, position) !== constants[position])

/** Whether two templates match the same paths: the names of their parameters do not matter. */
const sameRoute = (a: string, b: string): boolean => a.replace(/:\w+/g, ":") === b.replace(/:\w+/g, ":")

/** The URL that a client signed; none when what it sent is no URL. */
export const urlOf = (request: HttpServerRequest.HttpServerRequest): URL | undefined => {
  // In process the URL is absolute already; over a connection the host is that of the header, as the client signed it.
  const href = URL.canParse(request.originalUrl)
    ? request.originalUrl
    : `http://${request.headers["host"] ?? "localhost"}${request.originalUrl}`
  return URL.canParse(href) ? new URL(href) : undefined
}

/** Whether the path is one that names an operation as it stands: nothing in it goes back, aside or away. */
const isPlain = (target: string): boolean =>
  !/[;\\]|\/(\.|%2e){1,2}(\/|$)/i.test(target.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, ""))

/** Whether every `%` begins the escape of a character. */
const isEscaped = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The wire that a word of the query or the body tells. */
const wireOf = (definition: Definition, url: URL, body: object | undefined): WireNames.Wire | undefined => {
  for (const name of Object.keys(definition.query ?? {})) {
    const key = queryKey(name)
    if (WireNames.queryKey(key) === key) continue
    if (url.searchParams.has(WireNames.queryKey(key))) return "x"
    if (url.searchParams.has(key)) return "neutral"
  }
  for (const name of Object.keys(definition.body ?? {})) {
    const position = definition.at?.[name] ?? name
    if (WireNames.bodyKey(position) === position) continue
    if (Body.lookup(body, {}, WireNames.bodyKey(position)) !== undefined) return "x"
    if (Body.lookup(body, {}, position) !== undefined) return "neutral"
  }
  return undefined
}

const refuse = (
  problem: Problem.Problem,
  wire: WireNames.Wire | undefined,
  trace: Trace
): HttpServerResponse.HttpServerResponse => {
  trace.problem = problem.title
  return HttpServerResponse.jsonUnsafe(wire === "x" ? WireNames.problemToX(problem.document) : problem.document, {
    status: problem.status,
    contentType: "application/problem+json"
  })
}

/** How long a body may be, in bytes, and how deep it may nest. */
const maximumBody = 16 * 1024 * 1024
const maximumDepth = 32

/** The object that a body holds. */
export const jsonOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<object, Problem.Problem> =>
  Effect.map(jsonIn(request), ({ json }) => json)

/** The object that a body holds, noted for the journal: an answer that is held back holds no large body with it. */
const read = (request: HttpServerRequest.HttpServerRequest, trace: Trace): Effect.Effect<object, Problem.Problem> =>
  Effect.map(jsonIn(request), ({ byteLength, json }) => {
    trace.body = byteLength > Journal.largestBody ? Journal.large : json
    return json
  })

const jsonIn = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<{ readonly json: object; readonly byteLength: number }, Problem.Problem> =>
  /^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")
    ? request.arrayBuffer.pipe(
      // Over a connection, no more than this is read.
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maximumBody)),
      Effect.mapError(({ reason }) =>
        "reason" in reason && reason.reason === "BodyTooLarge"
          ? Problem.tooLarge()
          : Problem.invalidRequest("The body cannot be read.")
      ),
      Effect.filterOrFail(({ byteLength }) => byteLength <= maximumBody, Problem.tooLarge),
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
            (body) => !isDeeper(body, maximumDepth),
            () => Problem.invalidRequest(`The body nests more than ${maximumDepth} deep.`)
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

interface Received {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly selection: Projection.Selection
  readonly token: string | undefined
  /** How many items a page has at most. */
  readonly limit: number
  /** What all pages of one listing share. */
  readonly listing: PageToken.Listing["parameters"]
}

/** Reads the parameters with the schemas that the client writes them with, and checks every rule again. */
const receive = Effect.fnUntraced(function*(
  route: Route,
  wire: WireNames.Wire,
  params: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  body: object | undefined,
  access: Parameters.AccessLevel
): Effect.fn.Return<Received, Problem.Problem> {
  const { definition, selectedBy } = route
  const x = wire === "x"
  const parameters: Record<string, unknown> = {}
  const selection: Record<string, ReadonlyArray<string>> = {}
  const listing: Record<string, string> = {}
  let token: string | undefined

  const raw = new Map<string, unknown>()
  for (const name of Object.keys(definition.path ?? {})) {
    const value = params[name] ?? params[WireNames.bodyKey(name)]
    if (value !== undefined) raw.set(name, value)
  }
  const names = new Map(
    Object.keys(definition.query ?? {}).map((name) =>
      [x ? WireNames.queryKey(queryKey(name)) : queryKey(name), name] as const
    )
  )
  // What the live service takes besides, and its own clients send.
  const lenient = route.wire !== "neutral"
  if (lenient && definition.paging?.token === "next_token") names.set("pagination_token", "next_token")
  for (const [key, value] of query) {
    const name = names.get(key)
    if (name === undefined) {
      return yield* Problem.invalidRequest(
        `The query parameter [${key}] is not one of [${[...names.keys()].join(",")}]`,
        { [key]: value }
      )
    }
    if (raw.has(name)) {
      return yield* Problem.invalidRequest(`The query parameter [${key}] is there more than once`, { [key]: value })
    }
    const words = x && isSelector(name) ? WireNames.neutralSelectorValue(value) : value
    raw.set(name, lenient && name === "expansions" ? words.replace(bareReference, "referenced_posts.id") : words)
  }
  const constant = body && wrongConstant(definition, body)
  if (constant !== undefined) {
    return yield* Problem.invalidRequest(`The \`${constant}\` must be ${definition.constants?.[constant]}`)
  }
  for (const name of Object.keys(definition.body ?? {})) {
    const position = definition.at?.[name] ?? name
    const array = position.includes(".0.")
      ? Body.lookup(body, {}, position.slice(0, position.indexOf(".0.")))
      : undefined
    if (Array.isArray(array) && array.length > 1) {
      return yield* Problem.invalidRequest(`There is more than one \`${name}\`; only one is allowed`)
    }
    const value = Body.lookup(body, {}, x ? WireNames.bodyKey(position) : position)
    if (value !== undefined) raw.set(name, value)
  }

  for (const [name, parameter] of Object.entries(parametersOf(definition))) {
    const given = raw.get(name)
    if (given === undefined) {
      // The route of an alternative is nothing without it: GET /2/users needs ids.
      if (parameter.required || name === selectedBy) {
        return yield* Problem.invalidRequest(`The \`${name}\` parameter can not be empty`)
      }
      continue
    }
    const inBody = definition.body?.[name] !== undefined
    const wired = inBody || typeof given !== "string" ? given : Parameters.fromText(parameter, given)
    const decoded = Schema.decodeUnknownResult(parameter.schema)(wired)
    if (Result.isFailure(decoded) || !Parameters.isWithinBounds(parameter, wired as Parameters.Wire, access)) {
      const shown = typeof given === "string" ? given : JSON.stringify(given)
      return yield* Problem.invalidRequest(
        `The \`${name}\` parameter value [${shown}] ${Parameters.describe(parameter, access)}`,
        {
          [name]: shown
        }
      )
    }
    if (isSelector(name)) selection[name] = String(given).split(",")
    else if (name === definition.paging?.token) token = String(given)
    else {
      parameters[name] = valueOf(parameter, decoded.success)
      if (name !== "max_results") listing[name] = String(given)
    }
  }

  for (const rule of definition.rules ?? []) {
    const parameter = Rule.broken(rule, (name) => raw.has(name))
    if (parameter !== undefined) return yield* Problem.invalidRequest(`${parameter}: ${Rule.format(rule)}`)
  }
  const limit = Number(parameters["max_results"] ?? definition.query?.["max_results"]?.default ?? 100)
  return { parameters, selection, token, limit, listing: { ...listing, route: selectedBy } }
})

const bareReference = /(?<![^,])referenced_posts(?![^,])/g

/** A decoded value in the form that handlers see. */
const valueOf = (parameter: Parameters.AnyParameter, value: unknown): unknown => {
  if (parameter.kind === "timestamp") return Date.parse(String(value))
  if (parameter.kind === "list" && typeof value === "string") return value.split(",")
  return value
}

const tokensOf = (
  definition: Definition,
  listing: PageToken.Listing,
  page: NonNullable<Reply["page"]>
): Readonly<Record<string, string>> => ({
  ...(page.next === undefined ? {} : { next_token: PageToken.encode(listing, page.next) }),
  ...(page.previous === undefined || definition.paging?.directions !== "both"
    ? {}
    : { previous_token: PageToken.encode(listing, page.previous) })
})

const renamers = new WeakMap<Definition, (body: unknown) => unknown>()

const toX = (definition: Definition): (body: unknown) => unknown => {
  let rename = renamers.get(definition)
  if (rename === undefined) {
    rename = WireNames.toX(envelope(definition.result))
    renamers.set(definition, rename)
  }
  return rename
}
