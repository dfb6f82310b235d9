/**
 * The admin API of a sandbox: `/_sandbox/...`, protected by the admin token. `Sandbox` offers the same calls in process.
 */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { partsOf } from "@postwire/core/schema/Definition"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import * as Faults from "../faults/Faults.ts"
import * as Names from "../http/Names.ts"
import * as Problem from "../http/Problem.ts"
import { urlOf } from "../http/RequestTarget.ts"
import * as ServiceClock from "../http/ServiceClock.ts"
import { millisOf, Time } from "../http/Time.ts"
import type { Entry } from "../journal/Journal.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import * as Bill from "../limits/Bill.ts"
import { collections } from "../store/Overview.ts"
import * as AdminApps from "./AdminApps.ts"
import { call, type Endpoint, fallible, withBody } from "./AdminEndpoint.ts"
import * as AdminStreams from "./AdminStreams.ts"
import type { Controls } from "./Controls.ts"
import * as Description from "./Description.ts"

/** The path prefix of the admin API. */
export const root = "/_sandbox"

/** True if a request is for the admin API. */
export const isFor = ({ url }: HttpServerRequest.HttpServerRequest): boolean => url.startsWith(`${root}/`)

/** True for a calendar date, optionally with a time and a zone. `Date` alone would accept February 30 as March 2. */
const isDated = (text: string): boolean => {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T.+(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  return day !== undefined && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
}

const Instant = Schema.Union([Schema.Number, Schema.String]).check(
  Schema.makeFilter((input) =>
    (typeof input === "number" || isDated(input)) &&
      ServiceClock.isInstant(new Date(input).getTime()) ||
    "must be milliseconds or ISO 8601 with a zone, from 1990 to 2248"
  )
)

const Population = Schema.Struct({
  seed: Schema.optional(Schema.Int),
  posts: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))),
  start: Schema.optional(Instant)
})

const clockOf = ({ clock }: Controls) => ({ now: new Date(clock.now()).toISOString() })

const faultsOf = ({ faults }: Controls) => ({ faults: faults.list() })

const budgetOf = ({ budget }: Controls) => ({ windows: budget.windows(), posts: budget.posts() })

const billOf = ({ bill }: Controls) => bill.statement()

const names = Object.keys(catalogue) as Array<Name>

const Form = Schema.Struct({
  operation: Schema.Literals(names),
  /** Texts by parameter name. */
  parameters: Schema.Record(Schema.String, Schema.String),
  wire: Schema.optional(Schema.Literals(Wire.names))
})

/** A journal entry without headers and body. */
const line = ({ body: _body, headers: _headers, ...line }: Entry) => line

/** A positive integer query parameter, limited to `maximum`. */
const numberOf = (text: string | undefined, otherwise: number, maximum: number): number => {
  const number = Math.trunc(Number(text))
  return number > 0 ? Math.min(number, maximum) : otherwise
}

/** Suspends an account, by id or username, or ends its suspension. */
const suspend = (suspended: boolean): Endpoint =>
  fallible(({ store: { users } }, { user = "" }) => {
    const found = users.byUsername(user) ?? (/^\d{1,19}$/.test(user) ? users.byId(user) : undefined)
    if (found === undefined) return Effect.fail(Problem.noRoute())
    users.setSuspended(found.id, suspended)
    return Effect.succeed({ id: found.id, username: found.username, suspended })
  })

