/**
 * One call, as a pipeline of small steps:
 *
 * rules → route → encode → wire names        `prepare`: pure, no request, no credential
 * credential → limits → send → status        `send`: the one request (and the identity lookup where it is needed)
 * decode                                     `Response.decode`
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpClient } from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Body from "./Body.ts"
import type { Values } from "./Credentials.ts"
import * as Errors from "./Errors.ts"
import * as Identity from "./Identity.ts"
import * as OAuth1 from "./OAuth1.ts"
import type { Definition, Route } from "./Operation.ts"
import * as Parameters from "./Parameters.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Response from "./Response.ts"
import * as Rule from "./Rule.ts"
import * as WireNames from "./WireNames.ts"

/** A request that obeys every rule, short of base address, identity and authorization. Plain data: it crosses threads. */
export interface Prepared {
  readonly operation: string
  readonly effect: Definition["effect"]
  readonly method: string
  readonly path: string
  /** Where in `path` the authenticated user's id goes. */
  readonly identityAt: number | undefined
  /** Encoded, without the question mark. */
  readonly query: string
  readonly body: string | undefined
  readonly userAuth: boolean
  /** As in the declaration. */
  readonly pace: Definition["pace"]
  /** The kinds of credential that the operation takes. */
  readonly accepts: ReadonlyArray<Errors.CredentialKind>
}

/** What errors tell of a call. */
export type Call = Pick<Prepared, "operation" | "effect">

/** Which of the specification's bounds the client enforces. */
export interface Limits {
  /** `spec`: all of them. `identifiers`: none; tokens and identifiers are checked all the same. Default `spec`. */
  readonly checks?: "spec" | "identifiers" | undefined
  /** What the project may use: recent queries have 512 characters with `standard`, 1,024 with `research`, the default. */
  readonly accessLevel?: Parameters.AccessLevel | undefined
}

/** What `send` can fail with. */
export type SendError = Exclude<Errors.AnyError, Errors.ConflictingIdentifiers | Errors.PaginationStuck>

/** What the steps need. */
export interface Environment {
  /** Scheme, host and path prefix, without a slash at the end. */
  readonly baseUrl: string
  readonly wire: WireNames.Wire
  readonly userAgent: string
  readonly credentials: Effect.Effect<Values>
  readonly http: HttpClient
  readonly rateLimit: RateLimit.RateLimit
  readonly hmacSha1: typeof OAuth1.HmacSha1.Service
}

interface Template {
  readonly method: string
  /** The texts around the names: always one more than there are names. */
  readonly texts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
}

interface Input {
  readonly place: "path" | "query" | "body"
  readonly key: string
  readonly parameter: Parameters.AnyParameter
  readonly encode: (value: unknown) => Parameters.Wire | undefined
}

interface Plan {
  readonly inputs: ReadonlyMap<string, Input>
  readonly required: ReadonlyArray<string>
  readonly routes: ReadonlyMap<string, Template>
  readonly positions: Body.Positions
}

/** The routes of an operation by the alternative that selects them; a single route is under `""`. */
export const routesOf = (definition: Definition): ReadonlyArray<readonly [selectedBy: string, route: Route]> =>
  typeof definition.route === "string" ? [["", definition.route]] : Object.entries(definition.route)

/** The key of a parameter in the query: `post_fields` travels as `post.fields`. */
export const queryKey = (name: string): string =>
  name.endsWith("_fields") ? `${name.slice(0, -"_fields".length)}.fields` : name

/** Whether a parameter names fields or expansions, whose values have wire names of their own. */
export const isSelector = (name: string): boolean => name === "expansions" || name.endsWith("_fields")

const plans: { readonly [W in WireNames.Wire]: WeakMap<Definition, Plan> } = {
  neutral: new WeakMap(),
  x: new WeakMap()
}

