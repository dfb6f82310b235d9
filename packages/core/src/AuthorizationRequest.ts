/**
 * A request of a sign-in: a form that is posted to the service, over the transport that calls have, with their limits, retries,
 * spans and errors. What must not be told of calls is not told here either, nor is any body that may hold new tokens.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { fromRecordUnsafe } from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import { HttpClient } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Attempt from "./Attempt.ts"
import * as Attempts from "./Attempts.ts"
import * as CallErrors from "./CallErrors.ts"
import * as Client from "./Client.ts"
import type { CredentialKind, InvalidSettings } from "./Errors.ts"
import * as Failure from "./Failure.ts"
import * as Monotonic from "./Monotonic.ts"
import type { Prepared } from "./Prepare.ts"
import * as Redaction from "./Redaction.ts"
import * as Retry from "./Retry.ts"
import * as Transport from "./Transport.ts"

/** Where the service is, how it speaks and how long it may take: as in the settings of a client. */
export interface Settings extends
  Pick<
    Client.Settings,
    "allowInsecureHttp" | "baseUrl" | "maxBodySize" | "retries" | "timeout" | "userAgent" | "wire"
  >
{}

/** What a request of a sign-in can fail with. */
export type RequestError = CallErrors.ExchangeError | InvalidSettings

/** What is asked of the service. */
export interface Request<out A> {
  /** What errors and spans call it. */
  readonly operation: string
  /** A create is never repeated once it may have left. */
  readonly effect: "create" | "toggle"
  readonly path: string
  /** What is left out is not sent. */
  readonly form: Readonly<Record<string, string | undefined>>
  readonly credential: CredentialKind
  /** The header of a request to an address at a time, in milliseconds by the service's clock. */
  readonly authorization?: ((url: string, now: number) => string) | undefined
  /** All that no text may hold, of the form and of the header. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Reads the body of a success; `undefined` where it is not as it should be. */
  readonly read: (text: string) => A | undefined
  /** What is said then. It quotes nothing. */
  readonly unread: string
}

/** Sends a request and reads its answer. */
export const send = <A>(settings: Settings, request: Request<A>): Effect.Effect<A, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const { baseUrl, exchange: { maxBodySize, retries, timeouts }, userAgent, wire } = yield* Client.check(settings)
    const http = yield* HttpClient
    const prepared = preparedOf(request)
    const redact = Redaction.ofSecrets(http, request.secrets)
    /** Milliseconds by which the service's clock is ahead. */
    let clockOffset = 0

    const attempt = ({ sent: resends, ...series }: Attempt.Series, header: string | undefined) =>
      Effect.withFiber<HttpClientResponse, Failure.Exchanged>((fiber) => {
        const clock = fiber.getRef(Clock.Clock)
        const begun = Monotonic.millisUnsafe(clock)
        const exchanged = Transport.exchange(
          http,
          {
            request: requestOf(series.url, userAgent, prepared.body, header),
            limits: series.terms.limits,
            left: series.terms.left,
            maxBodySize,
            span: {
              operation: prepared.operation,
              template: prepared.template,
              resends,
              content: false,
              redact: redact(header)
            }
          },
          fiber,
          clock
        )
        const timed = Effect.onExit(exchanged, () =>
          Effect.sync(() => {
            series.terms.left -= Monotonic.millisUnsafe(clock) - begun
          }))
        const read = Effect.flatMap(timed, (response) => Effect.map(response.text, (text) => ({ response, text })))
        return Effect.matchEffect(read, {
          onFailure: (error) => Effect.fail(Failure.ofTransport(error, prepared, header)),
          onSuccess: ({ response, text }): Effect.Effect<HttpClientResponse, Failure.Exchanged> => {
            if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
            const now = clock.currentTimeMillisUnsafe()
            const offset = prepared.userAuth ? Attempt.clockOffsetOf(response, now, clockOffset) : undefined
            clockOffset = offset ?? clockOffset
            return Effect.fail<Failure.Refused>({
              _tag: "Refused",
              prepared,
              authorization: header,
              response,
              text,
              isOfClock: offset !== undefined
            })
          }
        })
      })

    const attempts = Attempts.make<Failure.Exchanged>(
      (series) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const step = attempt({ ...series }, request.authorization?.(series.url, now + clockOffset))
          series.sent++
          return step
        }),
      { telemetry: yield* Retry.Telemetry, wire }
    )
    const answered = attempts({
      prepared,
      values: {},
      url: baseUrl + request.path,
      terms: { limits: timeouts, retries, left: timeouts.total },
      sent: 0
    })
    const read = Effect.flatMap(answered, (response) =>
      Effect.matchEffect(response.text, {
        onFailure: (error) => Effect.fail(Failure.ofTransport(error, prepared, undefined)),
        onSuccess: (text): Effect.Effect<A, Failure.Exchanged> => {
          const answer = request.read(text)
          return answer === undefined
            // The body is not told: it may hold a token.
            ? Effect.fail({
              _tag: "Unreadable",
              prepared,
              authorization: undefined,
              response,
              text: "",
              reason: request.unread
            })
            : Effect.succeed(answer)
        }
      }))
    return yield* Effect.mapError(
      read,
      (failure) =>
        CallErrors.ofExchange(failure, prepared, { wire, waits: false, redact: redact(failure.authorization) })
    )
  })

const preparedOf = ({ credential, effect, form, operation, path }: Request<unknown>): Prepared => ({
  operation,
  effect,
  confirmWith: undefined,
  settled: undefined,
  method: "POST",
  template: path,
  path,
  identityAt: undefined,
  query: "",
  body: encode(form),
  userAuth: credential === "oauth1",
  isChosen: true,
  scopes: [],
  pace: undefined,
  accepts: [credential]
})

/** As forms are encoded: `application/x-www-form-urlencoded`. */
export const encode = (form: Request<unknown>["form"]): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    if (value !== undefined) parameters.append(name, value)
  }
  return parameters.toString()
}

const requestOf = (url: string, userAgent: string, body: string | undefined, authorization: string | undefined) => {
  const type = "application/x-www-form-urlencoded"
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": type,
    "user-agent": userAgent
  }
  if (authorization !== undefined) headers["authorization"] = authorization
  return HttpClientRequest.makeWith(
    "POST",
    url,
    UrlParams.empty,
    Option.none(),
    fromRecordUnsafe(headers),
    HttpBody.text(body ?? "", type)
  )
}
