/** One attempt of a call: rate limit, signature, request, status. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpHeaders from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpClient } from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as CredentialHash from "../auth/CredentialHash.ts"
import type * as Credentials from "../auth/Credentials.ts"
import type { Redact } from "../auth/Redaction.ts"
import type * as Timeouts from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import { type Following, maxRememberedBudgets } from "../rate-limit/Policy.ts"
import type * as RateLimit from "../rate-limit/RateLimit.ts"
import * as Callback from "../runtime/Callback.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import * as Multipart from "../schema/Multipart.ts"
import type { Headers } from "../schema/Response.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"
import * as AttemptFailure from "./AttemptFailure.ts"
import * as CallErrors from "./CallErrors.ts"
import * as Authorization from "./internal/authorization.ts"
import { SendGate } from "./SendGate.ts"
import type { SpendGuard } from "./SpendGuard.ts"

/** A request that has ended, with or without a response: without credentials, query or body. */
export interface Sent {
  readonly operation: string
  readonly method: string
  /** The path template: `/2/users/:id`. */
  readonly route: string
  /** 1 for the first request of a call, 2 for the next. */
  readonly attempt: number
  /** `undefined` if no response arrived. */
  readonly status: number | undefined
  /** The service's id of the request, for its support. */
  readonly requestId: string | undefined
  /** From sending to the end of the response, in milliseconds. */
  readonly duration: number
}

/** The parts of a client that requests need. */
export interface Sender {
  /** Scheme, host and path prefix, without a slash at the end. */
  readonly baseUrl: string
  readonly userAgent: string
  /** Redacts these credentials, and the signature in an `authorization`. */
  readonly redact: (values: Credentials.Values, authorization?: string) => Redact
  readonly http: HttpClient
  /** The content type of bodies that are text. Default: JSON. */
  readonly textType?: string
  /** Bytes, after decompression. */
  readonly maxBodySize: number
  /** True if spans include queries and bodies. */
  readonly recordContent: boolean
  /** Called with every completed request. */
  readonly onRequest: ((request: Sent) => void) | undefined
  readonly measuring: typeof Transport.Measuring.Service
  /** Sends the requests; by default, whole responses are read. */
  readonly carry?: Transport.Carrier | undefined
}

export interface Environment extends Sender {
  readonly rateLimit: RateLimit.RateLimit
  readonly spend: Pick<SpendGuard, "guard"> | undefined
  readonly fingerprintOf: ReturnType<typeof CredentialHash.make>
}

/** What is left of a call's time and retries. The lookup of the user's id draws on the same allowance. */
export interface Allowance {
  readonly limits: Timeouts.Limits
  /** How often a failed request may be retried. */
  readonly retries: number
  /** Milliseconds left of the total; every request and every pause reduces it; waits for rate limits do not. */
  left: number
}

/** The attempts of one request. */
export interface Series {
  readonly prepared: Prepared
  readonly values: Credentials.Values
  readonly url: string
  readonly terms: Allowance
  /** Requests that were sent. */
  sent: number
  /** True if an earlier one may have taken effect. */
  applied: boolean
}

/** A series whose requests are authorized. */
export interface AuthorizedSeries extends Series {
  readonly authorize: Authorization.Authorize
}

/** A series that a fiber sends. */
export interface RunningSeries extends AuthorizedSeries {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Mutable, since the path may need an id that is looked up. */
  url: string
}

type Failed = Effect.Effect<never, AttemptFailure.Exchanged>

type Guarded = Effect.Effect<HttpClientResponse, HttpClientError | AttemptFailure.Withheld["error"]>

