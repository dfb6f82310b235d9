/**
 * One call, as a pipeline of small steps:
 *
 * rules → route → encode → wire names        `prepare`: pure, no request, no credential
 * credential → limits → send → status        `send`: the request (and the identity lookup where it is needed), sent
 *                                            again where that is safe; every try reserves and signs anew
 * decode                                     `Response.decode`
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpClient } from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { fromWeb, type HttpClientResponse } from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Body from "./Body.ts"
import * as Credentials from "./Credentials.ts"
import * as Errors from "./Errors.ts"
import * as Hook from "./Hook.ts"
import * as Identity from "./Identity.ts"
import type { Logging } from "./Logging.ts"
import * as Monotonic from "./Monotonic.ts"
import * as OAuth1 from "./OAuth1.ts"
import type { Definition, Route, Settled } from "./Operation.ts"
import * as Parameters from "./Parameters.ts"
import * as RateLimit from "./RateLimit.ts"
import type { Redact } from "./Redaction.ts"
import * as Redaction from "./Redaction.ts"
import * as Response from "./Response.ts"
import * as Retry from "./Retry.ts"
import * as Rule from "./Rule.ts"
import * as Transport from "./Transport.ts"
import * as WireNames from "./WireNames.ts"

/** A request that obeys every rule, short of base address, identity and authorization. Plain data: it crosses threads. */
export interface Prepared {
  readonly operation: string
  readonly effect: Definition["effect"]
  /** The operation that shows whether a create happened. */
  readonly confirmWith: string | undefined
  /** For a toggle whose state was reached by a try that had no answer: the body of success, and the refusal of the next. */
  readonly settled: SettledBody | undefined
  readonly method: string
  /** The path with the names of its variable parts. */
  readonly template: string
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

interface SettledBody {
  readonly body: string
  readonly by: Settled
}

/** What errors tell of a call. */
export type Call = Pick<Prepared, "operation" | "effect" | "confirmWith">

/** What a call of any operation takes besides its parameters. */
export interface CallOptions {
  /**
   * Limits in milliseconds, instead of those of the client. A number is the total: every try and the pauses between them,
   * the lookup of the user's id included, but not what is waited for a rate limit.
   */
  readonly timeout?: number | Omit<Transport.Timeouts, "connect"> | undefined
  /**
   * How often a failed request is sent again, 0 to 10, instead of the client's `retries`. 0 is exactly one request, and one
   * for the lookup of the user's id where that is needed.
   */
  readonly retries?: number | undefined
}

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
  readonly credentials: Effect.Effect<Credentials.Values>
  /** Keeps these credentials, and the signature in an `authorization`, out of texts. */
  readonly redact: (values: Credentials.Values, authorization?: string) => Redact
  readonly http: HttpClient
  readonly rateLimit: RateLimit.RateLimit
  readonly hmacSha1: typeof OAuth1.HmacSha1.Service
  readonly timeouts: Transport.Limits
  readonly retries: number
  /** Bytes, after decompression. */
  readonly maxBodySize: number
  /** Whether spans hold queries and bodies. */
  readonly recordContent: boolean
  /** Is told of every request that has ended. */
  readonly onRequest: ((request: Sent) => void) | undefined
  readonly logging: typeof Logging.Service
}

/** A request that has ended. It holds nothing of credentials, query or body. */
export interface Sent {
  readonly operation: string
  readonly method: string
  /** With the names of what was filled in: `/2/users/:id`. */
  readonly route: string
  /** 1 for the first request of a call, 2 for the next. */
  readonly attempt: number
  /** None when no answer came. */
  readonly status: number | undefined
  /** What the service calls the request, for its support. */
  readonly requestId: string | undefined
  /** From sending to the end of the answer, in milliseconds. */
  readonly duration: number
}

