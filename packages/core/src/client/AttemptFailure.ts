/**
 * What became of an attempt that did not succeed, and what follows from it: whether it may have taken effect, and whether
 * the same request may be sent again.
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

/** An attempt that did not succeed. */
export type Failure = Exchanged | Withheld

/** What an exchange with the service can come to. */
export type Exchanged = Refused | Unreadable | Unanswered

interface Attempted {
  /** The request that failed: that of the call, or the one that looks up its user. */
  readonly prepared: Prepared
  /** The header of the request, whose signature must not be told. */
  readonly authorization: string | undefined
}

/** The service answered, and not with success. */
export interface Refused extends Attempted {
  readonly _tag: "Refused"
  readonly response: Pick<HttpClientResponse, "headers" | "request" | "status">
  /** Empty where the body cannot be read. */
  readonly text: string
  /** Whether it was the clock of this machine, which is corrected by now. */
  readonly isOfClock: boolean
}

/** Success, of which no more can be made. */
export interface Unreadable extends Attempted {
  readonly _tag: "Unreadable"
  readonly response: HttpClientResponse
  readonly text: string
  readonly reason: string
}

/** No answer came, or not the whole of it. */
export interface Unanswered extends Attempted, Loss {
  readonly _tag: "Unanswered"
  readonly timeout: keyof Timeouts.Limits | undefined
  /** The status and headers with which the service accepted the request, where only the body was lost. */
  readonly accepted: ResponseHead | undefined
  /** In the words of the transport. */
  readonly said: string
  readonly cause: unknown
}

/** The rate limit or that of spending let nothing leave, or there was no credential. */
export interface Withheld extends Attempted {
  readonly _tag: "Withheld"
  readonly error: RateLimitWaitTooLong | SpendLimitReached | CredentialsError
}

/** Whether the service does not accept the credential. */
export const isOfToken = (failure: Failure): boolean => failure._tag === "Refused" && failure.response.status === 401

/** Whether the attempt may have taken effect. */
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

/** Whether the same request may be sent again. A create may be where nothing of it left. */
export const mayRepeat = (failure: Failure): boolean => {
  const isCreate = failure.prepared.effect === "create"
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

/** A status, `timeout`, or the phase in which the connection was lost: what a retry is for. */
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

/** The milliseconds that the service asked to wait. */
export const asked = (failure: Failure): number | undefined =>
  failure._tag === "Refused" && failure.response.status === 503 ? retryAfterOf(failure.response.headers) : undefined

/** A failure of the service that may pass: not one that it does not know the method. */
const isOfServer = (status: number): boolean => status >= 500 && status !== 501

/**
 * Whether a status other than success leaves open that the request took effect. A service or a gateway that fails (5xx) or runs
 * out of time (408) may have passed it on, and a form that was processed is often answered with 302 or 303.
 */
export const leavesOpen = (status: number): boolean =>
  isOfServer(status) || status === 408 || status === 302 || status === 303

/** What an error of the transport means. */
export const ofTransport = (
  error: HttpClientError & { readonly [Transport.head]?: ResponseHead },
  prepared: Prepared,
  authorization: string | undefined
): Exchanged => {
  const { [Transport.head]: head, reason } = error
  if (reason._tag === "DecodeError") {
    // The answer came, but is too long or not compressed as it says.
    const { cause, response } = reason
    const answer = { prepared, authorization, response, text: "" }
    if (response.status >= 300) return { _tag: "Refused", ...answer, isOfClock: false }
    return { _tag: "Unreadable", ...answer, reason: messageOf(cause) ?? reason._tag }
  }
  // It did not happen, whatever the rest would have said. What is no create is asked again, and then for the rest as well.
  if (prepared.effect === "create" && head !== undefined && head.status >= 300 && !leavesOpen(head.status)) {
    const { headers, status } = head
    const response = { headers, status, request: reason.request }
    return { _tag: "Refused", prepared, authorization, response, text: "", isOfClock: false }
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
    said: messageOf(cause) ?? reason._tag,
    cause: timedOut === undefined ? cause : undefined
  }
}

/** What it means that time is up before anything could be sent. */
export const ofTimeout = (late: Timeouts.TimedOut, prepared: Prepared): Unanswered => ({
  _tag: "Unanswered",
  prepared,
  authorization: undefined,
  phase: "connect",
  sent: false,
  isFinal: true,
  accepted: undefined,
  timeout: late.limit,
  said: late.message,
  cause: undefined
})

/** What it means that there is no credential. */
export const ofCredentials = (prepared: Prepared) => (error: CredentialsError): Withheld => ({
  _tag: "Withheld",
  prepared,
  authorization: undefined,
  error
})

/** What a transport tells of a request without an answer. */
export interface Signs {
  /** The platform's code, such as `ECONNRESET`; empty without one. */
  readonly code: string
  /** Whether anything left, where the transport knows. */
  readonly sent: boolean | undefined
  /** How far it got, where the transport knows. */
  readonly phase: TransportFailure["phase"] | undefined
  /** Whether a limit of ours was reached. */
  readonly isTimedOut: boolean
}

/** What follows from that. */
export interface Loss {
  readonly phase: TransportFailure["phase"]
  /** Whether any of the request may have reached the service. */
  readonly sent: boolean
  /** Whether trying again is of no use. */
  readonly isFinal: boolean
}

/** The other side is not who it should be, which is known before anything leaves: no retry changes that. */
const untrusted =
  /^(ERR_TLS_CERT_|CERT_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET|DECRYPT|DECODE)_|CRL_|INVALID_(CA|PURPOSE)$|HOSTNAME_MISMATCH$)/

