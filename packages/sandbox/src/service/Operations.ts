/**
 * The pipeline of a request to an operation: route, caller, fault, rate limit, parameters, handler, field selection.
 * Routes, parameters and rules come from the catalogue, on all wires or on one.
 */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import type { WireName } from "@postwire/core/schema/WireName"
import type { Wire } from "@postwire/core/wire/Wire"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Authentication from "../auth/Authentication.ts"
import type * as Nonces from "../auth/Nonces.ts"
import * as Faults from "../faults/Faults.ts"
import * as FaultyResponse from "../faults/FaultyResponse.ts"
import * as Problem from "../http/Problem.ts"
import { isEscaped, isPlain } from "../http/RequestTarget.ts"
import type * as Journal from "../journal/Journal.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import type * as Bill from "../limits/Bill.ts"
import * as RateLimits from "../limits/RateLimits.ts"
import type { Usage } from "../limits/Usage.ts"
import * as MediaFiles from "../media/MediaFiles.ts"
import * as Envelope from "../projection/Envelope.ts"
import * as PageToken from "../projection/PageToken.ts"
import * as Projection from "../projection/Projection.ts"
import type { Store } from "../store/Store.ts"
import type * as Hub from "../streams/Streams.ts"
import * as RequestParameters from "./RequestParameters.ts"
import * as RequestWire from "./RequestWire.ts"
import * as Router from "./Router.ts"

/** The options of the operations. */
export interface Options {
  /** The only accepted wire. Default: all, each response in the wire of its request. */
  readonly wire?: WireName | undefined
}

/** The dependencies of the operations. */
export interface Parts {
  readonly store: Store["Service"]
  readonly faults: Faults.Faults
  readonly limits: RateLimits.RateLimits
  readonly postCap: RateLimits.PostCap
  readonly usage: Usage
  readonly bill: Bill.Ledger
  readonly nonces: Nonces.Nonces
  readonly streams: Hub.Hub
  /** The number of times that the state was replaced. */
  readonly epoch: () => number
  /** Waits until everything written of a response has been handed to the socket: a broken connection discards the rest. */
  readonly delivered: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
}

interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly route: Router.Route
  /** Path parameters. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly trace: Journal.Trace
}

/** A request by a known caller. */
interface Admitted extends Asked {
  readonly caller: Authentication.Caller
  /** The service's time in milliseconds. */
  readonly now: number
  readonly wire: Wire
  readonly body: object | undefined
}

