/** How long the phases of a call may take, and how a transport tells how far it is. */
import * as Context from "effect/Context"
import * as Predicate from "effect/Predicate"

/** What a call may wait for rate limits in all, beside these times, unless a setting says otherwise. */
export const defaultMaxWaitMillis = 1_200_000

/** Times in milliseconds; 0 turns one off. */
export interface Timeouts {
  /**
   * For DNS, TCP and TLS together. Default 10 seconds. A setting of a client only, for a connection serves many calls; a
   * transport that does not tell when it is connected counts it as part of `firstByte`.
   */
  readonly connect?: number | undefined
  /**
   * From sending the request to the headers of the response. Default 30 seconds. Where the request holds a file, from the end
   * of the file; a transport that does not tell when that is has one second more for each 64 KiB.
   */
  readonly firstByte?: number | undefined
  /** Between two pieces of a body, that of the response or that of a file. Default 30 seconds. */
  readonly idle?: number | undefined
  /** For a whole call: every try and the pauses between them, but not what it waits for a rate limit. Default 2 minutes. */
  readonly total?: number | undefined
}

/** Every time, in milliseconds; `Infinity` where there is no limit. */
export type Limits = { readonly [K in keyof Timeouts]-?: number }

const defaults: Limits = { connect: 10_000, firstByte: 30_000, idle: 30_000, total: 120_000 }

/** What a timeout must be, in words. */
export const timeoutRule =
  "must be a number of milliseconds above 0, or an object with connect, firstByte, idle and total, each from 0 (off)"

/** Fills in what is left out; a number is the total. `undefined` where it breaks the rule. */
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

/** How far an exchange has come: `send` is for the pieces of a file. */
export type Phase = "connect" | "send" | "headers" | "body"

/**
 * Where a transport tells how far it is. One that does has `Transport.tells` among its properties, reads whole bodies and caps
 * them.
 */
export interface Progress {
  /** The longest body in bytes, after decompression. */
  readonly maxBodySize: number
  /** The exchange begins, in the phase `connect`, whose time is for the transport to limit; `fail` gives it up. */
  readonly started: (fail: (reason: TimedOut) => void) => void
  /** A phase begins; for `send` and `body`, another piece has gone or come. */
  readonly reached: (phase: Phase) => void
  /** The exchange is over, in whatever way. */
  readonly ended: () => void
}

/** The exchange that the fiber's request belongs to, for transports that can tell how far they are. */
export const Progress = Context.Reference<Progress | undefined>("@postwire/core/http/Transport/Progress", {
  defaultValue: () => undefined
})

/** A limit was reached; the request was given up. It is the `cause` of a `TransportError`. */
export class TimedOut {
  readonly limit: keyof Limits
  readonly phase: Phase
  readonly message: string
  constructor(limit: keyof Limits, phase: Phase, millis: number) {
    this.limit = limit
    this.phase = phase
    const what = limit === "idle" && phase === "send" ? "nothing more of the request was taken" : timedOut[limit]
    this.message = `${what} within ${Math.ceil(millis)} ms`
  }
}

const timedOut: Readonly<Record<keyof Limits, string>> = {
  connect: "there was no connection",
  firstByte: "the response did not begin",
  idle: "nothing more of the body came",
  total: "the call did not end"
}
