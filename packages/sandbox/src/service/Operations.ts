/**
 * The pipeline of a request to an operation: route, caller, fault, rate limit, parameters, handler, field selection.
 * Routes, parameters and rules come from the catalogue, on all wires or on one.
 */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import { bearerOf } from "@postwire/core/schema/Definition"
import type { WireName } from "@postwire/core/schema/WireName"
import type { Wire } from "@postwire/core/wire/Wire"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Authentication from "../auth/Authentication.ts"
import type * as Nonces from "../auth/Nonces.ts"
import * as Faults from "../faults/Faults.ts"
import * as FaultyResponse from "../faults/FaultyResponse.ts"
import * as Problem from "../http/Problem.ts"
import { isEscaped, isPlain } from "../http/RequestTarget.ts"
import type * as Journal from "../journal/Journal.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import * as RateLimits from "../limits/RateLimits.ts"
import * as Performer from "./Performer.ts"
import * as RequestWire from "./RequestWire.ts"
import * as Router from "./Router.ts"

export interface Options {
  /** The only accepted wire. Default: all, each response in the wire of its request. */
  readonly wire?: WireName | undefined
}

export interface Parts extends Performer.Parts {
  readonly faults: Faults.Faults
  readonly limits: RateLimits.RateLimits
  readonly nonces: Nonces.Nonces
  /** The number of times that the state was replaced. */
  readonly epoch: () => number
}

/** Handles requests to operations and records them in `trace`. */
export const make = Effect.fnUntraced(function*(parts: Parts, options: Options) {
  const { bill, delivered, epoch, faults, limits, nonces, plan, store } = parts
  const authority = { store, hmac: yield* OAuth1.HmacSha1, nonces }
  const router = Router.make(options.wire)
  const performer = new Performer.Performer(parts)

  const identify = (request: HttpServerRequest.HttpServerRequest, url: URL) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Authentication.identify(authority, now, {
        method: request.method,
        url: url.href,
        authorization: request.headers["authorization"]
      }))

  /** Counts the request, and performs it if the credential permits it and requests remain. */
  const work = Effect.fnUntraced(function*(
    operation: Performer.OperationRequest,
    identified: Result.Result<Authentication.Identified, Problem.Problem>
  ) {
    const { params, request, route, trace, url } = operation
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
      if (definition.selfServe === "none" && plan.current() === "self-serve") {
        return yield* Problem.notEnrolled("Enterprise")
      }
      const unpaid = bill.refusal(caller.appId, now)
      if (unpaid !== undefined) return yield* unpaid
      const body = RequestBody.isExpected(definition)
        ? yield* RequestBody.traced(definition, request, trace)
        : undefined
      // The state may have been replaced in the meantime by one that does not know the caller.
      if (epoch() !== begun) yield* identify(request, url)
      if (body !== undefined) [wire] = RequestWire.ofBody(wires, definition, body)
      return yield* performer.perform({ ...operation, caller, now, wire, body })
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
    const identified = bearerOf(candidates[0]!.definition) === "none"
      ? Result.succeed({ caller: Authentication.nobody, claim: () => Effect.void })
      : yield* Effect.result(identify(request, url))
    const caller = Result.isSuccess(identified) ? identified.success.caller : undefined
    if (caller !== undefined) trace.caller = caller
    const route = candidates.length === 1 || caller === undefined
      ? candidates[0]!
      : yield* Router.choose(candidates, request)
    trace.operation = route.name
    const operation = { request, url, route, params, trace }
    const fault = (caller && (yield* Faults.fromHeader(request.headers))) ?? faults.next(route.name)
    if (fault === undefined) return yield* work(operation, identified)
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
      work(operation, identified).pipe(
        Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem, undefined, trace)))
      ),
      (status) => refuse(Problem.ofStatus(status), route.wires[0], trace),
      delivered(request)
    )
  })
})

const refuse = (problem: Problem.Problem, wire: Wire | undefined, trace: Journal.Trace) => {
  trace.problem = problem.title
  return Problem.response(problem, wire)
}