/** Handles requests to operations and records them in `trace`. */
export const make = Effect.fnUntraced(function*(parts: Parts, options: Options) {
  const { bill, delivered, epoch, faults, limits, nonces, postCap, store, streams, usage } = parts
  const authority = { store, hmac: yield* OAuth1.HmacSha1, nonces }
  const router = Router.make(options.wire)
  let detours = 0

  const identify = (request: HttpServerRequest.HttpServerRequest, url: URL) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Authentication.identify(authority, now, {
        method: request.method,
        url: url.href,
        authorization: request.headers["authorization"]
      }))

  /** Validates the parameters, calls the handler and selects the fields. */
  const perform = Effect.fnUntraced(
    function*({ body, caller, now, params, request, route, trace, url, wire }: Admitted) {
      const { definition, name } = route
      const received = yield* Effect.fromResult(
        RequestParameters.receive(route, wire, { path: params, query: url.searchParams, body }, caller.access)
      )
      const { limit, parameters, selection, token } = received
      if (definition.live !== undefined) {
        const answer = { operation: name, definition, caller, params, parameters, data: undefined }
        const response = yield* streams.connect({
          definition,
          endpoint: definition.live.endpoint,
          caller,
          wire,
          selection,
          origin: url.origin,
          clientIp: Option.getOrElse(request.remoteAddress, () => "127.0.0.1"),
          parameters,
          fault: trace.fault?.stream,
          delivered: delivered(request),
          left: (resources, now) => {
            usage.count({ appId: caller.appId, resources, now })
            bill.charge({ ...answer, resources, now, continues: true })
          }
        })
        bill.charge({ ...answer, resources: [], now })
        return response
      }
      const { handle } = route
      if (handle === undefined) return yield* Problem.noRoute()
      const listing: PageToken.Listing = { operation: name, parameters: received.listing }
      const cursor = yield* Effect.fromResult(cursorOf(listing, token))
      if (definition.postCap === true && postCap.isSpent(caller.appId, now)) return yield* Problem.usageCapped()
      const fault = definition.paging === undefined ? undefined : trace.fault?.page
      const page = { limit: fault === "short" ? Math.ceil(limit / 3) : limit, cursor }
      const reply = yield* handle({
        definition,
        parameters,
        caller,
        now,
        store,
        usage,
        postCap,
        streams,
        page,
        processing: trace.fault?.processing
      })
      /** Counts and charges a response, unless a fault will replace it by a refusal. */
      const leave = (resources: ReadonlyArray<Projection.Resource>): void => {
        if (trace.fault?.status !== undefined) return
        usage.count({ appId: caller.appId, resources, now })
        bill.charge({ operation: name, definition, caller, params, parameters, resources, data: reply.data, now })
      }
      if (reply.file !== undefined) return MediaFiles.response(reply.file)
      if (fault === "empty") {
        leave([])
        const count = reply.meta?.["total_post_count"] === undefined ? "result_count" : "total_post_count"
        const detour = PageToken.encode(listing, cursor, ++detours)
        return Envelope.response(wire, definition, { meta: { [count]: 0, next_token: detour } })
      }
      if (definition.postCap === true && Array.isArray(reply.data)) postCap.add(caller.appId, reply.data.length, now)
      const projected = Projection.project(
        { store, now, viewer: caller, origin: url.origin, wire: wire.name },
        definition.result,
        selection,
        reply.data
      )
      leave(projected.resources)
      const tokens = Envelope.tokensOf(definition, listing, reply.page)
      const again = fault === "repeated-token" && tokens.next_token !== undefined && token !== undefined
      return Envelope.response(
        wire,
        definition,
        Envelope.documentOf({ reply, projected, tokens: again ? { ...tokens, next_token: token.value } : tokens })
      )
    }
  )

  /** Counts the request, and performs it if the credential permits it and requests remain. */
  const work = Effect.fnUntraced(function*(
    asked: Asked,
    identified: Result.Result<Authentication.Identified, Problem.Problem>
  ) {
    const { params, request, route, trace, url } = asked
    const { definition } = route
    const now = yield* Clock.currentTimeMillis
    const begun = epoch()
    const { caller, claim } = yield* Effect.fromResult(identified)
    yield* claim(now)
    const { allowed, announced } = limits.count(definition, caller, now)
    const wires = RequestWire.ofHead(route, params, url)
    let [wire] = wires
    const answered = Effect.gen(function*() {
      const identity = definition.identity === undefined ? undefined : params[definition.identity]
      yield* Authentication.authorize(definition, caller, identity)
      if (!allowed) return yield* Problem.tooManyRequests()
      const unpaid = bill.refusal(caller.appId, now)
      if (unpaid !== undefined) return yield* unpaid
      const body = RequestBody.isExpected(definition)
        ? yield* RequestBody.traced(definition, request, trace)
        : undefined
      // The state may have been replaced in the meantime by one that does not know the caller.
      if (epoch() !== begun) yield* identify(request, url)
      if (body !== undefined) [wire] = RequestWire.ofBody(wires, definition, body)
      return yield* perform({ ...asked, caller, now, wire, body })
    })
    return yield* answered.pipe(
      Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, wire, trace))),
      Effect.map(HttpServerResponse.setHeaders({ ...RateLimits.headers(announced), "x-access-level": caller.rights }))
    )
  })

  return Effect.fnUntraced(function*(
    request: HttpServerRequest.HttpServerRequest,
    url: URL,
    trace: Journal.Trace
  ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Problem.Problem | FaultyResponse.ConnectionLost> {
    const found = router.find(request.method, url.pathname)
    if (found === undefined || !isPlain(request.originalUrl)) return yield* Problem.noRoute()
    if (!isEscaped(url.search)) return yield* Problem.invalidRequest("The query string has a malformed escape.")
    const { handler: candidates, params } = found
    // Without a valid credential, only the head is read.
    const identified = yield* Effect.result(identify(request, url))
    const caller = Result.isSuccess(identified) ? identified.success.caller : undefined
    if (caller !== undefined) trace.caller = caller
    const route = candidates.length === 1 || caller === undefined
      ? candidates[0]!
      : yield* Router.choose(candidates, request)
    trace.operation = route.name
    const asked: Asked = { request, url, route, params, trace }
    const fault = (caller && (yield* Faults.fromHeader(request.headers))) ?? faults.next(route.name)
    if (fault === undefined) return yield* work(asked, identified)
    trace.fault = fault
    const { after = false, reset, status } = fault
    // Read only for the journal, which shows refused requests too.
    if (
      status !== undefined && !after && reset === undefined && caller !== undefined &&
      RequestBody.isExpected(route.definition)
    ) yield* Effect.ignore(RequestBody.traced(route.definition, request, trace))
    if (reset === "during") yield* RequestBody.half(request)
    return yield* FaultyResponse.meet(
      fault,
      work(asked, identified).pipe(
        Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, undefined, trace)))
      ),
      (status) => refuse(Faults.refusal(status), route.wires[0], trace),
      delivered(request)
    )
  })
})

const refuse = (problem: Problem.Problem, wire: Wire | undefined, trace: Journal.Trace) => {
  trace.problem = problem.title
  return Problem.response(problem, wire)
}

/** The cursor in a page token. */
const cursorOf = (listing: PageToken.Listing, token: RequestParameters.Token | undefined) =>
  token === undefined ?
    Result.succeed(undefined) :
    Result.mapError(PageToken.decode(listing, token.value), () =>
      Problem.invalidRequest(`The \`${token.key}\` query parameter value is not valid.`, { [token.key]: token.value }))
