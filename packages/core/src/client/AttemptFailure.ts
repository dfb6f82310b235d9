/**
 * The outcome of a failed attempt, and its consequences: whether it may have taken effect, and whether the same request may be
 * retried.
 */
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import type { CredentialsError, RateLimitWaitTooLong, SpendLimitReached, TransportFailure } from "../errors/Errors.ts"
import * as Timeouts from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import { retryAfterOf } from "../schema/RateLimitHeaders.ts"
import type { ResponseHead } from "../schema/RateLimitHeaders.ts"
import type { Prepared } from "../wire/RequestEncoder.ts"

/** A failed attempt. */
export type Failure = Exchanged | Withheld

/** The failures of an exchange with the service. */
export type Exchanged = Refused | Unreadable | Unanswered

interface Attempted {
  /** The failed request: that of the call, or the lookup of its user. */
  readonly prepared: Prepared
  /** The header of the request, whose signature must be redacted. */
  readonly authorization: string | undefined
}

/** A response with a status other than success. */
export interface Refused extends Attempted {
  readonly _tag: "Refused"
  readonly response: Pick<HttpClientResponse, "headers" | "request" | "status">
  /** Empty if the body cannot be read. */
  readonly text: string
  /** True if this machine's clock was the reason; its offset is corrected by now. */
  readonly isClockSkew: boolean
}

/** A 2xx whose body cannot be decoded. */
export interface Unreadable extends Attempted {
  readonly _tag: "Unreadable"
  readonly response: HttpClientResponse
  readonly text: string
  readonly reason: string
}

/** No response, or an incomplete one. */
export interface Unanswered extends Attempted, Loss {
  readonly _tag: "Unanswered"
  readonly timeout: keyof Timeouts.Limits | undefined
  /** The status and headers with which the service accepted the request, if only the body was lost. */
  readonly accepted: ResponseHead | undefined
  /** The transport's message. */
  readonly message: string
  readonly cause: unknown
}

/** Nothing was sent, because of the rate limit, the spend limit or a missing credential. */
export interface Withheld extends Attempted {
  readonly _tag: "Withheld"
  readonly error: RateLimitWaitTooLong | SpendLimitReached | CredentialsError
}

/** Tests whether the service refused the credential. */
export const isUnauthorized = (failure: Failure): boolean =>
  failure._tag === "Refused" && failure.response.status === 401

/** Tests whether the attempt may have taken effect. */
export const mayHaveApplied = (failure: Failure): boolean => {
  switch (failure._tag) {
    case "Refused":
      return leavesOpen(failure.response.status)
    case "Unreadable":
      return true
    case "Unanswered":
      return failure.sent
    case "Withheld":
      return false
  }
}

/** Tests whether the same request may be retried. A create may be if nothing of it was sent, or if it has a key. */
export const mayRepeat = (failure: Failure): boolean => {
  const isCreate = failure.prepared.effect === "create" && !failure.prepared.isKeyed
  switch (failure._tag) {
    case "Refused":
      return isOfServer(failure.response.status) && !isCreate
    case "Unanswered":
      // After the total, there is no time left.
      return !failure.isFinal && failure.timeout !== "total" && !(isCreate && failure.sent)
    default:
      return false
  }
}

/** The reason for a retry: a status, `timeout`, or the phase in which the connection was lost. */
export const label = (failure: Failure): string => {
  switch (failure._tag) {
    case "Refused":
      return String(failure.response.status)
    case "Unanswered":
      return failure.timeout === undefined ? failure.phase : "timeout"
    case "Unreadable":
      return failure.reason
    case "Withheld":
      return failure.error._tag
  }
}

/** The milliseconds of a 503's `retry-after`. */
export const retryAfter = (failure: Failure): number | undefined =>
  failure._tag === "Refused" && failure.response.status === 503 ? retryAfterOf(failure.response.headers) : undefined

/** Tests for a failure of the service that may be temporary: 501 (unknown method) is not. */
const isOfServer = (status: number): boolean => status >= 500 && status !== 501

/**
 * Tests whether a request with this status, which is no success, may have taken effect. A service or a gateway that fails (5xx)
 * or times out (408) may have passed it on, and 302 or 303 often follow a processed form.
 */
export const leavesOpen = (status: number): boolean =>
  isOfServer(status) || status === 408 || status === 302 || status === 303

/** The failure that a transport error means. */
export const ofTransport = (
  error: HttpClientError & { readonly [Transport.head]?: ResponseHead },
  prepared: Prepared,
  authorization: string | undefined
): Exchanged => {
  const { [Transport.head]: head, reason } = error
  if (reason._tag === "DecodeError") {
    // A response arrived, but is too long or not compressed as declared.
    const { cause, response } = reason
    const answer = { prepared, authorization, response, text: "" }
    if (response.status >= 300) return { _tag: "Refused", ...answer, isClockSkew: false }
    return { _tag: "Unreadable", ...answer, reason: messageOf(cause) ?? reason._tag }
  }
  // The create did not happen, whatever the lost body contains. Other requests are retried to get the body.
  if (prepared.effect === "create" && head !== undefined && head.status >= 300 && !leavesOpen(head.status)) {
    const { headers, status } = head
    const response = { headers, status, request: reason.request }
    return { _tag: "Refused", prepared, authorization, response, text: "", isClockSkew: false }
  }
  const cause = "cause" in reason ? reason.cause : undefined
  const code = Transport.codeOf(cause)
  const timedOut = cause instanceof Timeouts.TimedOut ? cause : undefined
  const loss = lossOf({
    code: code ?? "",
    sent: Predicate.hasProperty(cause, "requestSent") && Predicate.isBoolean(cause.requestSent)
      ? cause.requestSent
      : undefined,
    phase: Predicate.hasProperty(cause, "phase") && isPhase(cause.phase) ? cause.phase : undefined,
    isTimedOut: timedOut !== undefined
  })
  return {
    _tag: "Unanswered",
    prepared,
    authorization,
    ...loss,
    isFinal: loss.isFinal || reason._tag !== "TransportError",
    accepted: head !== undefined && head.status < 300 ? head : undefined,
    timeout: timedOut?.limit ?? (code === undefined ? undefined : timeoutOf[code]),
    message: messageOf(cause) ?? reason._tag,
    cause: timedOut === undefined ? cause : undefined
  }
}