const endpoints: Readonly<Record<string, Endpoint>> = {
  "GET /health": call((sandbox) => {
    // A full disk is unhealthy even if no request writes.
    sandbox.store.touch()
    return { status: "ok", ...clockOf(sandbox), counts: sandbox.store.counts() }
  }),
  "GET /credentials": call(({ seeded }) => ({
    user: seeded.ada,
    bearerToken: Redacted.value(seeded.userBearerToken),
    appBearerToken: Redacted.value(seeded.appBearerToken),
    consumerKey: seeded.consumerKey,
    consumerSecret: Redacted.value(seeded.consumerSecret),
    accessToken: Redacted.value(seeded.accessToken),
    accessTokenSecret: Redacted.value(seeded.accessTokenSecret),
    publicClient: seeded.publicClient,
    confidentialClient: {
      id: seeded.confidentialClient.id,
      secret: Redacted.value(seeded.confidentialClient.secret)
    },
    redirects: seeded.redirects
  })),
  ...AdminApps.endpoints,
  ...AdminStreams.endpoints,
  "GET /clock": call(clockOf),
  "POST /clock": withBody(
    Schema.Union([Schema.Struct({ advance: Time }), Schema.Struct({ now: Instant })]),
    (sandbox, payload) => {
      if ("advance" in payload) sandbox.clock.advance(millisOf(payload.advance))
      else sandbox.clock.set(new Date(payload.now))
      return clockOf(sandbox)
    }
  ),
  "DELETE /clock": call((sandbox) => {
    sandbox.clock.reset()
    return clockOf(sandbox)
  }),
  "GET /faults": call(faultsOf),
  "POST /faults": withBody(Faults.Rule, ({ faults }, rule) => ({ id: faults.add(rule) })),
  "DELETE /faults": call((sandbox) => {
    sandbox.faults.clear()
    return faultsOf(sandbox)
  }),
  "DELETE /faults/:id": {
    answer: (sandbox, _request, { id }) =>
      sandbox.faults.remove(Number(id)) ? Effect.succeed(faultsOf(sandbox)) : Problem.noRoute()
  },
  "GET /journal": {
    answer: ({ journal }, _request, { after = "0" }) =>
      /^\d{1,15}$/.test(after)
        ? Effect.succeed(
          HttpServerResponse.text(`{"entries":${journal.json(Number(after))}}`, { contentType: "application/json" })
        )
        : Problem.invalidRequest("The `after` parameter is not an entry id.", { after })
  },
  // For frequent polling: the latest entries in short form, and the id of the oldest one kept.
  "GET /journal/lines": call(({ journal }, { after, limit }) => ({
    oldest: journal.oldest(),
    lines: journal.entries(numberOf(after, 0, Infinity), numberOf(limit, 200, 10_000)).map(line)
  })),
  "GET /journal/:id": fallible(({ journal }, { id }) => {
    const entry = journal.entry(Number(id))
    return entry === undefined ? Effect.fail(Problem.noRoute()) : Effect.succeed(entry)
  }),
  "DELETE /journal": call(({ journal }) => {
    journal.clear()
    return { entries: [] }
  }),
  "GET /budget": call(budgetOf),
  "POST /budget": withBody(
    Schema.Struct({
      operation: Schema.Literals(names),
      remaining: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
    }),
    (sandbox, { operation, remaining }) => {
      sandbox.budget.leave(operation, remaining)
      return budgetOf(sandbox)
    }
  ),
  "DELETE /budget": call((sandbox) => {
    sandbox.budget.clear()
    return budgetOf(sandbox)
  }),
  "GET /bill": call(billOf),
  "POST /bill": withBody(
    Schema.Struct({
      cap: Schema.NullOr(
        Schema.Finite.check(Schema.makeFilter((dollars) => Bill.isCap(dollars) || "must be an amount of dollars"))
      )
    }),
    (sandbox, { cap }) => {
      sandbox.bill.setCap(cap ?? undefined)
      return billOf(sandbox)
    }
  ),
  "DELETE /bill": call((sandbox) => {
    sandbox.bill.clear()
    return billOf(sandbox)
  }),
  "GET /operations": call(({ wires }) => ({
    wires,
    operations: Description.operations(),
    authorization: Names.endpoints
  })),
  "POST /request": {
    answer: Effect.fnUntraced(function*(sandbox, request) {
      const form = yield* Effect.mapError(
        Schema.decodeUnknownEffect(Form)(yield* RequestBody.json(request)),
        ({ message }) => Problem.invalidRequest(message)
      )
      const { operation, parameters, wire = "neutral" } = form
      return yield* Description.requestOf(operation, parameters, wire, sandbox.seeded.ada.id)
    })
  },
  "GET /state/:collection": fallible(({ store }, { after, collection, limit, user }) => {
    const found = collections.find((name) => name === collection)
    if (found === undefined) return Effect.fail(Problem.noRoute())
    const userId = user === undefined ? undefined : store.users.byUsername(user)?.id ?? user
    return Effect.succeed(store.overview.list(found, { limit: numberOf(limit, 50, 1_000), after, userId }))
  }),
  "PUT /suspensions/:user": suspend(true),
  "DELETE /suspensions/:user": suspend(false),
  "GET /snapshot": call(({ snapshot }) => snapshot()),
  "PUT /snapshot": {
    answer: Effect.fnUntraced(function*(sandbox, request, { journal }) {
      if (journal !== undefined && journal !== "keep") {
        return yield* Problem.invalidRequest("The `journal` parameter can only be `keep`.", { journal })
      }
      const bytes = yield* Effect.mapError(
        request.arrayBuffer,
        () => Problem.invalidRequest("The body cannot be read.")
      )
      return yield* Effect.try({
        try: () => {
          sandbox.restore(new Uint8Array(bytes), { keepJournal: journal === "keep" })
          return { counts: sandbox.store.counts() }
        },
        catch: (error) =>
          Problem.ofFailure(
            error,
            Problem.invalidRequest(error instanceof Error ? error.message : "The body is not a snapshot.")
          )
      })
    })
  },
  "POST /reset": call((sandbox) => {
    sandbox.reset()
    return { counts: sandbox.store.counts() }
  }),
  "POST /seed": withBody(Population, (sandbox, { start, ...population }) => {
    sandbox.reset({ ...population, start: start === undefined ? undefined : new Date(start) })
    return { counts: sandbox.store.counts() }
  })
}

/** All calls, as method and path below the root. */
export const calls: ReadonlyArray<string> = Object.keys(endpoints)

const snapshotType = "application/vnd.sqlite3"

const routes = (): FindMyWay.Router<Endpoint> => {
  const router = FindMyWay.make<Endpoint>()
  for (const [route, endpoint] of Object.entries(endpoints)) {
    const [method, path] = partsOf(route)
    router.on(method, `${root}${path}` as `/${string}`, endpoint)
  }
  return router
}

/** Handles the calls of the token's holder. */
export const make = (sandbox: Controls) => {
  const router = routes()
  const expected = Crypto.hash("sha256", `Bearer ${Redacted.value(sandbox.adminToken)}`, "buffer")
  const isOwner = (authorization: string | undefined): boolean =>
    Crypto.timingSafeEqual(Crypto.hash("sha256", authorization ?? "", "buffer"), expected)
  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.gen(function*() {
      if (!isOwner(request.headers["authorization"])) return yield* Problem.unauthorized("The admin token is missing.")
      const url = urlOf(request)
      const found = url && router.find(request.method, url.pathname)
      if (url === undefined || found === undefined) return yield* Problem.noRoute()
      const parameters = { ...Object.fromEntries(url.searchParams), ...found.params }
      const answer = yield* found.handler.answer(sandbox, request, parameters)
      if (HttpServerResponse.isHttpServerResponse(answer)) return answer
      return answer instanceof Uint8Array
        ? HttpServerResponse.uint8Array(answer, { contentType: snapshotType })
        : HttpServerResponse.jsonUnsafe(answer)
    }).pipe(
      Effect.catchTag("Problem", (problem) => Effect.succeed(Problem.response(problem))),
      Problem.answerDefects
    )
}