const planOf = (definition: Definition, wire: WireNames.Wire): Plan => {
  const known = plans[wire].get(definition)
  if (known !== undefined) return known
  const x = wire === "x"
  const inputs = new Map<string, Input>()
  const positions: Record<string, string> = {}
  for (const place of ["path", "query", "body"] as const) {
    for (const [name, parameter] of Object.entries(definition[place] ?? {})) {
      const encode = encoderOf(parameter)
      const key = place === "query" ? queryKey(name) : name
      if (place === "body") {
        const position = definition.at?.[name] ?? name
        positions[name] = x ? WireNames.bodyKey(position) : position
      }
      inputs.set(name, {
        place,
        key: x && place === "query" ? WireNames.queryKey(key) : key,
        parameter,
        encode: x && isSelector(name) ? (value) => renameList(encode(value)) : encode
      })
    }
  }
  const plan: Plan = {
    inputs,
    positions,
    required: [...inputs].filter(([, input]) => input.parameter.required).map(([name]) => name),
    routes: new Map(
      routesOf(definition).map(([selectedBy, route]) => {
        const [method, path] = route.split(" ") as [string, string]
        const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
        return [selectedBy, { method, names, texts: (x ? WireNames.path(path) : path).split(/:\w+/) }]
      })
    )
  }
  plans[wire].set(definition, plan)
  return plan
}

const encoderOf = (parameter: Parameters.AnyParameter) => {
  const encode = Schema.encodeUnknownResult(parameter.schema)
  return (value: unknown): Parameters.Wire | undefined => {
    try {
      const result = encode(value)
      return result._tag === "Success" ? result.success : undefined
    } catch {
      // The value itself threw: a proxy, a getter, an object that only looks like a Date.
      return undefined
    }
  }
}

/** An empty list of names asks for nothing, like leaving it out; an empty list of ids is a mistake. */
const isNames = ({ parameter }: Input): boolean => parameter.kind === "list" && parameter.open === true

const isEmpty = (value: unknown): boolean => {
  try {
    return value === "" || (Array.isArray(value) && value.length === 0)
  } catch {
    // As in `encoderOf`, which refuses it.
    return false
  }
}

const renameList = (value: Parameters.Wire | undefined): Parameters.Wire | undefined =>
  typeof value === "string" ? WireNames.selectorValue(value) : value

/** The parameters of a call, each read once: what is inherited is not given, and what throws when it is read is refused. */
export const own = (
  definition: Pick<Definition, "name">,
  parameters: unknown
): Readonly<Record<string, unknown>> | Errors.InvalidParameters => {
  try {
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) return { ...parameters }
  } catch {
    // A getter or a proxy; refused like anything else that is no object of parameters.
  }
  return invalidParameter(definition, "parameters", "must be one object of named parameters", parameters)
}

/** Rules, route, encoding and wire names: a request, or the rule that the parameters break. */
export const prepare = (
  definition: Definition,
  parameters: unknown,
  wire: WireNames.Wire,
  { accessLevel, checks = "spec" }: Limits = {}
): Prepared | Errors.InvalidParameters | Errors.ConflictingIdentifiers => {
  const operation = definition.name
  const invalid = (parameter: string, rule: string, value: unknown) =>
    invalidParameter(definition, parameter, rule, value)
  const given = own(definition, parameters)
  if (given instanceof Errors.InvalidParameters) return given
  const plan = planOf(definition, wire)
  const isGiven = (name: string) => Object.hasOwn(given, name) && given[name] !== undefined && given[name] !== null

  const encoded = new Map<string, Parameters.Wire>()
  let userAuth = definition.userAuth ?? false
  let query = ""
  let body: Record<string, unknown> | undefined = definition.constants && { ...definition.constants }
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (name === "user_auth" && definition.userAuth !== undefined) {
      if (value === undefined || value === null) continue
      if (typeof value !== "boolean") return invalid(name, Parameters.boolean.rule, value)
      userAuth = value
      continue
    }
    const input = plan.inputs.get(name)
    // Its value is not shown: it may be a credential in the wrong place.
    if (input === undefined) {
      return invalid(name, `is not a parameter of ${operation}${suggestion(name, plan)}`, undefined)
    }
    if (value === undefined || value === null || (isNames(input) && isEmpty(value))) continue
    const wired = input.encode(value)
    if (
      wired === undefined || (checks === "spec" && !Parameters.isWithinBounds(input.parameter, wired, accessLevel))
    ) {
      return invalid(name, Parameters.describe(input.parameter, accessLevel), value)
    }
    if (input.place === "query") {
      query += `${query === "" ? "" : "&"}${input.key}=${OAuth1.percentEncode(Parameters.toText(wired))}`
    } else if (input.place === "body") {
      Body.insert(body ??= {}, plan.positions, name, wired)
    } else {
      encoded.set(name, wired)
    }
  }

  let selectedBy = ""
  const { alternatives } = definition
  if (alternatives !== undefined) {
    const chosen = alternatives.of.filter(isGiven)
    if (chosen.length > 1 || (chosen.length === 0 && !alternatives.none)) {
      return new Errors.ConflictingIdentifiers({
        operation,
        parameters: alternatives.of,
        given: chosen,
        rule: Rule.format(alternatives)
      })
    }
    if (typeof definition.route !== "string") selectedBy = chosen[0] ?? "none"
  }
  for (const name of plan.required) {
    if (!isGiven(name) || given[name] === "") return invalid(name, "is required", undefined)
  }
  for (const rule of definition.rules ?? []) {
    const parameter = Rule.broken(rule, isGiven)
    if (parameter !== undefined) return invalid(parameter, `is missing: ${Rule.format(rule)}`, undefined)
  }

  const template = plan.routes.get(selectedBy) as Template
  let path = template.texts[0] as string
  let identityAt: number | undefined
  for (let i = 0; i < template.names.length; i++) {
    const name = template.names[i] as string
    if (name === definition.identity) identityAt = path.length
    else path += OAuth1.percentEncode(Parameters.toText(encoded.get(name) ?? ""))
    path += template.texts[i + 1]
  }
  return {
    operation,
    effect: definition.effect,
    method: template.method,
    path,
    identityAt,
    query,
    body: body === undefined ? undefined : JSON.stringify(body),
    userAuth,
    pace: definition.pace,
    accepts: definition.userAuth === undefined ? ["bearer"] : ["oauth1", "bearer"]
  }
}