interface Template {
  readonly method: string
  /** The texts around the names: always one more than there are names. */
  readonly texts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly path: string
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
  readonly settled: SettledBody | undefined
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
    settled: definition.settled && {
      body: JSON.stringify({
        data: Object.fromEntries(
          Object.entries(definition.settled.data).map(([key, value]) => [x ? WireNames.bodyKey(key) : key, value])
        )
      }),
      by: definition.settled.by
    },
    routes: new Map(
      routesOf(definition).map(([selectedBy, route]) => {
        const [method, template] = route.split(" ") as [string, string]
        const names = [...template.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
        const path = x ? WireNames.path(template) : template
        return [selectedBy, { method, names, path, texts: path.split(/:\w+/) }]
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
  parameters: unknown,
  redact?: Redact
): Readonly<Record<string, unknown>> | Errors.InvalidParameters => {
  try {
    if (typeof parameters === "object" && parameters !== null && !Array.isArray(parameters)) return { ...parameters }
  } catch {
    // A getter or a proxy; refused like anything else that is no object of parameters.
  }
  return invalidParameter(definition, "parameters", "must be one object of named parameters", parameters, redact)
}

/** Rules, route, encoding and wire names: a request, or the rule that the parameters break, shown as `redact` leaves it. */
export const prepare = (
  definition: Definition,
  parameters: unknown,
  wire: WireNames.Wire,
  { accessLevel, checks = "spec" }: Limits = {},
  redact?: Redact
): Prepared | Errors.InvalidParameters | Errors.ConflictingIdentifiers => {
  const operation = definition.name
  const invalid = (parameter: string, rule: string, value: unknown) =>
    invalidParameter(definition, parameter, rule, value, redact)
  const given = own(definition, parameters, redact)
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
    confirmWith: definition.confirmWith,
    settled: plan.settled,
    method: template.method,
    template: template.path,
    path,
    identityAt,
    query,
    body: body === undefined ? undefined : JSON.stringify(body),
    userAuth,
    pace: definition.pace,
    accepts: definition.userAuth === undefined ? ["bearer"] : ["oauth1", "bearer"]
  }
}

const invalidParameter = (
  { name }: Pick<Definition, "name">,
  parameter: string,
  rule: string,
  value: unknown,
  redact?: Redact
) =>
  new Errors.InvalidParameters({
    operation: name,
    parameter,
    rule,
    value: value === undefined ? undefined : Errors.show(value, redact)
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

/** Checks the options of a call: the rule that they break, or nothing. */
export const checkOptions = (
  definition: Pick<Definition, "name">,
  options: CallOptions,
  names: ReadonlyArray<string> = ["timeout", "retries"]
): Errors.InvalidParameters | undefined => {
  const invalid = (option: string, rule: string, value: unknown) => invalidParameter(definition, option, rule, value)
  if (!Predicate.isObject(options)) return invalid("options", "must be an object", options)
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) return invalid(name, `is not an option of ${definition.name}`, undefined)
  }
  const { retries, timeout }: CallOptions = options
  if (retries !== undefined && !Retry.isRetries(retries)) return invalid("retries", Retry.rule, retries)
  return Transport.limitsOf(timeout) === undefined ? invalid("timeout", Transport.timeoutRule, timeout) : undefined
}

/** A try that failed. */
interface Failed {
  /**
   * The error that a call fails with: the identity of a user is looked up for any operation. What the service or the
   * transport says passes `redact` before anything else sees it.
   */
  readonly error: (call: Prepared, redact: Redact) => SendError
  /** The header of the request, whose signature must not be told either. */
  readonly authorization?: string | undefined
  /** Whether the same request may be sent again: always, now that the clock is right, or not. */
  readonly again: "later" | "at once" | "no"
  /** Whether it may have taken effect. */
  readonly applied: boolean
  /** A status, `timeout`, or the phase in which the connection was lost. */
  readonly reason: string
  /** Milliseconds that the service asked to wait. */
  readonly asked?: number | undefined
  readonly refused?: { readonly response: HttpClientResponse; readonly text: string } | undefined
}

type Tried<A> = Effect.Effect<A, Failed>

/** Makes the step that sends prepared requests: credential, limits, request, status, and again where that is safe. */
export const makeSend = (
  environment: Environment
): (prepared: Prepared, options?: CallOptions) => Effect.Effect<HttpClientResponse, SendError> => {
  const fingerprintOf = makeFingerprintOf(environment)
  const budget = new Retry.Budget()
  const { origin } = new URL(environment.baseUrl)
  /** Milliseconds by which the service's clock is ahead. */
  let clockOffset = 0

  const begin = ({ retries = environment.retries, timeout }: CallOptions = {}): Identity.Terms => {
    const limits = Transport.limitsOf(timeout, environment.timeouts) ?? environment.timeouts
    return { limits, retries, left: limits.total }
  }

  /** The credentials. Of a service that does not have them at once, waiting for them is a part of the call. */
  const credentialsFor = (prepared: Prepared, terms: Identity.Terms): Tried<Credentials.Values> => {
    const { credentials } = environment
    if (Exit.isExit(credentials)) return credentials
    const late = new Transport.TimedOut("total", "connect", terms.limits.total)
    const reason = new TransportError({ request: HttpClientRequest.empty, cause: late })
    const inTime = Effect.timeoutOrElse(credentials, {
      duration: terms.left,
      orElse: () => Effect.fail(unanswered(environment, prepared, new HttpClientError({ reason })))
    })
    return Effect.map(Effect.timed(inTime), ([took, values]) => {
      terms.left -= Duration.toMillis(took)
      return values
    })
  }

  const addressOf = (prepared: Prepared, identity: string): string => {
    const { identityAt, path, query } = prepared
    const filled = identityAt === undefined ? path : path.slice(0, identityAt) + identity + path.slice(identityAt)
    return environment.baseUrl + filled + (query === "" ? "" : `?${query}`)
  }

  const attempt = (
    prepared: Prepared,
    values: Credentials.Values,
    url: string,
    terms: Identity.Terms,
    count: { sent: number },
    hops = 0
  ): Tried<HttpClientResponse> => {
    const token = (prepared.userAuth ? values.accessToken : values.bearerToken) as Redacted.Redacted
    const credential = prepared.userAuth ? "oauth1" : "bearer"
    const bucket: RateLimit.Bucket = {
      operation: prepared.operation,
      credential,
      key: `${prepared.operation} ${credential} ${fingerprintOf(token)}`,
      pace: prepared.pace
    }
    let header: string | undefined
    const request = Clock.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      const begun = Monotonic.millisUnsafe(clock)
      header = authorization(environment, prepared, values, url, now + clockOffset)
      const request = requestOf(environment, prepared, url, header)
      const attempt = ++count.sent
      const exchange = Transport.exchange(environment.http, {
        request,
        limits: terms.limits,
        left: terms.left,
        maxBodySize: environment.maxBodySize,
        span: {
          operation: prepared.operation,
          template: prepared.template,
          resends: attempt - 1,
          content: environment.recordContent ? prepared.body : false
        }
      })
      return Effect.onExit(exchange, (exit) =>
        Effect.sync(() => {
          const taken = Monotonic.millisUnsafe(clock) - begun
          terms.left -= taken
          tell(environment, prepared, attempt, exit, taken, () => environment.redact(values, header))
        }))
    })
    const of = (failed: Failed): Failed => ({ ...failed, authorization: header })
    return Effect.matchEffect(environment.rateLimit.guard(bucket, request, terms.left), {
      onFailure: (error) =>
        error._tag === "HttpClientError"
          ? Effect.fail(of(unanswered(environment, prepared, error)))
          : Effect.fail<Failed>({ error: () => error, again: "no", applied: false, reason: error._tag }),
      onSuccess: (response) => {
        if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
        const target = hops === 0 && prepared.method === "GET" ? redirectOf(response, url, origin) : undefined
        if (target !== undefined) return attempt(prepared, values, target, terms, count, 1)
        return Effect.matchEffect(response.text, {
          onFailure: (error) => Effect.fail(of(unanswered(environment, prepared, error))),
          onSuccess: (text) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              const failed = refused(environment, prepared, response, text)
              const offset = prepared.userAuth ? clockOffsetOf(response, now, clockOffset) : undefined
              if (offset === undefined) return Effect.fail(failed)
              clockOffset = offset
              return Effect.fail<Failed>({ ...failed, again: "at once" })
            })
        })
      }
    })
  }

  /** The same request as often as that is safe, makes sense, is affordable and there is time. */
  const attempts = (prepared: Prepared, values: Credentials.Values, identity: string, terms: Identity.Terms) => {
    const url = addressOf(prepared, identity)
    const count = { sent: 0 }
    const from = (tried: number, applied: boolean, resynced: boolean): Tried<HttpClientResponse> =>
      Effect.matchEffect(attempt(prepared, values, url, terms, count), {
        onSuccess: (response) => {
          budget.succeeded()
          return Effect.succeed(response)
        },
        onFailure: (failed) => {
          const settled = applied ? settledBy(environment, prepared, failed) : undefined
          if (settled !== undefined) return Effect.succeed(settled)
          if (failed.again === "at once" && !resynced && terms.retries > 0) return from(tried, applied, true)
          if (failed.again !== "later" || tried >= terms.retries) return Effect.fail(failed)
          return Effect.flatMap(Retry.pause(tried, failed.asked), (pause) => {
            if (pause === undefined || pause >= terms.left) return Effect.fail(failed)
            const { operation } = prepared
            if (!budget.take(failed.reason === "timeout" ? 2 : 1)) {
              return Effect.andThen(
                Metric.update(Metric.withAttributes(Retry.exhausted, { operation }), 1),
                Effect.fail(failed)
              )
            }
            return Metric.update(Metric.withAttributes(Retry.retries, { operation, reason: failed.reason }), 1).pipe(
              Effect.andThen(
                environment.logging(Effect.logDebug(`Retrying ${operation} in ${pause} ms (${failed.reason})`))
              ),
              Effect.andThen(Effect.sleep(pause)),
              // Not before: of a pause that is under way, a call that joins this lookup uses up the rest.
              Effect.andThen(Effect.sync(() => terms.left -= pause)),
              Effect.andThen(from(tried + 1, applied || failed.applied, resynced))
            )
          })
        }
      })
    return from(0, false, false)
  }

  const ofBearer = Identity.make((bearerToken, terms: Identity.Terms) =>
    credentialsFor(lookup, terms).pipe(
      // Of the others nothing is sent, but whoever knows them may tell them.
      Effect.flatMap((values) => attempts(lookup, { ...values, bearerToken: Redacted.make(bearerToken) }, "", terms)),
      Effect.flatMap((response) =>
        Effect.matchEffect(response.text, {
          onFailure: (error) => Effect.fail(unanswered(environment, lookup, error)),
          onSuccess: (text) => identityOf(response, text)
        })
      )
    )
  )

  return (prepared, options) =>
    Effect.suspend(() => {
      const terms = begin(options)
      return Effect.matchEffect(credentialsFor(prepared, terms), {
        onFailure: ({ error }) => Effect.fail(error(prepared, identity)),
        onSuccess: (values): Effect.Effect<HttpClientResponse, SendError> => {
          const unusable = unusableIn(prepared, values)
          if (unusable !== undefined) return Effect.fail(unusable)
          const id = prepared.identityAt === undefined
            ? undefined
            : prepared.userAuth
            ? Effect.succeed(Identity.ofAccessToken(Redacted.value(values.accessToken as Redacted.Redacted)))
            : ofBearer(Redacted.value(values.bearerToken as Redacted.Redacted), terms)
          const tried = id === undefined
            ? attempts(prepared, values, "", terms)
            : Effect.flatMap(id, (id) => attempts(prepared, values, OAuth1.percentEncode(id), terms))
          return Effect.mapError(
            tried,
            ({ authorization, error }) => error(prepared, environment.redact(values, authorization))
          )
        }
      })
    })
}

