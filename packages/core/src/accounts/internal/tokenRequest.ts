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
import * as Schema from "effect/Schema"
import * as Redaction from "../../auth/Redaction.ts"
import * as Attempt from "../../client/Attempt.ts"
import * as AttemptFailure from "../../client/AttemptFailure.ts"
import * as CallErrors from "../../client/CallErrors.ts"
import * as Client from "../../client/Client.ts"
import * as Retry from "../../client/Retry.ts"
import * as RetryLoop from "../../client/RetryLoop.ts"
import type { CredentialKind, InvalidSettings } from "../../errors/Errors.ts"
import * as Transport from "../../http/Transport.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Prepared } from "../../wire/RequestEncoder.ts"

/** Where the service is, how it speaks and how long it may take: as in the settings of a client. */
export interface Settings extends
  Pick<
    Client.Settings,
    "allowInsecureHttp" | "baseUrl" | "maxBodySize" | "retries" | "timeout" | "userAgent" | "wire"
  >
{}

/** What a request of a sign-in can fail with. */
export type RequestError = CallErrors.ExchangeError | InvalidSettings

/** What is left out is not sent. */
export type Form = Readonly<Record<string, string | undefined>>

/** What is asked of the service. */
export interface Request<out A> {
  /** What errors and spans call it. */
  readonly operation: string
  /** A create is never repeated once it may have left. */
  readonly effect: "create" | "toggle"
  /** What a repeated request is answered with that finds done what the one before it was to do. */
  readonly settled?: Prepared["settled"]
  readonly path: string
  readonly query?: Form | undefined
  readonly form?: Form | undefined
  readonly credential: CredentialKind
  /** The header of a request to an address at a time, in milliseconds by the service's clock. */
  readonly authorization?: ((url: string, now: number) => string) | undefined
  /** All that no text may hold, of the form and of the header. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Reads the body of a success; nothing where it is not as it should be. */
  readonly read: (text: string) => Option.Option<A>
  /** What is said then. It quotes nothing. */
  readonly unread: string
}

/** A secret that can travel in a header. */
export const Token = /*#__PURE__*/ Schema.RedactedFromValue(
  /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^[\x21-\x7e]+$/))
)

/** Of a request whose success says all. */
export const unread = { read: () => Option.some(undefined), unread: "" } as const

/** The code of a refusal whose reason is that the token is dead. */
export const deadToken = 89

/** Of a request that makes a token useless. A repeated one may find that the one before has done so. */
export const invalidating = {
  ...unread,
  settled: { body: "{}", by: { status: 401, problem: { code: deadToken } } }
} as const