const invalidParameter = ({ name }: Pick<Definition, "name">, parameter: string, rule: string, value: unknown) =>
  new Errors.InvalidParameters({
    operation: name,
    parameter,
    rule,
    value: value === undefined ? undefined : Errors.show(value)
  })

/** Names the nearest parameter of a misspelt one, when it is near. */
const suggestion = (name: string, plan: Plan): string => {
  let best = ""
  let distance = 4
  for (const candidate of plan.inputs.keys()) {
    const d = editDistance(name, candidate)
    if (d < distance) [best, distance] = [candidate, d]
  }
  return best === "" ? "" : `; did you mean ${best}`
}

const editDistance = (a: string, b: string): number => {
  if (Math.abs(a.length - b.length) > 3) return 4
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substituted)
    }
    row = next
  }
  return row[b.length] as number
}

/** Makes the step that sends prepared requests: credential, limits, request, status. */
export const makeSend = (
  environment: Environment
): Effect.Effect<(prepared: Prepared) => Effect.Effect<HttpClientResponse, SendError>> => {
  const fingerprintOf = makeFingerprintOf(environment)
  const attempt = (
    prepared: Prepared,
    values: Values,
    identity: string
  ): Effect.Effect<HttpClientResponse, SendError> => {
    const path = prepared.identityAt === undefined
      ? prepared.path
      : prepared.path.slice(0, prepared.identityAt) + identity + prepared.path.slice(prepared.identityAt)
    const url = environment.baseUrl + path + (prepared.query === "" ? "" : `?${prepared.query}`)
    const token = (prepared.userAuth ? values.accessToken : values.bearerToken) as Redacted.Redacted
    const credential = prepared.userAuth ? "oauth1" : "bearer"
    const bucket: RateLimit.Bucket = {
      operation: prepared.operation,
      credential,
      key: `${prepared.operation} ${credential} ${fingerprintOf(token)}`,
      pace: prepared.pace
    }
    const request = Effect.flatMap(
      authorization(environment, prepared, values, url),
      (header) => environment.http.execute(requestOf(environment, prepared, url, header))
    )
    const answered = Effect.mapError(
      environment.rateLimit.guard(bucket, request),
      (error) => error._tag === "HttpClientError" ? unanswered(prepared, error) : error
    )
    return Effect.flatMap(answered, (response) =>
      response.status >= 200 && response.status < 300
        ? Effect.succeed(response)
        : Effect.flatMap(textOf(prepared, response), (text) =>
          Effect.fail(refusal(environment, prepared, response, text))))
  }

  return Effect.map(
    Identity.make((bearerToken: string) =>
      Effect.flatMap(
        attempt(lookup, { bearerToken: Redacted.make(bearerToken) }, ""),
        (response) => Effect.flatMap(textOf(lookup, response), (text) => identityOf(response, text))
      )
    ),
    (identity) => (prepared) =>
      Effect.flatMap(environment.credentials, (values) => {
        const missing = missingFrom(prepared, values)
        if (missing !== undefined) return Effect.fail(missing)
        if (prepared.identityAt === undefined) return attempt(prepared, values, "")
        const id = prepared.userAuth
          ? Effect.succeed(Identity.ofAccessToken(Redacted.value(values.accessToken as Redacted.Redacted)))
          : identity.ofBearer(Redacted.value(values.bearerToken as Redacted.Redacted))
        return Effect.flatMap(id, (id) => attempt(prepared, values, OAuth1.percentEncode(id)))
      })
  )
}