/** Makes the function that runs one attempt. It succeeds only with a success status. */
export const make = (
  environment: Environment
): (series: RunningSeries) => Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
  const { rateLimit, spend } = environment
  const { origin } = new URL(environment.baseUrl)
  const bucketOf = makeBucketOf(environment)
  const client = new SendingClient(environment)

  const guarded = (attempt: Attempt, series: RunningSeries, bucket: RateLimit.Bucket): Guarded => {
    const { following } = rateLimit.guard
    if (spend === undefined && following !== undefined) return attempt.exchange(following, bucket)
    const sending = spend === undefined
      ? attempt.exchanged
      : spend.guard(series, bucket, attempt.exchanged, attempt.probe)
    return rateLimit.guard(bucket, sending, series.terms.left)
  }

  const start = (attempt: Attempt, series: RunningSeries): Guarded => {
    const bucket = bucketOf(series)
    return "key" in bucket
      ? guarded(attempt, series, bucket)
      : Effect.flatMap(bucket, (bucket) => guarded(attempt, series, bucket))
  }

  const send = (
    series: RunningSeries,
    url: string,
    isRedirected: boolean
  ): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
    const attempt = new Attempt(client, series, url, series.fiber)
    return Effect.matchEffect(start(attempt, series), {
      onFailure: (error): Effect.Effect<never, AttemptFailure.Failure> =>
        error._tag === "HttpClientError" ? attempt.failed(error) : attempt.withheld(error),
      onSuccess: (response): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
        if (isSuccess(response)) return Effect.succeed(response)
        const isFollowed = !isRedirected && series.prepared.method === "GET"
        const target = isFollowed ? redirectOf(response, url, origin) : undefined
        return target === undefined ? attempt.refused(response) : send(series, target, true)
      }
    })
  }

  return (series) => send(series, series.url, false)
}

const isSuccess = ({ status }: HttpClientResponse): boolean => status >= 200 && status < 300

/** Makes the function that runs one attempt without limits and redirects. */
export const makeUnlimited = (
  sender: Sender
): (series: AuthorizedSeries) => Effect.Effect<HttpClientResponse, AttemptFailure.Exchanged> => {
  const client = new SendingClient(sender)
  return (series) =>
    Effect.withFiber<HttpClientResponse, AttemptFailure.Exchanged>((fiber) => {
      const attempt = new Attempt(client, series, series.url, fiber)
      return Effect.matchEffect(attempt.exchange(), {
        onFailure: (error) => attempt.failed(error),
        onSuccess: (response): Effect.Effect<HttpClientResponse, AttemptFailure.Exchanged> =>
          isSuccess(response) ? Effect.succeed(response) : attempt.refused(response)
      })
    })
}

/** The state that all attempts of a client share. */
class SendingClient {
  readonly sender: Sender
  readonly measure: Transport.Measure | undefined
  /** How far ahead the service's clock is, in milliseconds. */
  clockOffset = 0
  /** The headers of the last request without a body: those of most requests are the same. */
  #headers: HttpHeaders.Headers = HttpHeaders.empty

  constructor(sender: Sender) {
    this.sender = sender
    this.measure = sender.measuring?.(sender.baseUrl)
  }

  requestOf(
    { accept, body, method }: Prepared,
    url: string,
    authorization: string | undefined
  ): HttpClientRequest.HttpClientRequest {
    const { textType = "application/json", userAgent } = this.sender
    if (body !== undefined) {
      const content = typeof body === "string" ? HttpBody.text(body, textType) : new Multipart.Form(body)
      return Transport.requestOf(method, url, headersOf(accept, userAgent, authorization), content)
    }
    if (this.#headers["accept"] !== accept || this.#headers["authorization"] !== authorization) {
      this.#headers = HttpHeaders.fromRecordUnsafe(headersOf(accept, userAgent, authorization))
    }
    return HttpClientRequest.makeWith(method, url, UrlParams.empty, Option.none(), this.#headers, HttpBody.empty)
  }
}

const headersOf = (
  accept: string,
  userAgent: string,
  authorization: string | undefined
): Record<string, string> =>
  authorization === undefined
    ? { accept, "user-agent": userAgent }
    : { accept, "user-agent": userAgent, authorization }

/** One attempt: a request to one URL, sent again after each 429. It is itself the exchange that a transport gets. */
class Attempt implements Transport.Exchange {
  readonly #client: SendingClient
  readonly #series: AuthorizedSeries
  readonly #url: string
  readonly #fiber: Fiber.Fiber<unknown, unknown>
  readonly #clock: Clock.Clock
  readonly #gate: SendGate | undefined
  #header: string | undefined
  #number = 0