/** No one can be talked to, or the answer was broken on its way: the code alone does not tell. */
const tls = /^(ERR_TLS_|ERR_SSL_|EPROTO$)/

/** There was no connection. */
const unconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

interface Cause {
  readonly when: (signs: Signs) => boolean
  readonly phase: TransportFailure["phase"] | "told"
  readonly sent: boolean
  readonly isFinal?: true
}

/**
 * The causes, the first that fits first. Only what is known to have kept all of a request back makes it unsent: otherwise a
 * create may have happened.
 */
export const causes = {
  "the transport saw it leave": { when: ({ sent }) => sent === true, phase: "told", sent: true },
  "refused in the handshake": {
    when: ({ code, sent }) => sent === false && (untrusted.test(code) || tls.test(code)),
    phase: "tls",
    sent: false,
    isFinal: true
  },
  "the transport kept it back": { when: ({ sent }) => sent === false, phase: "told", sent: false },
  "a certificate that is not trusted": {
    when: ({ code }) => untrusted.test(code),
    phase: "tls",
    sent: false,
    isFinal: true
  },
  "TLS, before or after it left": { when: ({ code }) => tls.test(code), phase: "tls", sent: true, isFinal: true },
  "late while connecting": {
    when: ({ isTimedOut, phase }) => isTimedOut && phase === "connect",
    phase: "connect",
    sent: false
  },
  "late later": { when: ({ isTimedOut }) => isTimedOut, phase: "told", sent: true },
  "no connection": { when: ({ code }) => unconnected.test(code), phase: "told", sent: false },
  "anything else": { when: () => true, phase: "told", sent: true }
} as const satisfies Readonly<Record<string, Cause>>

/** What the signs mean: the first cause that fits. */
export const lossOf = (signs: Signs): Loss => {
  for (const cause of Object.values<Cause>(causes)) {
    if (!cause.when(signs)) continue
    const { isFinal = false, phase, sent } = cause
    return { phase: phase === "told" ? signs.phase ?? (sent ? "unknown" : "connect") : phase, sent, isFinal }
  }
  // The last one fits everything.
  return { phase: "unknown", sent: true, isFinal: false }
}

const phases: ReadonlyArray<unknown> = ["connect", "send", "headers", "body"]

const isPhase = (phase: unknown): phase is Exclude<TransportFailure["phase"], "tls" | "unknown"> =>
  phases.includes(phase)

/** The limits that the connections of Undici have of their own. */
const timeoutOf: Readonly<Record<string, keyof Timeouts.Limits>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "firstByte",
  UND_ERR_BODY_TIMEOUT: "idle"
}

export const messageOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "message") ? String(cause.message) : undefined