/** The failure of a call whose time is up before anything was sent. */
export const ofTimeout = (late: Timeouts.TimedOut, prepared: Prepared): Unanswered => ({
  _tag: "Unanswered",
  prepared,
  authorization: undefined,
  phase: "connect",
  sent: false,
  isFinal: true,
  accepted: undefined,
  timeout: late.limit,
  message: late.message,
  cause: undefined
})

/** The failure of a call without a credential. */
export const ofCredentials = (prepared: Prepared) => (error: CredentialsError): Withheld => ({
  _tag: "Withheld",
  prepared,
  authorization: undefined,
  error
})

/** The facts that a transport reports about a request without a response. */
export interface Signs {
  /** The platform's code, such as `ECONNRESET`; empty without one. */
  readonly code: string
  /** True if anything was sent, if the transport knows. */
  readonly sent: boolean | undefined
  /** The phase it reached, if the transport knows. */
  readonly phase: TransportFailure["phase"] | undefined
  /** True if one of our timeouts was reached. */
  readonly isTimedOut: boolean
}

/** The consequences of a lost request. */
export interface Loss {
  readonly phase: TransportFailure["phase"]
  /** True if any of the request may have reached the service. */
  readonly sent: boolean
  /** True if a retry cannot help. */
  readonly isFinal: boolean
}

/** Codes of an untrusted server certificate, which is detected before anything is sent; retries cannot help. */
const untrusted =
  /^(ERR_TLS_CERT_|CERT_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET|DECRYPT|DECODE)_|CRL_|INVALID_(CA|PURPOSE)$|HOSTNAME_MISMATCH$)/

/** Codes of TLS failures, before or after the request was sent: the code does not distinguish them. */
const tls = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/

/** Codes of failed connections. */
const unconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

interface Cause {
  readonly when: (signs: Signs) => boolean
  readonly phase: TransportFailure["phase"] | "reported"
  readonly sent: boolean
  readonly isFinal?: true
}

/**
 * The causes of a loss, of which the first match applies. A request counts as unsent only if that is certain: otherwise a create
 * may have happened.
 */
export const causes = {
  "reported as sent by the transport": { when: ({ sent }) => sent === true, phase: "reported", sent: true },
  "refused in the handshake": {
    when: ({ code, sent }) => sent === false && (untrusted.test(code) || tls.test(code)),
    phase: "tls",
    sent: false,
    isFinal: true
  },
  "reported as unsent by the transport": { when: ({ sent }) => sent === false, phase: "reported", sent: false },
  "an untrusted certificate": {
    when: ({ code }) => untrusted.test(code),
    phase: "tls",
    sent: false,
    isFinal: true
  },
  "TLS, before or after sending": { when: ({ code }) => tls.test(code), phase: "tls", sent: true, isFinal: true },
  "timed out while connecting": {
    when: ({ isTimedOut, phase }) => isTimedOut && phase === "connect",
    phase: "connect",
    sent: false
  },
  "timed out later": { when: ({ isTimedOut }) => isTimedOut, phase: "reported", sent: true },
  "no connection": { when: ({ code }) => unconnected.test(code), phase: "reported", sent: false },
  "anything else": { when: () => true, phase: "reported", sent: true }
} as const satisfies Readonly<Record<string, Cause>>

/** The consequences of the first cause that matches. */
export const lossOf = (signs: Signs): Loss => {
  for (const cause of Object.values<Cause>(causes)) {
    if (!cause.when(signs)) continue
    const { isFinal = false, phase, sent } = cause
    return { phase: phase === "reported" ? signs.phase ?? (sent ? "unknown" : "connect") : phase, sent, isFinal }
  }
  // Unreachable: the last cause matches everything.
  return { phase: "unknown", sent: true, isFinal: false }
}

const phases: ReadonlyArray<unknown> = ["connect", "send", "headers", "body"]

const isPhase = (phase: unknown): phase is Exclude<TransportFailure["phase"], "tls" | "unknown"> =>
  phases.includes(phase)

/** The timeouts of Undici's own connections. */
const timeoutOf: Readonly<Record<string, keyof Timeouts.Limits>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "firstByte",
  UND_ERR_BODY_TIMEOUT: "idle"
}

export const messageOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "message") ? String(cause.message).replace(openssl, "$1") : undefined

/** The places in its sources that OpenSSL puts around the reason. */
const openssl = /[0-9A-F]{8,32}:error:[^:]*:[^:]*:[^:]*:([^:]*):[^]*/