  constructor(client: SendingClient, series: AuthorizedSeries, url: string, fiber: Fiber.Fiber<unknown, unknown>) {
    this.#client = client
    this.#series = series
    this.#url = url
    this.#fiber = fiber
    this.#clock = fiber.getRef(Clock.Clock)
    this.#gate = series.prepared.effect === "create" ? fiber.getRef(SendGate) : undefined
  }

  get limits(): Timeouts.Limits {
    return this.#series.terms.limits
  }

  get left(): number {
    return this.#series.terms.left
  }

  get maxBodySize(): number {
    return this.#client.sender.maxBodySize
  }

  get span(): Transport.SpanDetails {
    const { recordContent, redact } = this.#client.sender
    const { prepared: { body, operation, template }, values } = this.#series
    const content = recordContent ? contentOf(body) : false
    return { operation, template, resends: this.#number - 1, content, redact: redact(values) }
  }

  /** Sends the request, as an Effect that can be repeated. */
  get exchanged(): Transport.Sending {
    return Effect.suspend(() => this.exchange())
  }

  /** Sends the request, and reports it to a policy that follows the requests of a bucket. */
  exchange(following?: Following, bucket?: RateLimit.Bucket): Transport.Sending {
    if (this.#gate?.maySend() === false) return Effect.interrupt
    const { authorize, prepared } = this.#series
    const { carry, http } = this.#client.sender
    const begun = Monotonic.millisUnsafe(this.#clock)
    this.#header = authorize(this.#url, this.#clock.currentTimeMillisUnsafe() + this.#client.clockOffset)
    this.#number = ++this.#series.sent
    const followed = bucket && following?.sent(bucket)
    const request = this.#client.requestOf(prepared, this.#url, this.#header)
    return Effect.onExitPrimitive(
      Transport.exchange(http, request, this, this.#fiber, this.#clock, carry),
      (exit) => {
        this.#ended(exit, begun)
        if (followed !== undefined) following?.ended(followed, exit, begun, this.#clock)
        return undefined
      }
    )
  }

  #ended(exit: Exit.Exit<HttpClientResponse, unknown>, begun: number): void {
    const { measure, sender: { onRequest } } = this.#client
    const { method, template } = this.#series.prepared
    const duration = Monotonic.millisUnsafe(this.#clock) - begun
    measure?.(method, template, exit, duration)
    this.#series.terms.left -= duration
    if (Exit.isSuccess(exit) && exit.value.status >= 300 && !AttemptFailure.leavesOpen(exit.value.status)) {
      this.#withoutEffect()
    }
    if (onRequest !== undefined) {
      report(this.#client.sender, onRequest, this.#series, this.#number, exit, duration, this.#header)
    }
  }

  /** An earlier attempt of a create with a key may have had an effect. */
  #withoutEffect(): void {
    if (!this.#series.applied) this.#gate?.withoutEffect()
  }

  /** Requests the headers of the service's base URL, without a credential. */
  get probe(): Effect.Effect<Headers | undefined> {
    return Effect.suspend(() => {
      const { baseUrl, http, maxBodySize, redact, userAgent } = this.#client.sender
      const { prepared: { operation }, terms: { left, limits }, values } = this.#series
      const request = HttpClientRequest.make("HEAD")(`${baseUrl}/`, { headers: { "user-agent": userAgent } })
      const span = { operation, template: "/", resends: 0, content: false, redact: redact(values) } as const
      const exchange = { limits, left, maxBodySize, span }
      const { measure } = this.#client
      return Effect.match(Transport.measured(measure, http, request, exchange, this.#fiber, this.#clock), {
        onFailure: () => undefined,
        onSuccess: ({ headers }) => headers
      })
    })
  }

  failed(error: HttpClientError): Failed {
    const failure = AttemptFailure.ofTransport(error, this.#series.prepared, this.#header)
    if (!AttemptFailure.mayHaveApplied(failure)) this.#withoutEffect()
    return Effect.fail(failure)
  }

  withheld(error: AttemptFailure.Withheld["error"]): Effect.Effect<never, AttemptFailure.Withheld> {
    return Effect.fail({ _tag: "Withheld", prepared: this.#series.prepared, authorization: this.#header, error })
  }

  refused(response: HttpClientResponse): Failed {
    const { prepared } = this.#series
    return Effect.matchEffect(response.text, {
      onFailure: (error) => this.failed(error),
      onSuccess: (text): Failed => {
        const now = this.#clock.currentTimeMillisUnsafe()
        const offset = prepared.userAuth ? clockOffsetOf(response, now, this.#client.clockOffset) : undefined
        if (offset !== undefined) this.#client.clockOffset = offset
        return Effect.fail({
          _tag: "Refused",
          prepared,
          // A call that waited for a rate limit may receive the response to another call.
          authorization: response.request.headers["authorization"],
          response,
          text,
          isClockSkew: offset !== undefined
        })
      }
    })
  }
}

/** Rate limits apply per operation and credential: the token, or for refreshed tokens the account that holds them. */
const makeBucketOf = ({ fingerprintOf }: Environment) => {
  const buckets = new WeakMap<Redacted.Redacted, Map<string, RateLimit.Bucket>>()
  return ({ prepared, values }: Series): RateLimit.Bucket | Effect.Effect<RateLimit.Bucket> => {
    const token = Authorization.holderOf(prepared, values)
    let known = buckets.get(token)
    if (known === undefined) buckets.set(token, known = new Map())
    const { operation, pace } = prepared
    const credential = Authorization.kindOf(prepared)
    const bucket = known.get(operation)
    // One token may be used with both kinds, which is rare.
    if (bucket?.credential === credential) return bucket
    const make = (fingerprint: string): RateLimit.Bucket => {
      const bucket = { operation, credential, key: `${operation} ${credential} ${fingerprint}`, pace }
      // Operation names of raw requests are unbounded.
      if (known.size >= maxRememberedBudgets) known.clear()
      known.set(operation, bucket)
      return bucket
    }
    const fingerprint = fingerprintOf(token)
    return typeof fingerprint === "string" ? make(fingerprint) : Effect.map(fingerprint, make)
  }
}

const report = (
  { redact }: Sender,
  onRequest: (request: Sent) => void,
  { prepared: { method, operation, template: route }, values }: Series,
  attempt: number,
  exit: Exit.Exit<HttpClientResponse, unknown>,
  duration: number,
  header: string | undefined
): void => {
  const response = Exit.isSuccess(exit) ? exit.value : undefined
  const requestId = response && CallErrors.requestIdOf(response.headers, redact(values, header))
  Callback.call(onRequest, { operation, method, route, attempt, status: response?.status, requestId, duration })
}

const contentOf = (body: Prepared["body"]): string | undefined =>
  typeof body === "object" ? Multipart.describe(body) : body

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The target of a redirect within the same origin: no credential is sent anywhere else. */
const redirectOf = ({ headers, status }: HttpClientResponse, url: string, origin: string): string | undefined => {
  const location = redirectStatuses.has(status) ? headers["location"] : undefined
  if (location === undefined || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  if (target.origin !== origin || target.username !== "" || target.password !== "") return undefined
  target.hash = ""
  return target.href
}

/** With a smaller difference, the clock is not the reason for a refusal. */
const clockToleranceMillis = 60_000

/** The service's clock offset, if a 401 is explained by clock skew. The date of a cached response (with `age`) is ignored. */
const clockOffsetOf = (
  { headers, status }: HttpClientResponse,
  now: number,
  known: number
): number | undefined => {
  const served = Date.parse(headers["date"] ?? "")
  if (status !== 401 || headers["age"] !== undefined || Number.isNaN(served)) return undefined
  return Math.abs(served - (now + known)) > clockToleranceMillis ? served - now : undefined
}
