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
import { closestMatch } from "leven"
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
import * as Plan from "../limits/Plan.ts"
import * as Seed from "../seed/Seed.ts"
import { collections } from "../store/Overview.ts"
import * as AdminApps from "./AdminApps.ts"
import { call, type Endpoint, type Endpoints, fallible, invalid, numberOf, withBody } from "./AdminEndpoint.ts"
import * as AdminEvents from "./AdminEvents.ts"
import * as AdminStreams from "./AdminStreams.ts"
import type { Controls } from "./Controls.ts"
import * as Description from "./Description.ts"
import * as OpenApi from "./OpenApi.ts"

/** The path prefix of the admin API. */
export const root = "/_sandbox"

/** True if a request is for the admin API. */
export const isFor = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  url.startsWith(`${root}/`) || url === root

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
  posts: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Seed.maxPosts }))),
  start: Schema.optional(Instant)
})

const planOf = ({ plan }: Controls) => ({ plan: plan.current() })

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

/** A journal entry with the username of its caller. */
const named = ({ store: { users } }: Controls, { caller, ...entry }: Entry) => ({
  ...entry,
  caller: caller && { ...caller, username: caller.userId && users.byId(caller.userId)?.username }
})

/** A journal entry without headers and body. */
const lineOf = (sandbox: Controls, entry: Entry) => {
  const { body: _body, headers: _headers, ...line } = named(sandbox, entry)
  return line
}

/** Suspends an account, by id or username, or ends its suspension. */
const suspend = (summary: string, suspended: boolean): Endpoint =>
  fallible(summary, ({ store: { users } }, { user = "" }) => {
    const found = users.byUsername(user) ?? (/^\d{1,19}$/.test(user) ? users.byId(user) : undefined)
    if (found === undefined) return Effect.fail(Problem.noRoute())
    users.setSuspended(found.id, suspended)
    return Effect.succeed({ id: found.id, username: found.username, suspended })
  })

