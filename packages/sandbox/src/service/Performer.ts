/** Performs an authorized request: parameters, handler, field selection. */
import type { Wire } from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Authentication from "../auth/Authentication.ts"
import type { Deliveries } from "../events/Events.ts"
import * as Problem from "../http/Problem.ts"
import type * as Journal from "../journal/Journal.ts"
import type * as Bill from "../limits/Bill.ts"
import type * as Plan from "../limits/Plan.ts"
import type * as RateLimits from "../limits/RateLimits.ts"
import type { Usage } from "../limits/Usage.ts"
import * as MediaFiles from "../media/MediaFiles.ts"
import * as Envelope from "../projection/Envelope.ts"
import * as PageToken from "../projection/PageToken.ts"
import * as Projection from "../projection/Projection.ts"
import type { Reply } from "../projection/Reply.ts"
import type { Store } from "../store/Store.ts"
import type { Hub } from "../streams/Hub.ts"
import * as RequestParameters from "./RequestParameters.ts"
import type * as Router from "./Router.ts"

export interface Parts {
  readonly store: Store["Service"]
  readonly postCap: RateLimits.PostCap
  readonly usage: Usage
  readonly bill: Bill.Ledger
  readonly plan: Plan.Control
  readonly streams: Hub
  readonly deliveries: Deliveries
  /** Waits until everything written of a response has been handed to the socket: a broken connection discards the rest. */
  readonly delivered: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
}

export interface OperationRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  readonly route: Router.Route
  /** Path parameters. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly trace: Journal.Trace
}

export interface AuthorizedRequest extends OperationRequest {
  readonly caller: Authentication.Caller
  /** The service's time in milliseconds. */
  readonly now: number
  readonly wire: Wire
  readonly body: object | undefined
}

type Performed = Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem>

export class Performer {
  readonly #parts: Parts
  #detours = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Validates the parameters, calls the handler and selects the fields. */
  perform(request: AuthorizedRequest): Performed {
    const { body, caller, params, route, url, wire } = request
    return Effect.flatMap(
      Effect.fromResult(
        RequestParameters.receive(route, wire, { path: params, query: url.searchParams, body }, caller.access)
      ),
      (received) =>
        route.definition.live === undefined ? this.#answer(request, received) : this.#stream(request, received)
    )
  }

  #stream(request: AuthorizedRequest, { parameters, selection }: RequestParameters.Received): Performed {
    const { bill, delivered, streams, usage } = this.#parts
    const { caller, now, params, route: { definition, name }, trace, url, wire } = request
    const { live } = definition
    if (live === undefined) return Problem.noRoute()
    const answer = { operation: name, definition, caller, params, parameters, data: undefined }
    return Effect.tap(
      streams.connect({
        definition,
        endpoint: live.endpoint,
        caller,
        wire,
        selection,
        origin: url.origin,
        clientIp: Option.getOrElse(request.request.remoteAddress, () => "127.0.0.1"),
        parameters,
        fault: trace.fault?.stream,
        delivered: delivered(request.request),
        onSent: (resources, now) => {
          usage.count({ appId: caller.appId, resources, now })
          bill.charge({ ...answer, resources, now, continues: true })
        }
      }),
      () => Effect.sync(() => bill.charge({ ...answer, resources: [], now }))
    )
  }

  #answer(request: AuthorizedRequest, received: RequestParameters.Received): Performed {
    return Effect.gen({ self: this }, function*() {
      const { deliveries, plan, postCap, store, streams, usage } = this.#parts
      const { caller, now, route: { definition, handle, name }, trace } = request
      const { limit, parameters, token } = received
      if (handle === undefined) return yield* Problem.noRoute()
      const listing: PageToken.Listing = { operation: name, parameters: received.listing }
      const cursor = yield* Effect.fromResult(cursorOf(listing, token))
      if (definition.postCap === true && postCap.isSpent(caller.appId, now)) return yield* Problem.usageCapped()
      const fault = definition.paging === undefined ? undefined : trace.fault?.page
      const reply = yield* handle({
        definition,
        parameters,
        caller,
        now,
        store,
        usage,
        postCap,
        plan: plan.current(),
        streams,
        deliveries,
        wire: request.wire.name,
        page: {
          limit: fault === "short" ? Math.ceil(limit / 3) : limit,
          cursor,
          selection: Projection.readOf(definition.result, received.selection)
        },
        processing: trace.fault?.processing
      })
      if (reply.file !== undefined) return MediaFiles.response(reply.file)
      if (reply.document !== undefined) return HttpServerResponse.jsonUnsafe(reply.document)
      if (fault !== "empty") return this.#response(request, received, listing, reply)
      this.#charge(request, parameters, reply, [])
      const count = reply.meta?.["total_post_count"] === undefined ? "result_count" : "total_post_count"
      const detour = PageToken.encode(listing, cursor, ++this.#detours)
      return Envelope.response(request.wire, definition, { meta: { [count]: 0, next_token: detour } })
    })
  }

  #response(
    request: AuthorizedRequest,
    { limit, parameters, selection, token }: RequestParameters.Received,
    listing: PageToken.Listing,
    reply: Reply
  ): HttpServerResponse.HttpServerResponse {
    const { postCap, store } = this.#parts
    const { caller, now, route: { definition }, url, wire } = request
    if (definition.postCap === true && Array.isArray(reply.data)) postCap.add(caller.appId, reply.data.length, now)
    const scene = { store, now, viewer: caller, origin: url.origin, wire: wire.name }
    const projected = Projection.project(scene, definition.result, selection, reply.data)
    this.#charge(request, parameters, reply, projected.resources)
    const tokens = Envelope.tokensOf(definition, listing, reply.page)
    return Envelope.response(
      wire,
      definition,
      Envelope.documentOf({ reply, projected, tokens: faultyTokens(request, { limit, token }, tokens) })
    )
  }

  /** Counts and charges a response, unless a fault will replace it by a refusal. */
  #charge(
    { caller, now, params, route: { definition, name }, trace }: AuthorizedRequest,
    parameters: RequestParameters.Received["parameters"],
    { data }: Reply,
    resources: ReadonlyArray<Projection.Resource>
  ): void {
    if (trace.fault?.status !== undefined) return
    this.#parts.usage.count({ appId: caller.appId, resources, now })
    this.#parts.bill.charge({ operation: name, definition, caller, params, parameters, resources, data, now })
  }
}

/** The tokens of a page, spoiled by its fault. */
const faultyTokens = (
  { route: { definition }, trace }: Pick<AuthorizedRequest, "route" | "trace">,
  { limit, token }: Pick<RequestParameters.Received, "limit" | "token">,
  tokens: Envelope.Tokens
): Envelope.Tokens => {
  const { next_token, ...others } = tokens
  switch (trace.fault?.page) {
    case "repeated-token":
      return next_token === undefined || token === undefined ? tokens : { ...tokens, next_token: token.value }
    case "ends-early":
      return limit > (definition.paging?.completeUpTo ?? 0) ? others : tokens
    default:
      return tokens
  }
}

const cursorOf = (listing: PageToken.Listing, token: RequestParameters.Token | undefined) =>
  token === undefined ?
    Result.succeed(undefined) :
    Result.mapError(PageToken.decode(listing, token.value), () =>
      Problem.invalidRequest(`The \`${token.key}\` query parameter value is not valid.`, { [token.key]: token.value }))
