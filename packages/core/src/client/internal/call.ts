/** Sends prepared requests: credential, the user's id if the path needs it, attempts, and the error of the last one. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Credentials from "../../auth/Credentials.ts"
import * as OAuth1 from "../../auth/OAuth1.ts"
import type { CredentialsError } from "../../errors/Errors.ts"
import * as Timeouts from "../../http/Timeouts.ts"
import * as Parameters from "../../schema/Parameters.ts"
import { plainRequest, type Prepared } from "../../wire/RequestEncoder.ts"
import type { Wire } from "../../wire/Wire.ts"
import * as Attempt from "../Attempt.ts"
import * as AttemptFailure from "../AttemptFailure.ts"
import * as CallErrors from "../CallErrors.ts"
import type { CallOptions } from "../CallOptions.ts"
import type * as Retry from "../Retry.ts"
import * as RetryLoop from "../RetryLoop.ts"
import * as UserId from "../UserId.ts"
import * as Authorization from "./authorization.ts"

/** The parts of a client that sending needs. */
export interface Environment extends Attempt.Environment {
  readonly wire: Wire
  readonly credentials: Credentials.Credentials["Service"]
  readonly sign: Credentials.Sign | undefined
  readonly timeouts: Timeouts.Limits
  readonly retries: number
  readonly telemetry: Retry.Telemetry
}

/** The series of a call, whose credential may be renewed. */
interface CallSeries extends Attempt.RunningSeries {
  /** The call before it was admitted with a credential. */
  readonly call: Prepared
  /** The renewals of the credential so far. */
  readonly renewals: number
}

/** Makes the function that a fiber sends a call with. It succeeds only with a success status. */
export const make = (
  environment: Environment
): (
  fiber: Fiber.Fiber<unknown, unknown>,
  prepared: Prepared,
  options?: CallOptions
) => Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
  const { baseUrl, credentials: { admit, current, ready, renew }, rateLimit: { waits }, redact, wire } = environment
  const attempts = RetryLoop.make(Attempt.make(environment), environment)
  const authorizeWith = Authorization.make(environment.sign)

  const urlOf = ({ identityAt, path, query }: Prepared, identity: string): string => {
    const filled = identityAt === undefined
      ? path
      : path.slice(0, identityAt) + OAuth1.percentEncode(identity) + path.slice(identityAt)
    return baseUrl + filled + (query === "" ? "" : `?${query}`)
  }

  const errorOf = (failure: AttemptFailure.Failure, series: CallSeries) => {
    const { prepared, values } = series
    return since(
      CallErrors.of(failure, prepared, { wire, waits, redact: redact(values, failure.authorization) }),
      series
    )
  }

  /** Credentials that are available immediately. */
  const atHand = Credentials.isAtHand(current)
    ? () => current.value
    : (fiber: Fiber.Fiber<unknown, unknown>) => ready?.(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())

  /** Waits for credentials; the time counts towards the call. */
  const within = (
    terms: Attempt.Allowance,
    prepared: Prepared,
    credentials: Effect.Effect<Credentials.Values, CredentialsError>
  ): Effect.Effect<Credentials.Values, AttemptFailure.Failure> => {
    const late = new Timeouts.TimedOut("total", "connect", terms.limits.total)
    const inTime = Effect.timeoutOrElse(Effect.mapError(credentials, AttemptFailure.ofCredentials(prepared)), {
      duration: terms.left,
      orElse: () => Effect.fail(AttemptFailure.ofTimeout(late, prepared))
    })
    return Effect.map(Effect.timed(inTime), ([took, values]) => {
      terms.left -= Duration.toMillis(took)
      return values
    })
  }

  const ofBearer = UserId.make((bearerToken, terms) =>
    Effect.withFiber<string, AttemptFailure.Failure>((fiber) => {
      const values = atHand(fiber)
      return (values === undefined ? within(terms, lookup, current) : Effect.succeed(values)).pipe(
        Effect.flatMap((values) =>
          attempts({
            fiber,
            prepared: lookup,
            // Only the bearer token is sent; the other secrets are kept for redaction.
            values: { ...values, bearerToken: Redacted.make(bearerToken) },
            authorize: Authorization.withBearer(bearerToken),
            url: urlOf(lookup, ""),
            terms,
            sent: 0,
            applied: false
          }, Effect.fail)
        ),
        Effect.flatMap(identityIn)
      )
    })
  )

  const identityOf = (prepared: Prepared, values: Credentials.Values, terms: Attempt.Allowance) => {
    const known = values.grant?.userId
    if (known !== undefined) return Effect.succeed(known)
    const token = Redacted.value(Authorization.tokenOf(prepared, values))
    return prepared.userAuth ? Effect.succeed(UserId.ofAccessToken(token)) : ofBearer(token, terms)
  }

  const sendWith = (
    fiber: Fiber.Fiber<unknown, unknown>,
    call: Prepared,
    values: Credentials.Values,
    terms: Attempt.Allowance,
    /** The series with the credentials that these replace. */
    before?: CallSeries
  ): Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
    const prepared = admit === undefined ? call : admit(call, values)
    if (prepared instanceof Error) return Effect.fail(since(prepared, before))
    const authorize = authorizeWith(prepared, values)
    if (authorize instanceof Error) return Effect.fail(since(authorize, before))
    return run({
      fiber,
      call,
      prepared,
      values,
      authorize,
      url: urlOf(prepared, ""),
      terms,
      sent: before === undefined ? 0 : before.sent,
      applied: before !== undefined && before.applied,
      renewals: before === undefined ? 0 : before.renewals + 1
    })
  }

  const run = (series: CallSeries): Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
    const ended = (failure: AttemptFailure.Failure) =>
      AttemptFailure.isUnauthorized(failure) && series.renewals < maxRenewals && !series.prepared.userAuth
        ? renewed(series, failure)
        : Effect.fail(errorOf(failure, series))
    return series.prepared.identityAt === undefined ? attempts(series, ended) : identified(series, ended)
  }

  /** Sends a series whose path needs the user's id. */
  const identified = <E>(
    series: CallSeries,
    ended: (failure: AttemptFailure.Failure) => Effect.Effect<HttpClientResponse, E>
  ): Effect.Effect<HttpClientResponse, E> =>
    Effect.matchEffect(identityOf(series.prepared, series.values, series.terms), {
      onFailure: ended,
      onSuccess: (identity) => {
        series.url = urlOf(series.prepared, identity)
        return attempts(series, ended)
      }
    })

  /** Repeats a refused call with renewed credentials. The request had no effect, so that even a create can be repeated. */
  const renewed = (
    series: CallSeries,
    refused: AttemptFailure.Failure
  ): Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
    const { call, fiber, prepared, terms, values } = series
    if (renew === undefined) return Effect.fail(errorOf(refused, series))
    return Effect.matchEffect(within(terms, prepared, renew(values)), {
      onFailure: (failure) => Effect.fail(errorOf(failure, series)),
      onSuccess: (renewed) =>
        isSame(Authorization.tokenOf(prepared, renewed), Authorization.tokenOf(prepared, values))
          ? Effect.fail(errorOf(refused, series))
          : sendWith(fiber, call, renewed, terms, series)
    })
  }

  return (fiber, prepared, options) => {
    const limits = Timeouts.limitsOf(options?.timeout, environment.timeouts) ?? environment.timeouts
    const terms: Attempt.Allowance = { limits, retries: options?.retries ?? environment.retries, left: limits.total }
    const values = atHand(fiber)
    if (values !== undefined) return sendWith(fiber, prepared, values, terms)
    return Effect.matchEffect(within(terms, prepared, current), {
      // Without credentials there is nothing to redact.
      onFailure: (failure) => Effect.fail(CallErrors.of(failure, prepared, { wire, waits, redact: identity })),
      onSuccess: (values) => sendWith(fiber, prepared, values, terms)
    })
  }
}