const endpoints: Endpoints = {
  "GET /health": call("The time, and the number of resources of each kind.", (sandbox) => {
    // A full disk is unhealthy even if no request writes.
    sandbox.store.touch()
    return { status: "ok", ...clockOf(sandbox), counts: sandbox.store.counts() }
  }),
  "GET /credentials": call(
    "The credentials of ada and of the app, and the OAuth 2.0 clients of the seeded apps.",
    ({ seeded }) => ({
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
    })
  ),
  ...AdminApps.endpoints,
  ...AdminStreams.endpoints,
  ...AdminEvents.endpoints,
  "GET /clock": call("The time of the service.", clockOf),
  "POST /clock": withBody(
    "Advances the clock, or sets it.",
    Schema.Union([Schema.Struct({ advance: Time }), Schema.Struct({ now: Instant })]),
    (sandbox, payload) => {
      if ("advance" in payload) sandbox.clock.advance(millisOf(payload.advance))
      else sandbox.clock.set(new Date(payload.now))
      return clockOf(sandbox)
    }
  ),
  "DELETE /clock": call("Takes back every move of the clock.", (sandbox) => {
    sandbox.clock.reset()
    return clockOf(sandbox)
  }),
  "GET /faults": call("The active rules, and how many requests met each.", faultsOf),
  "POST /faults": withBody(
    "Adds a rule and returns its id.",
    Faults.Rule,
    ({ faults }, rule) => ({ id: faults.add(rule) })
  ),
  "DELETE /faults": call("Removes all rules.", (sandbox) => {
    sandbox.faults.clear()
    return faultsOf(sandbox)
  }),
  "DELETE /faults/:id": {
    summary: "Removes a rule.",
    answer: (sandbox, _request, { id }) =>
      sandbox.faults.remove(Number(id)) ? Effect.succeed(faultsOf(sandbox)) : Problem.noRoute()
  },
  "GET /journal?after": {
    summary: "The latest requests; those after an id.",
    answer: ({ journal }, _request, { after = "0" }) =>
      /^\d{1,15}$/.test(after)
        ? Effect.succeed(
          HttpServerResponse.text(`{"entries":${journal.json(Number(after))}}`, { contentType: "application/json" })
        )
        : Problem.invalidRequest("The `after` parameter is not an entry id.", { after })
  },
  // For frequent polling: the latest entries in short form, and the id of the oldest one kept.
  "GET /journal/lines?after&limit": call(
    "The latest requests in short, and the oldest id that is kept.",
    (sandbox, { after, limit }) => ({
      oldest: sandbox.journal.oldest(),
      lines: sandbox.journal.entries(numberOf(after, 0, Infinity), numberOf(limit, 200, 10_000))
        .map((entry) => lineOf(sandbox, entry))
    })
  ),
  "GET /journal/:id": fallible(
    "A request in full, with its response if that is still kept.",
    (sandbox, { id }) => {
      const entry = sandbox.journal.entry(Number(id))
      return entry === undefined
        ? Effect.fail(Problem.noRoute())
        : Effect.succeed({ ...named(sandbox, entry), response: sandbox.journal.response(entry.id) })
    }
  ),
  "DELETE /journal": call("Empties the journal.", ({ journal }) => {
    journal.clear()
    return { entries: [] }
  }),
  "GET /budget": call("The rate-limit windows, and the posts of the month.", budgetOf),
  "POST /budget": withBody(
    "Sets what is left of an operation in its current window.",
    Schema.Struct({
      operation: Schema.Literals(names),
      remaining: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
    }),
    (sandbox, { operation, remaining }) => {
      sandbox.budget.leave(operation, remaining)
      return budgetOf(sandbox)
    }
  ),
  "DELETE /budget": call("Forgets what was counted.", (sandbox) => {
    sandbox.budget.clear()
    return budgetOf(sandbox)
  }),
  "GET /bill": call("What each app was charged, in dollars, by day and operation.", billOf),
  "POST /bill": withBody(
    "Sets what each app may spend in a month, in dollars; null for no cap.",
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
  "DELETE /bill": call("Forgets what was charged.", (sandbox) => {
    sandbox.bill.clear()
    return billOf(sandbox)
  }),
  "GET /plan": call("The plan of all apps.", planOf),
  "POST /plan": withBody(
    "Sets the plan of all apps: self-serve has the rules that the service documents for pay-per-use.",
    Schema.Struct({ plan: Schema.Literals(Plan.plans) }),
    (sandbox, { plan }) => {
      sandbox.plan.set(plan)
      return planOf(sandbox)
    }
  ),
  "GET /operations": call(
    "Every operation: routes and names on all wires, parameters, rules, credentials, limits.",
    ({ wires }) => ({
      wires,
      operations: Description.operations(),
      authorization: Names.endpoints
    })
  ),
  "POST /request": {
    summary: "Builds the request of an operation; it is not sent.",
    payload: Form,
    answer: Effect.fnUntraced(function*(sandbox, request) {
      const body = yield* RequestBody.json(request)
      const form = yield* Effect.mapError(
        Schema.decodeUnknownEffect(Form)(body),
        ({ issue }) => invalid(issue, body)
      )
      const { operation, parameters, wire = "neutral" } = form
      return yield* Description.requestOf(operation, parameters, wire, sandbox.seeded.ada.id)
    })
  },
  "GET /state/:collection?after&limit&user": fallible(
    "The contents of the service, newest first.",
    ({ store }, { after, collection, limit, user }) => {
      const found = collections.find((name) => name === collection)
      if (found === undefined) {
        return Effect.fail(Problem.plain(404, "Not Found", `There is no such collection: ${collections.join(", ")}.`))
      }
      const userId = user === undefined ? undefined : store.users.byUsername(user)?.id ?? user
      return Effect.succeed(store.overview.list(found, { limit: numberOf(limit, 50, 1_000), after, userId }))
    }
  ),
  "GET /items/:id": call(
    "The item with an id, and the collection that has it.",
    ({ store }, { id = "" }) => store.overview.find(id)
  ),
  "PUT /suspensions/:user": suspend("Suspends a user, by id or username.", true),
  "DELETE /suspensions/:user": suspend("Ends a suspension.", false),
  "GET /snapshot": call("The state as an SQLite file.", ({ snapshot }) => snapshot()),
  "PUT /snapshot?journal": {
    summary: "Replaces the state by an SQLite file.",
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
  "POST /reset": call("Starts over.", (sandbox) => {
    sandbox.reset()
    return { counts: sandbox.store.counts() }
  }),
  "POST /seed": withBody("Starts over with other data.", Population, (sandbox, { start, ...population }) => {
    sandbox.reset({ ...population, start: start === undefined ? undefined : new Date(start) })
    return { counts: sandbox.store.counts() }
  })
}

/** All calls, as method and path below the root. */
export const calls: ReadonlyArray<string> = Object.keys(endpoints).map((declared) => declared.replace(/\?.*/, ""))

const snapshotType = "application/vnd.sqlite3"

const routes = (): FindMyWay.Router<Endpoint> => {
  const router = FindMyWay.make<Endpoint>()
  for (const [declared, endpoint] of Object.entries(endpoints)) {
    const [method, path] = partsOf(declared.replace(/\?.*/, ""))
    router.on(method, `${root}${path}` as `/${string}`, endpoint)
  }
  return router
}

/** 404: no such call; names the one that was probably meant. */
const noCall = (method: string, path: string): Problem.Problem => {
  const meant = closestMatch(`${method} ${path.slice(root.length)}`, calls, { maxDistance: 4 })
  const [other = "", below = ""] = meant?.split(" ") ?? []
  const hint = meant === undefined ? `GET ${root} lists the calls.` : `Did you mean ${other} ${root}${below}?`
  return Problem.plain(404, "Not Found", `There is no call ${method} ${path}. ${hint}`)
}

/** Handles the calls of the token's holder. The description is for everyone. */
export const make = (sandbox: Controls) => {
  const router = routes()
  const document = OpenApi.of(root, endpoints)
  const expected = Crypto.hash("sha256", `Bearer ${Redacted.value(sandbox.adminToken)}`, "buffer")
  const isOwner = (authorization: string | undefined): boolean =>
    Crypto.timingSafeEqual(Crypto.hash("sha256", authorization ?? "", "buffer"), expected)
  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.gen(function*() {
      if (request.method === "GET" && request.url === root) return HttpServerResponse.jsonUnsafe(document)
      if (!isOwner(request.headers["authorization"])) return yield* Problem.unauthorized("The admin token is missing.")
      const url = urlOf(request)
      const found = url && router.find(request.method, url.pathname)
      if (url === undefined) return yield* Problem.noRoute()
      if (found === undefined) return yield* noCall(request.method, url.pathname)
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