const tell = (
  { onRequest }: Environment,
  { method, operation, template: route }: Prepared,
  attempt: number,
  exit: Exit.Exit<HttpClientResponse, unknown>,
  duration: number,
  redact: () => Redact
): void => {
  if (onRequest === undefined) return
  const response = Exit.isSuccess(exit) ? exit.value : undefined
  const requestId = response && requestIdOf(response.headers, redact())
  Hook.tell(onRequest, { operation, method, route, attempt, status: response?.status, requestId, duration })
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where a redirect leads, if that is the same origin: no credential goes anywhere else. */
const redirectOf = ({ headers, status }: HttpClientResponse, url: string, origin: string): string | undefined => {
  const location = redirects.has(status) ? headers["location"] : undefined
  if (location === undefined || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  if (target.origin !== origin || target.username !== "" || target.password !== "") return undefined
  target.hash = ""
  return target.href
}

/** Less than this, and a refusal is not about the clock. */
const clockTolerance = 60_000

/**
 * How far the service's clock is ahead, when it refuses a signature and its clock is clearly another one than it was
 * taken for. A cache between the two does not know the time.
 */
const clockOffsetOf = ({ headers, status }: HttpClientResponse, now: number, known: number): number | undefined => {
  const served = Date.parse(headers["date"] ?? "")
  if (status !== 401 || headers["age"] !== undefined || Number.isNaN(served)) return undefined
  return Math.abs(served - (now + known)) > clockTolerance ? served - now : undefined
}

/** What the operation would have answered, when a repeated try finds done what an earlier one, without answer, was to do. */
const settledBy = (
  { wire }: Environment,
  { settled }: Prepared,
  { refused }: Failed
): HttpClientResponse | undefined => {
  if (settled === undefined || refused?.response.status !== settled.by.status) return undefined
  const { response: { headers, request }, text } = refused
  const says = (problem: Errors.Problem) =>
    Object.entries(settled.by.problem).every(([member, value]) =>
      member === "type" ? problem.type?.split("/").at(-1) === value : problem[member] === value
    )
  return describe(text, wire).problems.some(says)
    ? fromWeb(request, new globalThis.Response(settled.body, { status: 200, headers: { ...headers } }))
    : undefined
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
  confirmWith: undefined,
  settled: undefined,
  method: lookupMethod,
  template: lookupPath,
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
): Tried<string> => {
  try {
    const body: unknown = JSON.parse(text)
    if (isIdentity(body)) return Effect.succeed(body.data.id)
  } catch {
    // Falls through to the same error as a body without an id.
  }
  const reason = "the authenticated user's id is not in the body"
  return Effect.fail({
    error: ({ operation }, redact) => undecodable(operation, response, reason, text, redact),
    again: "no",
    applied: false,
    reason
  })
}

const oauth1Settings = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"] as const

/**
 * What stands in the way of using the chosen credential: a setting that is missing, or one that no header can carry. A
 * service of credentials may give anything.
 */
const unusableIn = (
  prepared: Prepared,
  values: Credentials.Values
): Errors.MissingAccessToken | Errors.InvalidParameters | undefined => {
  const names = prepared.userAuth ? oauth1Settings : bearerSettings
  const missing = names.filter((name) => values[name] === undefined || Redacted.value(values[name]) === "")
  if (missing.length > 0) {
    return new Errors.MissingAccessToken({
      operation: prepared.operation,
      credential: credentialOf(prepared),
      missing
    })
  }
  for (const name of names) {
    const rule = Credentials.fault(name, values[name] as Redacted.Redacted)
    if (rule !== undefined) return invalidParameter({ name: prepared.operation }, name, rule, undefined)
  }
  return undefined
}

const bearerSettings = ["bearerToken"] as const

const credentialOf = (prepared: Prepared): Errors.CredentialKind => prepared.userAuth ? "oauth1" : "bearer"

const authorization = (
  environment: Environment,
  prepared: Prepared,
  values: Credentials.Values,
  url: string,
  now: number
): string => {
  if (!prepared.userAuth) return `Bearer ${Redacted.value(values.bearerToken as Redacted.Redacted)}`
  const plain = (name: typeof oauth1Settings[number]) => Redacted.value(values[name] as Redacted.Redacted)
  return OAuth1.sign({
    method: prepared.method,
    url,
    consumerKey: plain("consumerKey"),
    consumerSecret: plain("consumerSecret"),
    token: plain("accessToken"),
    tokenSecret: plain("accessTokenSecret"),
    nonce: OAuth1.nonce(),
    timestamp: Math.floor(now / 1000),
    hmac: environment.hmacSha1
  })
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

const unanswered = (
  environment: Environment,
  prepared: Prepared,
  { reason }: HttpClientError
): Failed => {
  if (reason._tag === "DecodeError") {
    // The answer came, but is too long or not compressed as it says.
    const { response } = reason
    const said = Predicate.hasProperty(reason.cause, "message") ? String(reason.cause.message) : reason._tag
    if (response.status >= 300) return refused(environment, prepared, response, "")
    return {
      error: ({ operation }, redact) => undecodable(operation, response, said, "", redact),
      again: "no",
      applied: true,
      reason: said
    }
  }
  const cause = "cause" in reason ? reason.cause : undefined
  const told = Predicate.hasProperty(cause, "phase") && isPhase(cause.phase) ? cause.phase : undefined
  const code = Transport.codeOf(cause)
  const sent = Predicate.hasProperty(cause, "requestSent") && Predicate.isBoolean(cause.requestSent)
    ? cause.requestSent
    : undefined
  const isUntrusted = sent !== true && code !== undefined && untrusted.test(code)
  const isTls = isUntrusted || (sent !== true && code !== undefined && tls.test(code))
  const timeout = cause instanceof Transport.TimedOut ? cause.limit : code === undefined ? undefined : timeoutOf[code]
  // Only a transport that knows that nothing left may say so; otherwise a create may have happened.
  const isUnsent = sent !== undefined
    ? !sent
    : cause instanceof Transport.TimedOut
    ? told === "connect"
    : isUntrusted || (code !== undefined && unconnected.test(code))
  const phase = isTls ? "tls" : told ?? (isUnsent ? "connect" : "unknown")
  // After the total, there is no time left.
  const isFinal = isTls || timeout === "total" || reason._tag !== "TransportError"
  return {
    error: (call, redact) =>
      lost({ ...prepared, operation: call.operation }, {
        phase,
        sent: !isUnsent,
        timeout,
        reason: Predicate.hasProperty(cause, "message") ? redact(String(cause.message)) : reason._tag,
        cause: cause instanceof Transport.TimedOut ? undefined : Redaction.within(cause, redact)
      }),
    again: isFinal || (prepared.effect === "create" && !isUnsent) ? "no" : "later",
    applied: !isUnsent,
    reason: timeout === undefined ? phase : "timeout"
  }
}

const phases: ReadonlyArray<unknown> = ["connect", "send", "headers", "body"]

const isPhase = (phase: unknown): phase is Exclude<Errors.TransportFailure["phase"], "tls" | "unknown"> =>
  phases.includes(phase)

/** There was no connection, so nothing left. */
const unconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

/** The other side is not who it should be, which is known before anything leaves: no retry changes that. */
const untrusted =
  /^(ERR_TLS_CERT_|CERT_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET|DECRYPT|DECODE)_|CRL_|INVALID_(CA|PURPOSE)$|HOSTNAME_MISMATCH$)/

/** No one can be talked to, or the answer was broken on its way: the code alone does not tell. */
const tls = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/

/** The limits that the connections of Undici have of their own. */
const timeoutOf: Readonly<Record<string, keyof Transport.Limits>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "firstByte",
  UND_ERR_BODY_TIMEOUT: "idle"
}

/** The body as text, of a response that has arrived. */
export const textOf = (
  prepared: Call,
  response: HttpClientResponse
): Effect.Effect<string, Errors.TransportFailure | Errors.OutcomeUnknown> =>
  // The error of the transport holds the request, so it is no cause to show.
  Effect.mapError(response.text, ({ reason }) => lost(prepared, { phase: "body", sent: true, reason: reason._tag }))

/** The error of a request whose answer did not come. */
export const lost = (prepared: Call, options: {
  readonly phase: Errors.TransportFailure["phase"]
  /** Whether any of the request may have reached the service. */
  readonly sent: boolean
  readonly reason: string
  readonly timeout?: keyof Transport.Limits | undefined
  readonly cause?: unknown
}): Errors.TransportFailure | Errors.OutcomeUnknown => {
  const { cause, phase, reason, sent, timeout } = options
  const { confirmWith, effect, operation } = prepared
  return effect === "create" && sent
    ? new Errors.OutcomeUnknown({ operation, reason, confirmWith, cause })
    : new Errors.TransportFailure({ operation, phase, timeout, reason, cause })
}

/** The error of a call to a client that is closed. */
export const closed = ({ confirmWith, effect, name }: Definition): Errors.TransportFailure | Errors.OutcomeUnknown =>
  lost({ operation: name, effect, confirmWith }, { phase: "connect", sent: false, reason: "the client is closed" })

/** An answer that cannot be read. */
const undecodable = (
  operation: string,
  response: Answer,
  reason: string,
  text: string,
  redact: Redact
): Errors.UndecodableResponse =>
  new Errors.UndecodableResponse({
    operation,
    status: response.status,
    reason: redact(reason),
    requestId: requestIdOf(response.headers, redact),
    excerpt: excerptOf(redact(text))
  })

interface Answer {
  readonly status: number
  readonly headers: Response.Headers
}

/** Reads an answer, if need be without credentials that it quotes: in what it says of failures, or in why it cannot be read. */
export const reread = (
  definition: Definition,
  wire: WireNames.Wire,
  decoded: Response.Response<unknown, unknown> | Response.Undecodable,
  answer: Answer,
  text: string,
  redact: Redact
): Response.Response<unknown, unknown> | Errors.UndecodableResponse => {
  if (!(decoded instanceof Response.Undecodable)) {
    // The body is ours, and tells the same.
    for (const [index, problem] of decoded.errors.entries()) {
      Reflect.set(decoded.errors, index, Redaction.within(problem, redact))
    }
    return decoded
  }
  // The reason may quote any part of the body, so it is found anew in one that holds nothing.
  const told = redact(text)
  const again = told === text ? decoded : Response.decode(definition, wire, told, answer.headers)
  const { reason } = again instanceof Response.Undecodable ? again : decoded
  return undecodable(definition.name, answer, reason, told, redact)
}

const requestIdOf = (headers: Response.Headers, redact: Redact): string | undefined => {
  const id = Response.requestIdOf(headers)
  return id === undefined ? undefined : redact(id)
}

/** The beginning of a body from which credentials are gone, so that none is cut in two. */
const excerptOf = (text: string): string => text.slice(0, 2000)

const refused = (
  environment: Environment,
  prepared: Prepared,
  response: HttpClientResponse,
  text: string
): Failed => {
  const { headers, status } = response
  const isFailure = status >= 500 && status !== 501
  return {
    error: (call, redact) => refusal(environment, prepared, call, response, redact(text), redact),
    // Who waited for a rate limit may be given the answer to another call.
    authorization: response.request.headers["authorization"],
    again: isFailure && prepared.effect !== "create" ? "later" : "no",
    applied: isFailure,
    reason: String(status),
    asked: status === 503 ? RateLimit.retryAfterOf(headers) : undefined,
    refused: { response, text }
  }
}

/** The error of a status. `prepared` was refused, `call` is what it was sent for. */
const refusal = (
  environment: Environment,
  prepared: Prepared,
  call: Prepared,
  response: HttpClientResponse,
  text: string,
  redact: Redact
): Errors.Refusal => {
  const { headers, status } = response
  const described = describe(text, environment.wire)
  const rateLimit = RateLimit.budgetOf(headers)
  const common = {
    operation: call.operation,
    status,
    credential: credentialOf(prepared),
    accepts: call.accepts,
    ...described,
    requestId: requestIdOf(headers, redact),
    rateLimit,
    excerpt: described.problems.length === 0 && text !== "" ? excerptOf(text) : undefined
  }
  if (status === 429) {
    return new Errors.RateLimited({
      ...common,
      bucket: prepared.operation,
      waits: environment.rateLimit.waits,
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
      return new Errors.Forbidden({ ...common, isRead: call.effect === "read" })
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