/** The error of a series, of which an earlier attempt may have taken effect. */
const since = (
  error: CallErrors.SendError,
  series: Pick<CallSeries, "applied" | "prepared"> | undefined
): CallErrors.SendError =>
  series?.applied === true && series.prepared.effect === "create"
    ? CallErrors.openSince(error, series.prepared)
    : error

const isSame = (one: Redacted.Redacted, other: Redacted.Redacted): boolean =>
  Redacted.value(one) === Redacted.value(other)

/** The second renewal is for a token that another client of the account has replaced meanwhile. */
const maxRenewals = 2

const [method = "", path = ""] = /*#__PURE__*/ UserId.route.split(" ")

/** The request that looks up the user. Its scopes were checked by the outer call. */
const lookup = /*#__PURE__*/ plainRequest({
  operation: "getMe",
  effect: "read",
  method,
  template: path,
  path,
  priced: { price: { read: "user" }, items: 1 },
  accepts: ["bearer"]
})

// The id becomes a path segment, so it is validated.
const isIdentity = /*#__PURE__*/ Schema.is(
  /*#__PURE__*/ Schema.Struct({ data: /*#__PURE__*/ Schema.Struct({ id: Parameters.idText }) })
)

const identityIn = (response: HttpClientResponse): Effect.Effect<string, AttemptFailure.Failure> =>
  Effect.matchEffect(response.text, {
    onFailure: (error) => Effect.fail(AttemptFailure.ofTransport(error, lookup, undefined)),
    onSuccess: (text) => {
      try {
        const body: unknown = JSON.parse(text)
        if (isIdentity(body)) return Effect.succeed(body.data.id)
      } catch {
        // Falls through to the same error as a body without an id.
      }
      return Effect.fail<AttemptFailure.Failure>({
        _tag: "Unreadable",
        prepared: lookup,
        authorization: undefined,
        response,
        text,
        reason: "the authenticated user's id is not in the body"
      })
    }
  })