/** Tells tokens and services apart without giving them away: budgets may be shared with other processes. */
export const makeFingerprintOf = ({ baseUrl, hmacSha1 }: Pick<Environment, "baseUrl" | "hmacSha1">) => {
  const fingerprints = new WeakMap<Redacted.Redacted, string>()
  return (token: Redacted.Redacted): string => {
    let fingerprint = fingerprints.get(token)
    if (fingerprint === undefined) {
      fingerprint = hmacSha1(Redacted.value(token), baseUrl).slice(0, 16)
      fingerprints.set(token, fingerprint)
    }
    return fingerprint
  }
}

const [lookupMethod, lookupPath] = /*#__PURE__*/ Identity.route.split(" ") as [string, string]

const lookup: Prepared = {
  operation: "getMe",
  effect: "read",
  method: lookupMethod,
  path: lookupPath,
  identityAt: undefined,
  query: "",
  body: undefined,
  userAuth: false,
  pace: undefined,
  accepts: ["bearer"]
}

// The id becomes a segment of paths, so it is not taken on trust.
const isIdentity = /*#__PURE__*/ Schema.is(
  /*#__PURE__*/ Schema.Struct({ data: /*#__PURE__*/ Schema.Struct({ id: Parameters.idText }) })
)

const identityOf = (
  response: HttpClientResponse,
  text: string
): Effect.Effect<string, Errors.UndecodableResponse> => {
  try {
    const body: unknown = JSON.parse(text)
    if (isIdentity(body)) return Effect.succeed(body.data.id)
  } catch {
    // Falls through to the same error as a body without an id.
  }
  return Effect.fail(undecodable(lookup.operation, response, "the authenticated user's id is not in the body", text))
}

const oauth1Settings = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"] as const

/** The settings that the chosen credential lacks. */
const missingFrom = (prepared: Prepared, values: Values): Errors.MissingAccessToken | undefined => {
  const missing = prepared.userAuth
    ? oauth1Settings.filter((name) => values[name] === undefined)
    : values.bearerToken === undefined
    ? ["bearerToken"]
    : []
  return missing.length === 0
    ? undefined
    : new Errors.MissingAccessToken({ operation: prepared.operation, credential: credentialOf(prepared), missing })
}

const credentialOf = (prepared: Prepared): Errors.CredentialKind => prepared.userAuth ? "oauth1" : "bearer"

const authorization = (
  environment: Environment,
  prepared: Prepared,
  values: Values,
  url: string
): Effect.Effect<string> => {
  if (!prepared.userAuth) return Effect.succeed(`Bearer ${Redacted.value(values.bearerToken as Redacted.Redacted)}`)
  const plain = (name: typeof oauth1Settings[number]) => Redacted.value(values[name] as Redacted.Redacted)
  return Effect.map(Clock.currentTimeMillis, (now) =>
    OAuth1.sign({
      method: prepared.method,
      url,
      consumerKey: plain("consumerKey"),
      consumerSecret: plain("consumerSecret"),
      token: plain("accessToken"),
      tokenSecret: plain("accessTokenSecret"),
      nonce: OAuth1.nonce(),
      timestamp: Math.floor(now / 1000),
      hmac: environment.hmacSha1
    }))
}

const requestOf = (
  environment: Environment,
  prepared: Prepared,
  url: string,
  authorization: string
): HttpClientRequest.HttpClientRequest => {
  const headers: Record<string, string> = {
    authorization,
    accept: "application/json",
    "user-agent": environment.userAgent
  }
  // Of the body's own type, the constructor takes no notice.
  if (prepared.body !== undefined) headers["content-type"] = "application/json"
  return HttpClientRequest.makeWith(
    prepared.method,
    url,
    UrlParams.empty,
    Option.none(),
    Headers.fromRecordUnsafe(headers),
    prepared.body === undefined ? HttpBody.empty : HttpBody.text(prepared.body, "application/json")
  )
}

/** The body as text; a body that breaks off is no answer. */
export const textOf = (
  prepared: Call,
  response: HttpClientResponse
): Effect.Effect<string, Errors.TransportFailure | Errors.OutcomeUnknown> =>
  Effect.mapError(response.text, (error) => unanswered(prepared, error))

