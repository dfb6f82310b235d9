/** One attempt of a call: rate limit, signature, request, status. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { fromRecordUnsafe } from "effect/http/Headers"
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

/** What attempts need of a client. */
export interface Environment {
  /** Scheme, host and path prefix, without a slash at the end. */
  readonly baseUrl: string
  readonly userAgent: string
  /** Keeps these credentials, and the signature in an `authorization`, out of texts. */
  readonly redact: (values: Credentials.Values, authorization?: string) => Redact
  readonly http: HttpClient
  readonly rateLimit: RateLimit.RateLimit
  readonly spend: Pick<SpendGuard, "guard"> | undefined
  readonly fingerprintOf: ReturnType<typeof CredentialHash.make>
  readonly sign: Credentials.Sign | undefined
  /** Bytes, after decompression. */
  readonly maxBodySize: number
  /** Whether spans hold queries and bodies. */
  readonly recordContent: boolean
  /** Is told of every request that has ended. */
  readonly onRequest: ((request: Sent) => void) | undefined
  /** What takes requests to the service; one that reads whole responses unless given. */
  readonly carry?: Transport.Carrier | undefined
}

/** The time and the retries that a call may still use, the lookup of the user's id included. */
export interface Allowance {
  readonly limits: Timeouts.Limits
  /** How often a failed request may be retried. */
  readonly retries: number
  /** Milliseconds left of the total; every request and every pause reduces it. */
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
  /** Whether one that went before may have taken effect. */
  applied: boolean
}

/** Makes the step. It succeeds with a status of success only. */
export const make = (
  environment: Environment
): (series: Series) => Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
  const { origin } = new URL(environment.baseUrl)
  const bucketOf = makeBucketOf(environment)
  /** Milliseconds by which the service's clock is ahead. */
  let clockOffset = 0

  const send = (
    series: Series,
    url: string,
    isRedirected: boolean
  ): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> =>
    Effect.withFiber<HttpClientResponse, AttemptFailure.Failure>((fiber) => {
      const { prepared, terms, values } = series
      const clock = fiber.getRef(Clock.Clock)
      let header: string | undefined
      const gate = prepared.effect === "create" ? fiber.getRef(SendGate) : undefined

      const exchanged = Effect.suspend(() => {
        if (gate?.maySend() === false) return Effect.interrupt
        const begun = Monotonic.millisUnsafe(clock)
        header = Authorization.header(
          prepared,
          values,
          url,
          clock.currentTimeMillisUnsafe() + clockOffset,
          environment.sign
        )
        const attempt = ++series.sent
        const exchange = Transport.exchange(
          environment.http,
          {
            request: requestOf(environment, prepared, url, header),
            limits: terms.limits,
            left: terms.left,
            maxBodySize: environment.maxBodySize,
            span: {
              operation: prepared.operation,
              template: prepared.template,
              resends: attempt - 1,
              content: environment.recordContent ? contentOf(prepared.body) : false,
              redact: environment.redact(values)
            }
          },
          fiber,
          clock,
          environment.carry
        )
        return Effect.onExitPrimitive(exchange, (exit) => {
          const taken = Monotonic.millisUnsafe(clock) - begun
          terms.left -= taken
          if (Exit.isSuccess(exit) && exit.value.status >= 300 && !AttemptFailure.leavesOpen(exit.value.status)) {
            gate?.withoutEffect()
          }
          if (environment.onRequest !== undefined) {
            tell(environment, environment.onRequest, series, attempt, exit, taken, header)
          }
          return undefined
        })
      })

      const failed = (error: HttpClientError) => {
        const failure = AttemptFailure.ofTransport(error, prepared, header)
        if (!AttemptFailure.mayHaveApplied(failure)) gate?.withoutEffect()
        return Effect.fail(failure)
      }

      const refused = (response: HttpClientResponse): Effect.Effect<never, AttemptFailure.Failure> =>
        Effect.matchEffect(response.text, {
          onFailure: failed,
          onSuccess: (text) => {
            const now = clock.currentTimeMillisUnsafe()
            const offset = prepared.userAuth ? clockOffsetOf(response, now, clockOffset) : undefined
            if (offset !== undefined) clockOffset = offset
            return Effect.fail<AttemptFailure.Failure>({
              _tag: "Refused",
              prepared,
              // Who waited for a rate limit may be given the answer to another call.
              authorization: response.request.headers["authorization"],
              response,
              text,
              isOfClock: offset !== undefined
            })
          }
        })

      const guarded = (bucket: RateLimit.Bucket) =>
        environment.rateLimit.guard(
          bucket,
          environment.spend === undefined
            ? exchanged
            : environment.spend.guard(series, bucket, exchanged, headersOf(environment, series, fiber, clock)),
          terms.left
        )
      const bucket = bucketOf(series)
      return Effect.matchEffect("key" in bucket ? guarded(bucket) : Effect.flatMap(bucket, guarded), {
        onFailure: (error): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> =>
          error._tag === "HttpClientError"
            ? failed(error)
            : Effect.fail({ _tag: "Withheld", prepared, authorization: header, error }),
        onSuccess: (response): Effect.Effect<HttpClientResponse, AttemptFailure.Failure> => {
          if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
          const target = isRedirected || prepared.method !== "GET" ? undefined : redirectOf(response, url, origin)
          return target === undefined ? refused(response) : send(series, target, true)
        }
      })
    })

  return (series) => send(series, series.url, false)
}

