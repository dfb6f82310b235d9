/** One attempt of a call: rate limit, signature, request, status. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpClient } from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Redacted from "effect/Redacted"
import type * as CredentialHash from "../auth/CredentialHash.ts"
import type * as Credentials from "../auth/Credentials.ts"
import type { Redact } from "../auth/Redaction.ts"
import type * as Timeouts from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import { maxRememberedBudgets } from "../rate-limit/Policy.ts"
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

type Failed = Effect.Effect<never, AttemptFailure.Exchanged>

/** Makes the function that runs one attempt. It succeeds only with a success status. */
export const make = (
  environment: Environment
): (series: AuthorizedSeries) => Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
  const { origin } = new URL(environment.baseUrl)
  const bucketOf = makeBucketOf(environment)
  const serviceClock = { offset: 0 }

  const send = (
    series: AuthorizedSeries,
    url: string,
    isRedirected: boolean
  ): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> =>
    Effect.withFiber<HttpClientResponse, AttemptFailure.Failure>((fiber) => {
      const attempt = new Attempt(environment, serviceClock, series, url, fiber)
      const guarded = (bucket: RateLimit.Bucket) =>
        environment.rateLimit.guard(
          bucket,
          environment.spend === undefined
            ? attempt.exchanged
            : environment.spend.guard(series, bucket, attempt.exchanged, attempt.probe),
          series.terms.left
        )
      const bucket = bucketOf(series)
      return Effect.matchEffect("key" in bucket ? guarded(bucket) : Effect.flatMap(bucket, guarded), {
        onFailure: (error): Effect.Effect<never, AttemptFailure.Failure> =>
          error._tag === "HttpClientError" ? attempt.failed(error) : attempt.withheld(error),
        onSuccess: (response): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
          if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
          const isFollowed = !isRedirected && series.prepared.method === "GET"
          const target = isFollowed ? redirectOf(response, url, origin) : undefined
          return target === undefined ? attempt.refused(response) : send(series, target, true)
        }
      })
    })

  return (series) => send(series, series.url, false)
}

/** Makes the function that runs one attempt without limits and redirects. */
export const makeUnlimited = (
  sender: Sender
): (series: AuthorizedSeries) => Effect.Effect<HttpClientResponse, AttemptFailure.Exchanged> => {
  const serviceClock = { offset: 0 }
  return (series) =>
    Effect.withFiber<HttpClientResponse, AttemptFailure.Exchanged>((fiber) => {
      const attempt = new Attempt(sender, serviceClock, series, series.url, fiber)
      return Effect.matchEffect(attempt.exchanged, {
        onFailure: (error) => attempt.failed(error),
        onSuccess: (response): Effect.Effect<HttpClientResponse, AttemptFailure.Exchanged> =>
          response.status >= 200 && response.status < 300 ? Effect.succeed(response) : attempt.refused(response)
      })
    })
}

/** One attempt: a request to one URL, sent again after each 429. */
class Attempt {
  readonly #environment: Sender
  /** How far ahead the service's clock is, in milliseconds; shared by all attempts of a client. */
  readonly #serviceClock: { offset: number }
  readonly #series: AuthorizedSeries
  readonly #url: string
  readonly #fiber: Fiber.Fiber<unknown, unknown>
  readonly #clock: Clock.Clock
  readonly #gate: SendGate | undefined
  #header: string | undefined

  constructor(
    environment: Sender,
    serviceClock: { offset: number },
    series: AuthorizedSeries,
    url: string,
    fiber: Fiber.Fiber<unknown, unknown>
  ) {
    this.#environment = environment
    this.#serviceClock = serviceClock
    this.#series = series
    this.#url = url
    this.#fiber = fiber
    this.#clock = fiber.getRef(Clock.Clock)
    this.#gate = series.prepared.effect === "create" ? fiber.getRef(SendGate) : undefined
  }

  /** Sends the request. */
  readonly exchanged: Transport.Sending = Effect.suspend(() => {
    if (this.#gate?.maySend() === false) return Effect.interrupt
    const { maxBodySize, recordContent, redact } = this.#environment
    const { authorize, prepared, terms, values } = this.#series
    const begun = Monotonic.millisUnsafe(this.#clock)
    const header = authorize(this.#url, this.#clock.currentTimeMillisUnsafe() + this.#serviceClock.offset)
    this.#header = header
    const number = ++this.#series.sent
    const exchange = Transport.exchange(
      this.#environment.http,
      {
        request: requestOf(this.#environment, prepared, this.#url, header),
        limits: terms.limits,
        left: terms.left,
        maxBodySize,
        span: {
          operation: prepared.operation,
          template: prepared.template,
          resends: number - 1,
          content: recordContent ? contentOf(prepared.body) : false,
          redact: redact(values)
        }
      },
      this.#fiber,
      this.#clock,
      this.#environment.carry
    )
    return Effect.onExitPrimitive(exchange, (exit) => {
      const duration = Monotonic.millisUnsafe(this.#clock) - begun
      terms.left -= duration
      if (Exit.isSuccess(exit) && exit.value.status >= 300 && !AttemptFailure.leavesOpen(exit.value.status)) {
        this.#gate?.withoutEffect()
      }
      if (this.#environment.onRequest !== undefined) {
        report(this.#environment, this.#environment.onRequest, this.#series, number, exit, duration, header)
      }
      return undefined
    })
  })

  /** Requests the headers of the service's base URL, without a credential. */
  readonly probe = Effect.suspend((): Effect.Effect<Headers | undefined> => {
    const { baseUrl, http, maxBodySize, redact, userAgent } = this.#environment
    const { prepared: { operation }, terms: { left, limits }, values } = this.#series
    const request = HttpClientRequest.make("HEAD")(`${baseUrl}/`, { headers: { "user-agent": userAgent } })
    const span = { operation, template: "/", resends: 0, content: false, redact: redact(values) } as const
    const exchange = { request, limits, left, maxBodySize, span }
    return Effect.match(Transport.exchange(http, exchange, this.#fiber, this.#clock), {
      onFailure: () => undefined,
      onSuccess: ({ headers }) => headers
    })
  })

  failed(error: HttpClientError): Failed {
    const failure = AttemptFailure.ofTransport(error, this.#series.prepared, this.#header)
    if (!AttemptFailure.mayHaveApplied(failure)) this.#gate?.withoutEffect()
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
        const offset = prepared.userAuth ? clockOffsetOf(response, now, this.#serviceClock.offset) : undefined
        if (offset !== undefined) this.#serviceClock.offset = offset
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

const requestOf = (
  { textType = "application/json", userAgent }: Sender,
  { accept, body, method }: Prepared,
  url: string,
  authorization: string | undefined
): HttpClientRequest.HttpClientRequest => {
  const headers: Record<string, string> = { accept, "user-agent": userAgent }
  if (authorization !== undefined) headers["authorization"] = authorization
  const http = body === undefined
    ? HttpBody.empty
    : typeof body === "string"
    ? HttpBody.text(body, textType)
    : new Multipart.Form(body)
  return Transport.requestOf(method, url, headers, http)
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