const unanswered = (prepared: Call, error: HttpClientError) => {
  const cause = "cause" in error.reason ? error.reason.cause : undefined
  const known = Predicate.hasProperty(cause, "phase") ? cause.phase : undefined
  return lost(prepared, {
    phase: known === "connect" || known === "send" || known === "headers" || known === "body" ? known : "unknown",
    // Only a transport that knows that nothing left may say so; otherwise a create may have happened.
    sent: !(Predicate.hasProperty(cause, "requestSent") && cause.requestSent === false),
    reason: Predicate.hasProperty(cause, "message") ? String(cause.message) : error.reason._tag,
    cause
  })
}

/** The error of a request whose answer did not come. */
export const lost = (prepared: Call, options: {
  readonly phase: Errors.TransportFailure["phase"]
  /** Whether any of the request may have reached the service. */
  readonly sent: boolean
  readonly reason: string
  readonly cause?: unknown
}): Errors.TransportFailure | Errors.OutcomeUnknown => {
  const { cause, phase, reason, sent } = options
  const { effect, operation } = prepared
  return effect === "create" && sent
    ? new Errors.OutcomeUnknown({ operation, reason, cause })
    : new Errors.TransportFailure({ operation, phase, reason, cause })
}

/** An answer that cannot be read. */
export const undecodable = (
  operation: string,
  response: { readonly status: number; readonly headers: Response.Headers },
  reason: string,
  text: string
): Errors.UndecodableResponse =>
  new Errors.UndecodableResponse({
    operation,
    status: response.status,
    reason,
    requestId: Response.requestIdOf(response.headers),
    excerpt: excerptOf(text)
  })

/** The beginning of a body, less what looks like a credential: a proxy may echo the request. */
const excerptOf = (text: string): string =>
  text.slice(0, 4000).replace(/(bearer\s+|oauth_token\W{1,3})[\w.~+/%-]{16,}/gi, "$1<redacted>").slice(0, 2000)

const refusal = (
  environment: Environment,
  prepared: Prepared,
  response: HttpClientResponse,
  text: string
): Errors.Refusal => {
  const { headers, status } = response
  const described = describe(text, environment.wire)
  const rateLimit = RateLimit.budgetOf(headers)
  const common = {
    operation: prepared.operation,
    status,
    credential: credentialOf(prepared),
    accepts: prepared.accepts,
    ...described,
    requestId: Response.requestIdOf(headers),
    rateLimit,
    excerpt: described.problems.length === 0 && text !== "" ? excerptOf(text) : undefined
  }
  if (status === 429) {
    return new Errors.RateLimited({
      ...common,
      bucket: prepared.operation,
      resetAt: rateLimit?.resetAt,
      retryAfter: RateLimit.retryAfterOf(headers)
    })
  }
  switch (status) {
    case 400:
      return new Errors.BadRequest(common)
    case 401:
      return new Errors.Unauthorized(common)
    case 403:
      return new Errors.Forbidden(common)
    case 404:
      return new Errors.NotFound(common)
    default:
      return status >= 500 ? new Errors.ServerFailure(common) : new Errors.UnexpectedStatus(common)
  }
}

const isProblem = /*#__PURE__*/ Schema.is(Errors.Problem)

type Described = Pick<Errors.BadRequest, "type" | "title" | "detail" | "problems">

/** What a refusal says of itself: the document and the members of its `errors`. Never fails. */
const describe = (text: string, wire: WireNames.Wire): Described => {
  let body: unknown
  try {
    body = wire === "x" ? WireNames.problemToNeutral(JSON.parse(text)) : JSON.parse(text)
  } catch {
    return { problems: [] }
  }
  if (!Predicate.isObject(body)) return { problems: [] }
  const problems = ("errors" in body && Array.isArray(body.errors) ? body.errors : [])
    .map((entry: unknown) => typeof entry === "string" ? { message: entry } : entry)
    .filter((entry): entry is Errors.Problem => Predicate.isObject(entry) && isProblem(entry))
  const document = "error" in body && typeof body.error === "string" ? { message: body.error } : body
  if (!isProblem(document)) return { problems }
  const { detail, message, title, type } = document
  const isDescribed = detail !== undefined || message !== undefined || title !== undefined
  return {
    type,
    title,
    detail: detail ?? message,
    problems: problems.length > 0 || !isDescribed ? problems : [document]
  }
}