/** Sends a request and reads its answer. */
export const send = <A>(settings: Settings, request: Request<A>): Effect.Effect<A, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const { baseUrl, exchange: { maxBodySize, retries, timeouts }, userAgent, wire } = yield* Client.check(settings)
    const http = yield* HttpClient
    const prepared = preparedOf(request)
    const redact = Redaction.ofSecrets(http, request.secrets)
    /** Milliseconds by which the service's clock is ahead. */
    let clockOffset = 0

    const attempt = (series: Attempt.Series) =>
      Effect.withFiber<HttpClientResponse, AttemptFailure.Exchanged>((fiber) => {
        const { terms, url } = series
        const clock = fiber.getRef(Clock.Clock)
        const begun = Monotonic.millisUnsafe(clock)
        const header = request.authorization?.(url, clock.currentTimeMillisUnsafe() + clockOffset)
        const exchanged = Transport.exchange(
          http,
          {
            request: requestOf(url, userAgent, prepared.body, header),
            limits: terms.limits,
            left: terms.left,
            maxBodySize,
            span: {
              operation: prepared.operation,
              template: prepared.template,
              resends: series.sent++,
              content: false,
              redact: redact(header)
            }
          },
          fiber,
          clock
        )
        const timed = Effect.onExit(exchanged, () =>
          Effect.sync(() => {
            terms.left -= Monotonic.millisUnsafe(clock) - begun
          }))
        const read = Effect.flatMap(timed, (response) => Effect.map(response.text, (text) => ({ response, text })))
        return Effect.matchEffect(read, {
          onFailure: (error) => Effect.fail(AttemptFailure.ofTransport(error, prepared, header)),
          onSuccess: ({ response, text }): Effect.Effect<HttpClientResponse, AttemptFailure.Exchanged> => {
            if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
            const now = clock.currentTimeMillisUnsafe()
            const offset = prepared.userAuth ? Attempt.clockOffsetOf(response, now, clockOffset) : undefined
            clockOffset = offset ?? clockOffset
            const isOfClock = offset !== undefined
            return Effect.fail({
              _tag: "Refused",
              prepared,
              authorization: header,
              response,
              text: inWords.test(text) ? JSON.stringify({ detail: text }) : text,
              isOfClock
            })
          }
        })
      })

    const attempts = RetryLoop.make(attempt, { telemetry: yield* Retry.Telemetry, wire })
    const answered = attempts({
      prepared,
      values: {},
      url: baseUrl + request.path + (prepared.query === "" ? "" : `?${prepared.query}`),
      terms: { limits: timeouts, retries, left: timeouts.total },
      sent: 0,
      applied: false
    })
    const read = Effect.flatMap(answered, (response) =>
      Effect.matchEffect(response.text, {
        onFailure: (error) => Effect.fail(AttemptFailure.ofTransport(error, prepared, undefined)),
        onSuccess: (text): Effect.Effect<A, AttemptFailure.Exchanged> => {
          const answer = request.read(text)
          if (Option.isSome(answer)) return Effect.succeed(answer.value)
          const reason = request.unread
          // The body is not told: it may hold a token.
          return Effect.fail({ _tag: "Unreadable", prepared, authorization: undefined, response, text: "", reason })
        }
      }))
    return yield* Effect.mapError(
      read,
      (failure) =>
        CallErrors.ofExchange(failure, prepared, { wire, waits: false, redact: redact(failure.authorization) })
    )
  })

/** A refusal of OAuth 1.0a may be a sentence, and no document. */
const inWords = /^[A-Za-z][^<>{}[\]\p{Cc}]{0,300}$/u

const preparedOf = (
  { credential, effect, form, operation, path, query = {}, settled }: Request<unknown>
): Prepared & { readonly body: string | undefined } => ({
  operation,
  effect,
  confirmWith: undefined,
  settled,
  method: "POST",
  template: path,
  path,
  identityAt: undefined,
  query: encode(query),
  body: form && encode(form),
  userAuth: credential === "oauth1",
  isChosen: true,
  scopes: [],
  accept: "application/json",
  pace: undefined,
  priced: { price: "free", items: 0 },
  accepts: [credential]
})

/** As forms are encoded: `application/x-www-form-urlencoded`. */
export const encode = (form: Form): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    if (value !== undefined) parameters.append(name, value)
  }
  return parameters.toString()
}

/** Reads what a form holds; of a name that it has twice, nothing is known. */
export const decode = (text: string): Form => {
  const parameters = new URLSearchParams(text)
  return Object.fromEntries(Array.from(parameters.keys(), (name) => {
    const [value, ...others] = parameters.getAll(name)
    return [name, others.length === 0 ? value : undefined]
  }))
}

const formType = "application/x-www-form-urlencoded"

const requestOf = (
  url: string,
  userAgent: string,
  body: string | undefined,
  authorization: string | undefined
): HttpClientRequest.HttpClientRequest => {
  const headers: Record<string, string> = { accept: "application/json", "user-agent": userAgent }
  if (authorization !== undefined) headers["authorization"] = authorization
  // Of the body's own type, the constructor takes no notice.
  if (body !== undefined) headers["content-type"] = formType
  return HttpClientRequest.makeWith(
    "POST",
    url,
    UrlParams.empty,
    Option.none(),
    fromRecordUnsafe(headers),
    body === undefined ? HttpBody.empty : HttpBody.text(body, formType)
  )
}
