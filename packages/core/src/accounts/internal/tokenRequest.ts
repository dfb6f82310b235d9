/**
 * A sign-in request: a form posted over the same transport as calls, with their limits, retries, spans and errors. Secrets are
 * redacted as in calls, and a response body that may hold new tokens is never shown.
 */
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
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
import { plainRequest, type Prepared } from "../../wire/RequestEncoder.ts"

/** The service, its dialect and timeouts, as in the settings of a client. */
export interface Settings extends
  Pick<
    Client.Settings,
    "allowInsecureHttp" | "baseUrl" | "maxBodySize" | "retries" | "timeout" | "userAgent" | "wire"
  >
{}

/** The errors of a sign-in request. */
export type RequestError = CallErrors.ExchangeError | InvalidSettings

/** Form fields; `undefined` ones are not sent. */
export type Form = Readonly<Record<string, string | undefined>>

/** A sign-in request whose response decodes to `A`. */
export interface Request<out A> {
  /** Its name in errors and spans. */
  readonly operation: string
  /** A create is never retried once it may have been sent. */
  readonly effect: "create" | "toggle"
  /** The response to a retry that finds the effect of the earlier attempt. */
  readonly settled?: Prepared["settled"]
  readonly path: string
  readonly query?: Form | undefined
  readonly form?: Form | undefined
  readonly credential: CredentialKind
  /** The header for a URL and a time, in milliseconds by the service's clock. */
  readonly authorization?: ((url: string, now: number) => string) | undefined
  /** All secrets of the form and the header, for redaction. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Decodes the body of a 2xx; `None` if it does not match. */
  readonly read: (text: string) => Option.Option<A>
  /** The reason for a `None`, without quotes from the body. */
  readonly unread: string
}

/** A secret that can travel in a header. */
export const Token = /*#__PURE__*/ Schema.RedactedFromValue(
  /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^[\x21-\x7e]+$/))
)

/** Ignores the body of a 2xx. */
export const unread = { read: () => Option.some(undefined), unread: "" } as const

/** The error code for a dead token. */
export const deadToken = 89

/** For requests that invalidate a token. A retry may find that the earlier attempt succeeded. */
export const invalidating = {
  ...unread,
  settled: { body: "{}", by: { status: 401, problem: { code: deadToken } } }
} as const

/** Sends a request and decodes its response. */
export const send = <A>(settings: Settings, request: Request<A>): Effect.Effect<A, RequestError, HttpClient> =>
  Effect.gen(function*() {
    const { baseUrl, exchange: { maxBodySize, retries, timeouts }, userAgent, wire } = yield* Client.check(settings)
    const http = yield* HttpClient
    const prepared = preparedOf(request)
    const redact = Redaction.ofSecrets(http, request.secrets)
    const attempt = Attempt.makeUnlimited({
      baseUrl,
      userAgent,
      http,
      maxBodySize,
      recordContent: false,
      onRequest: undefined,
      measuring: yield* Transport.Measuring,
      textType: "application/x-www-form-urlencoded",
      redact: (_, header) => redact(header)
    })
    const answered = RetryLoop.make(attempt, { telemetry: yield* Retry.Telemetry, wire })({
      prepared,
      values: {},
      authorize: (url, now) => request.authorization?.(url, now),
      url: baseUrl + request.path + (prepared.query === "" ? "" : `?${prepared.query}`),
      terms: { limits: timeouts, retries, left: timeouts.total },
      sent: 0,
      applied: false
    }, Effect.fail)
    const read = Effect.flatMap(answered, (response) =>
      Effect.matchEffect(response.text, {
        onFailure: (error) => Effect.fail(AttemptFailure.ofTransport(error, prepared, undefined)),
        onSuccess: (text): Effect.Effect<A, AttemptFailure.Exchanged> => {
          const answer = request.read(text)
          if (Option.isSome(answer)) return Effect.succeed(answer.value)
          const reason = request.unread
          // The body is withheld: it may hold a token.
          return Effect.fail({ _tag: "Unreadable", prepared, authorization: undefined, response, text: "", reason })
        }
      }))
    return yield* Effect.mapError(read, (failure) =>
      CallErrors.ofExchange(
        failure._tag === "Refused" && inWords.test(failure.text)
          ? { ...failure, text: JSON.stringify({ detail: failure.text }) }
          : failure,
        prepared,
        { wire, waits: false, redact: redact(failure.authorization) }
      ))
  })

/** OAuth 1.0a refusals may be a plain sentence instead of a document. */
const inWords = /^[A-Za-z][^<>{}[\]\p{Cc}]{0,300}$/u

const preparedOf = ({ credential, effect, form, operation, path, query = {}, settled }: Request<unknown>): Prepared =>
  plainRequest({
    operation,
    effect,
    settled,
    method: "POST",
    template: path,
    path,
    query: encode(query),
    body: form && encode(form),
    userAuth: credential === "oauth1",
    accepts: [credential]
  })

/** Encodes a form as `application/x-www-form-urlencoded`. */
export const encode = (form: Form): string => UrlParams.toString(form)

/** Decodes a form. Names that occur twice are ambiguous and get no value. */
export const decode = (text: string): Form => {
  const parameters = new URLSearchParams(text)
  return Object.fromEntries(Array.from(parameters.keys(), (name) => {
    const [value, ...others] = parameters.getAll(name)
    return [name, others.length === 0 ? value : undefined]
  }))
}