/** Budgets are counted for each operation and token, or holder of tokens that change. */
const makeBucketOf = ({ fingerprintOf }: Environment) => {
  const buckets = new WeakMap<Redacted.Redacted, Map<string, RateLimit.Bucket>>()
  return ({ prepared, values }: Series): RateLimit.Bucket | Effect.Effect<RateLimit.Bucket> => {
    const token = Authorization.holderOf(prepared, values)
    let known = buckets.get(token)
    if (known === undefined) buckets.set(token, known = new Map())
    const { operation, pace } = prepared
    const credential = Authorization.kindOf(prepared)
    const bucket = known.get(operation)
    // One token may be used in both ways, which seldom happens.
    if (bucket?.credential === credential) return bucket
    const make = (fingerprint: string): RateLimit.Bucket => {
      const bucket = { operation, credential, key: `${operation} ${credential} ${fingerprint}`, pace }
      // Requests have names of their callers' making.
      if (known.size >= maxRememberedBudgets) known.clear()
      known.set(operation, bucket)
      return bucket
    }
    const fingerprint = fingerprintOf(token)
    return typeof fingerprint === "string" ? make(fingerprint) : Effect.map(fingerprint, make)
  }
}

const tell = (
  { redact }: Environment,
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

/** The headers of the service's address itself, requested without a credential. */
const headersOf = (
  { baseUrl, http, maxBodySize, redact, userAgent }: Environment,
  { prepared: { operation }, terms: { left, limits }, values }: Series,
  fiber: Fiber.Fiber<unknown, unknown>,
  clock: Clock.Clock
): Effect.Effect<Headers | undefined> =>
  Effect.suspend(() => {
    const request = HttpClientRequest.make("HEAD")(`${baseUrl}/`, { headers: { "user-agent": userAgent } })
    const span = { operation, template: "/", resends: 0, content: false, redact: redact(values) } as const
    return Effect.match(Transport.exchange(http, { request, limits, left, maxBodySize, span }, fiber, clock), {
      onFailure: () => undefined,
      onSuccess: ({ headers }) => headers
    })
  })

const requestOf = (
  { userAgent }: Environment,
  { accept, body, method }: Prepared,
  url: string,
  authorization: string
): HttpClientRequest.HttpClientRequest => {
  const headers: Record<string, string> = { authorization, accept, "user-agent": userAgent }
  const http = body === undefined
    ? HttpBody.empty
    : typeof body === "string"
    ? HttpBody.text(body, "application/json")
    : new Multipart.Form(body)
  // Of what the body says of itself, the constructor takes no notice; the length of a text, every client knows.
  if (http._tag !== "Empty") headers["content-type"] = http.contentType
  if (http._tag === "Stream") headers["content-length"] = String(http.contentLength)
  return HttpClientRequest.makeWith(
    method,
    url,
    UrlParams.empty,
    Option.none(),
    fromRecordUnsafe(headers),
    http
  )
}

const contentOf = (body: Prepared["body"]): string | undefined =>
  typeof body === "object" ? Multipart.describe(body) : body

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where a redirect leads, if that is the same origin: no credential goes anywhere else. */
const redirectOf = ({ headers, status }: HttpClientResponse, url: string, origin: string): string | undefined => {
  const location = redirectStatuses.has(status) ? headers["location"] : undefined
  if (location === undefined || !URL.canParse(location, url)) return undefined
  const target = new URL(location, url)
  if (target.origin !== origin || target.username !== "" || target.password !== "") return undefined
  target.hash = ""
  return target.href
}

/** Less than this, and a refusal is not about the clock. */
const clockToleranceMillis = 60_000

/**
 * How far the service's clock is ahead, when it refuses a signature and its clock is clearly another one than it was
 * taken for. A cache between the two does not know the time.
 */
export const clockOffsetOf = (
  { headers, status }: HttpClientResponse,
  now: number,
  known: number
): number | undefined => {
  const served = Date.parse(headers["date"] ?? "")
  if (status !== 401 || headers["age"] !== undefined || Number.isNaN(served)) return undefined
  return Math.abs(served - (now + known)) > clockToleranceMillis ? served - now : undefined
}
