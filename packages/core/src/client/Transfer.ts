/**
 * Transfers files to and from URLs that the service has issued. Such a URL is itself the permission: no credential is sent, and
 * no redirect is followed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpClient } from "effect/http/HttpClient"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Redaction from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import type * as Timeouts from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import * as Multipart from "../schema/Multipart.ts"
import { retryAfterOf } from "../schema/RateLimitHeaders.ts"
import { plainRequest } from "../wire/RequestEncoder.ts"
import * as AttemptFailure from "./AttemptFailure.ts"
import * as CallErrors from "./CallErrors.ts"
import * as Retry from "./Retry.ts"

/** A request to such a URL. It may be retried. */
export interface Transfer {
  /** Its name in errors. */
  readonly operation: string
  readonly method: "GET" | "PUT"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: { readonly type: string; readonly bytes: ReadonlyArray<Multipart.Bytes> }
}

/** The parts of a client that transfers need. */
export interface Environment {
  readonly http: HttpClient
  readonly userAgent: string
  readonly timeouts: Timeouts.Limits
  readonly retries: number
  readonly maxBodySize: number
  readonly measuring: typeof Transport.Measuring.Service
  /** Tests whether a URL may be used. */
  readonly isAllowed: (url: URL) => boolean
  readonly isClosed: () => boolean
}

/** Sends a transfer and reads the whole response, whatever its status. Lost requests and failures of the server are retried. */
export const send = (
  environment: Environment,
  transfer: Transfer
): Effect.Effect<HttpClientResponse, Errors.TransportFailure> => {
  const { method, operation } = transfer
  const fail = (reason: string) => Effect.fail(new Errors.TransportFailure({ operation, phase: "connect", reason }))
  const url = URL.canParse(transfer.url) ? new URL(transfer.url) : undefined
  if (url === undefined || !environment.isAllowed(url)) {
    return fail("the service sent a URL that cannot be used: it must begin with https://")
  }
  url.hash = ""
  const redact = redactOf(url.href)
  const effect = method === "GET" ? "read" : "toggle"
  const prepared = plainRequest({ operation, method, effect, template: "", path: "" })
  // The URL's signature is never recorded in spans.
  const span = { operation, template: `/${operation}`, content: false, redact } as const
  const request = requestOf(environment, transfer, url.href)
  const mebibytes = Math.ceil(
    (transfer.body?.bytes ?? []).reduce((sum, piece) => sum + Multipart.sizeOf(piece), 0) / MiB
  )
  // A large file takes longer than a call.
  const total = environment.timeouts.total * Math.max(1, mebibytes)
  const measure = environment.measuring?.(url.origin)
  const once = (resends: number, end: number) =>
    Effect.withFiber<HttpClientResponse, AttemptFailure.Exchanged>((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      return Effect.mapError(
        Transport.measured(
          measure,
          environment.http,
          request,
          {
            limits: { ...environment.timeouts, total },
            left: end - Monotonic.millisUnsafe(clock),
            maxBodySize: environment.maxBodySize,
            span: { ...span, resends }
          },
          fiber,
          clock
        ),
        (error) => AttemptFailure.ofTransport(error, prepared, undefined)
      )
    })
  const from = (tried: number, end: number): Effect.Effect<HttpClientResponse, Errors.TransportFailure> => {
    if (environment.isClosed()) return fail(CallErrors.closedReason)
    const again = (
      retryAfter: number | undefined,
      otherwise: Effect.Effect<HttpClientResponse, Errors.TransportFailure>
    ) =>
      tried >= environment.retries ? otherwise : Effect.flatMap(
        Effect.all([Retry.pause(tried, retryAfter), Monotonic.millis]),
        ([pause, now]) =>
          pause === undefined || now + pause >= end
            ? otherwise
            : Effect.andThen(Effect.sleep(pause), Effect.suspend(() => from(tried + 1, end)))
      )
    return Effect.matchEffect(once(tried, end), {
      onFailure: (failure) => {
        const lost = Effect.fail(errorOf(operation, failure, redact))
        return failure._tag === "Unanswered" && AttemptFailure.mayRepeat(failure) ? again(undefined, lost) : lost
      },
      onSuccess: (response) =>
        isTemporary(response.status) ? again(retryAfterOf(response.headers), Effect.succeed(response)) : Effect.succeed(
          response
        )
    })
  }
  return Effect.flatMap(Monotonic.millis, (now) => from(0, now + total))
}

const MiB = 1_048_576

/** Tests for a status that a retry may change. */
const isTemporary = (status: number): boolean => status === 408 || status === 429 || (status >= 500 && status !== 501)

const requestOf = ({ userAgent }: Environment, { body, headers, method }: Transfer, url: string) =>
  Transport.requestOf(
    method,
    url,
    // Offsets refer to the uncompressed file.
    { accept: "*/*", "accept-encoding": "identity", "user-agent": userAgent, ...headers },
    body === undefined ? HttpBody.empty : new Multipart.Content(body.bytes, body.type)
  )

/** The minimum length of parameters and segments of a URL that are redacted as possible signatures, in characters. */
const leastSecretLength = 6

/** Redacts the URL, or its signature alone. */
export const redactOf = (address: string): Redaction.Redact => {
  const { href, password, pathname, search, searchParams, username } = new URL(address)
  return Redaction.make(() => [
    search === "" ? href : search,
    ...[username, password, ...pathname.split("/"), ...searchParams.values()]
      .filter(({ length }) => length >= leastSecretLength)
  ])
}

const errorOf = (
  operation: string,
  failure: AttemptFailure.Exchanged,
  redact: Redaction.Redact
): Errors.TransportFailure => {
  if (failure._tag !== "Unanswered") {
    const reason = failure._tag === "Unreadable" ? failure.reason : "the response cannot be read"
    return new Errors.TransportFailure({ operation, phase: "body", reason: redact(reason) })
  }
  const { cause, message, phase, timeout } = failure
  return new Errors.TransportFailure({
    operation,
    phase,
    timeout,
    reason: redact(message),
    cause: Redaction.within(cause, redact)
  })
}
