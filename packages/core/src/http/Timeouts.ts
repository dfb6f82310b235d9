/** The timeouts of a call, and how a transport reports its progress. */
import * as Context from "effect/Context"
import * as Predicate from "effect/Predicate"

/** The default maximum time that a call waits for rate limits in total, in addition to these timeouts. */
export const defaultMaxWaitMillis = 1_200_000

/** Timeouts in milliseconds; 0 turns one off. */
export interface Timeouts {
  /**
   * For DNS, TCP and TLS together. Default 10 seconds. Only a setting of clients, since a connection serves many calls; if a
   * transport does not report that it is connected, this time counts towards `firstByte`.
   */
  readonly connect?: number | undefined
  /**
   * From sending the request to the headers of the response. Default 30 seconds. For a request with a file, from the end of the
   * file; if a transport does not report that end, one second is added per 64 KiB.
   */
  readonly firstByte?: number | undefined
  /** Between two pieces of a body, of the response or of a file. Default 30 seconds. */
  readonly idle?: number | undefined
  /** For a whole call: all attempts and the pauses between them, but not waiting for a rate limit. Default 2 minutes. */
  readonly total?: number | undefined
}

/** Every timeout in milliseconds; `Infinity` if there is none. */
export type Limits = { readonly [K in keyof Timeouts]-?: number }

const defaults: Limits = { connect: 10_000, firstByte: 30_000, idle: 30_000, total: 120_000 }

/** The rule for a timeout. */
export const timeoutRule =
  "must be a number of milliseconds above 0, or an object with connect, firstByte, idle and total, each from 0 (off)"

/** Fills in defaults; a number is the total. `undefined` if it breaks the rule. */
export const limitsOf = (timeout: number | Timeouts | undefined, otherwise: Limits = defaults): Limits | undefined => {
  if (timeout === undefined) return otherwise
  if (typeof timeout === "number") return timeout > 0 ? { ...otherwise, total: timeout } : undefined
  if (!Predicate.isObject(timeout)) return undefined
  const limits: { -readonly [K in keyof Limits]: Limits[K] } = { ...otherwise }
  for (const [name, millis] of Object.entries(timeout)) {
    if (!isName(name)) return undefined
    if (millis === undefined) continue
    if (typeof millis !== "number" || !(millis >= 0)) return undefined
    limits[name] = millis === 0 ? Infinity : millis
  }
  return limits
}

const isName = (name: string): name is keyof Limits => Object.hasOwn(defaults, name)

/** The phase of an exchange: `send` is for the pieces of a file. */
export type Phase = "connect" | "send" | "headers" | "body"

/**
 * Receives the progress of a transport. A transport that reports its progress has the property `Transport.reports`, reads
 * whole bodies and limits their size.
 */
export interface Progress {
  /** The maximum size of a body in bytes, after decompression. */
  readonly maxBodySize: number
  /** The exchange starts, in the phase `connect`, whose timeout the transport enforces; `fail` aborts it. */
  readonly started: (fail: (reason: TimedOut) => void) => void
  /** A phase starts; for `send` and `body`, another piece was sent or received. */
  readonly reached: (phase: Phase) => void
  /** The exchange is over, successfully or not. */
  readonly ended: () => void
}

/** The exchange of the fiber's request, for transports that can report their progress. */
export const Progress = Context.Reference<Progress | undefined>("@postwire/core/http/Transport/Progress", {
  defaultValue: () => undefined
})

/** A timeout was reached and the request was aborted. It is the `cause` of a `TransportError`. */
export class TimedOut {
  readonly limit: keyof Limits
  readonly phase: Phase
  readonly message: string
  constructor(limit: keyof Limits, phase: Phase, millis: number) {
    this.limit = limit
    this.phase = phase
    const what = limit === "idle" && phase === "send" ? "no more of the request was accepted" : timedOut[limit]
    this.message = `${what} within ${Math.ceil(millis)} ms`
  }
}

const timedOut: Readonly<Record<keyof Limits, string>> = {
  connect: "there was no connection",
  firstByte: "the response did not start",
  idle: "no more of the body was received",
  total: "the call did not end"
}
