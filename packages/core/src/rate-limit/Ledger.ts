import type { Figures } from "../schema/RateLimitHeaders.ts"
/**
 * The state of one rate limit, and the rules of every store: a request is granted if it fits, and every response updates the state.
 * Pure, except that the functions change the ledger they are given.
 */

/** The outcome of a request. */
export interface Report {
  /** True if the service counted it. A gateway's response without rate limit headers does not show that, unless it is a success. */
  readonly answered: boolean
  readonly figures?: Figures | undefined
  /** Milliseconds without further requests, because the service refused this one: with figures, despite requests remaining. */
  readonly pause?: number | undefined
  /** Milliseconds to the next request of a paced operation, if the pace counts from the response. */
  readonly next?: number | undefined
  /** The queue that has become empty. */
  readonly emptied?: string | undefined
}

/** The position of a caller. A caller without one has just arrived, and is not remembered when it has to wait. */
export interface Place {
  /** The queue that it is the head of: each process has one per ledger. */
  readonly line: string
  /** The number of callers in that queue, including it. */
  readonly callers: number
  /** Milliseconds since it arrived. */
  readonly waited: number
  /** Milliseconds that it can wait for the store; after that, the process decides alone. Default: as long as the store may take. */
  readonly patience?: number | undefined
}

/**
 * The reason why a request has to wait: the rate limit is exhausted, a refusal demanded it, the pace, requests in flight, or
 * earlier callers in other processes.
 */
export type Reason = "window" | "refusal" | "pace" | "in flight" | "turn"

/** The decision about a request. A refused one is repeated after at most `millis`. */
export type Decision =
  | {
    readonly granted: true
    /** The number of requests refused in a row before this one, not counting an exhausted rate limit. */
    readonly refusals: number
    /** The number of these with requests remaining. */
    readonly briefs: number
  }
  | { readonly granted: false; readonly reason: Reason; readonly millis: number }

/** The known state of one rate limit. A window that has reset is unknown. */
export interface Reading {
  readonly window: Figures | undefined
  readonly inFlight: number
}

/** Lifetimes of what a store knows, in milliseconds. */
export const millisOf = {
  /** A request in flight counts for this long; then its process is assumed dead. */
  lease: 30_000,
  /** The time for which others wait for the request that probes an unknown window. */
  probe: 5_000,
  /** A service that announces nothing is assumed to have no limit for this long. A series of refusals is remembered as long. */
  silence: 60_000,
  /** The polling interval while requests are in flight, or others are served. */
  poll: 25,
  /** The longest sleep before asking again: the store may have learned more. */
  recheck: 60_000,
  /**
   * Callers that arrive within this time of each other are served in any order, so that none waits for a message from another.
   * A caller that is late by this much has lost its turn: its process is assumed dead.
   */
  turn: 2_000,
  /** No window resets later: the longest window of the service, plus the delay of clocks and responses. */
  longest: 965_000,
  /** A ledger written this much later than now comes from a wrong clock. */
  skew: 2_000
} as const

/** The head of a queue that waits. */
export interface Ticket {
  /** The time of its arrival. */
  readonly arrived: number
  readonly callers: number
  /** The time of its next attempt. */
  readonly due: number
}

/** The state of one rate limit. Times are milliseconds of the store's clock; 0 is never. */
export interface Ledger {
  /** The time of the last change. */
  at: number
  limit: number | undefined
  remaining: number
  /** The reset as the service wrote it, and by the store's clock. */
  window: number
  end: number
  /** The time at which this window was first announced. */
  since: number
  /** A refusal demanded a pause until then; after it, single requests probe until one succeeds. */
  refusedUntil: number
  /** Refusals in a row that demanded a pause. */
  refusals: number
  /** The number of these whose response announced requests remaining: they are about a short limit. */
  briefs: number
  silentUntil: number
  /** The earliest time of the next request of a paced operation. */
  next: number
  /** The request that probes an unknown window, and the time until which others wait for it. */
  probe: string
  probeUntil: number
  /** The requests in flight and their expiry, oldest first. */
  readonly leases: Map<string, number>
  /** The queues in which callers wait. */
  readonly waiting: Map<string, Ticket>
}

/** A ledger that knows nothing. */
export const empty = (): Ledger => ({
  at: 0,
  limit: undefined,
  remaining: 0,
  window: 0,
  end: 0,
  since: 0,
  refusedUntil: 0,
  refusals: 0,
  briefs: 0,
  silentUntil: 0,
  next: 0,
  probe: "",
  probeUntil: 0,
  leases: new Map(),
  waiting: new Map()
})

/** A ledger as text. */
export const toText = (ledger: Ledger): string =>
  JSON.stringify({ ...ledger, leases: [...ledger.leases], waiting: [...ledger.waiting] })

/**
 * The ledger of a text of {@link toText}. A ledger from the future, written before the clock was set back, is discarded: requests
 * would wait until then.
 */
export const fromText = (text: string, now: number): Ledger => {
  if (text === "") return empty()
  const { leases, waiting, ...rest } = JSON.parse(text)
  const ledger: Ledger = { ...rest, leases: new Map(leases), waiting: new Map(waiting) }
  return ledger.at > now + millisOf.skew || ledger.end > now + millisOf.longest ? empty() : ledger
}

/** The time until which a store has to keep a ledger. */
export const keepUntil = ({ at, end, next, refusedUntil }: Ledger): number =>
  Math.max(at + millisOf.silence, end, next, refusedUntil + millisOf.silence)

const wait = (reason: Reason, millis: number): Decision => ({ granted: false, reason, millis: Math.ceil(millis) })

/**
 * The rule of every store: grants a request if it fits into the rate limit, assuming that none in flight is counted yet and that
 * callers which arrived clearly earlier are served first.
 */
export const reserve = (ledger: Ledger, now: number, lease: string, pace: number, place?: Place): Decision => {
  ledger.at = now
  for (const [id, lapses] of ledger.leases) {
    if (lapses > now) break
    ledger.leases.delete(id)
  }
  const decision = decide(ledger, now, lease, pace, place)
  if (place === undefined) return decision
  const { callers, line, waited } = place
  if (!decision.granted) {
    ledger.waiting.set(line, { arrived: now - waited, callers, due: now + Math.min(decision.millis, millisOf.recheck) })
  } else if (callers > 1) {
    // The next of the queue will ask immediately.
    ledger.waiting.set(line, { arrived: now - waited, callers: callers - 1, due: now })
  } else {
    ledger.waiting.delete(line)
  }
  return decision
}

const decide = (ledger: Ledger, now: number, lease: string, pace: number, place: Place | undefined): Decision => {
  if (ledger.refusedUntil > now) return wait("refusal", ledger.refusedUntil - now)
  const isKnown = now < ledger.end
  const isProbe = ledger.refusedUntil > 0 || (!isKnown && now >= ledger.silentUntil)
  if (isKnown && ledger.remaining < 1) return wait("window", ledger.end - now)
  const room = isKnown ? ledger.remaining - ledger.leases.size : Infinity
  if ((isProbe && ledger.probeUntil > now) || room < 1) return wait("in flight", millisOf.poll)
  if (ledger.next > now && pace > 0) return wait("pace", ledger.next - now)
  if (ahead(ledger, now, place) >= (isProbe || pace > 0 ? 1 : room)) return wait("turn", millisOf.poll)
  if (isProbe) {
    ledger.probe = lease
    ledger.probeUntil = now + millisOf.probe
  }
  if (pace > 0) ledger.next = now + pace
  ledger.leases.set(lease, now + millisOf.lease)
  if (now >= ledger.refusedUntil + millisOf.silence) ledger.refusals = ledger.briefs = 0
  return { granted: true, refusals: ledger.refusals, briefs: ledger.briefs }
}

/** The number of callers that arrived clearly earlier and are about to ask. */
const ahead = (ledger: Ledger, now: number, place: Place | undefined): number => {
  let sum = 0
  for (const [line, { arrived, callers, due }] of ledger.waiting) {
    if (due + millisOf.turn <= now) ledger.waiting.delete(line)
    else if (
      line !== place?.line && due <= now + millisOf.turn && arrived + millisOf.turn < now - (place?.waited ?? 0)
    ) {
      sum += callers
    }
  }
  return sum
}

/** The rule of every store: updates the ledger with the outcome of a request. */
export const settle = (
  ledger: Ledger,
  now: number,
  lease: string,
  { answered, emptied, figures, next = 0, pause }: Report
): void => {
  ledger.at = now
  if (emptied !== undefined) ledger.waiting.delete(emptied)
  const lapses = ledger.leases.get(lease)
  const sent = lapses === undefined ? 0 : lapses - millisOf.lease
  ledger.leases.delete(lease)
  if (ledger.probe === lease) {
    ledger.probe = ""
    ledger.probeUntil = 0
  }
  ledger.next = Math.max(ledger.next, now + next)
  // One refusal counts of requests that were sent together.
  const isAfterwards = sent >= ledger.refusedUntil
  if (pause !== undefined) {
    if (isAfterwards) ledger.refusals++
    if (isAfterwards && figures !== undefined) ledger.briefs++
    ledger.refusedUntil = Math.max(ledger.refusedUntil, now + pause)
  } else if (answered && isAfterwards) {
    ledger.refusedUntil = 0
    ledger.refusals = ledger.briefs = 0
  }
  if (figures === undefined) {
    if (answered && pause === undefined) ledger.silentUntil = now + millisOf.silence
    return
  }
  learn(ledger, now, sent, figures)
}

/** Updates the ledger with the announcement in a response to a request sent at `sent`. */
export const learn = (ledger: Ledger, now: number, sent: number, figures: Figures): void => {
  const end = now + figures.endsIn
  if (Math.abs(figures.window - ledger.window) <= 1) {
    ledger.remaining = Math.min(ledger.remaining, figures.remaining)
    // Dates are whole seconds and responses take time, so the earliest reset is the most exact.
    if (end < ledger.end || (now >= ledger.end && sent >= ledger.end)) ledger.end = end
  } else if (figures.window > ledger.window || sent > ledger.since) {
    ledger.limit = figures.limit
    ledger.remaining = figures.remaining
    ledger.window = figures.window
    ledger.end = end
    ledger.since = now
  }
}

/** The state of a ledger at a time. */
export const read = (ledger: Ledger, now: number): Reading => {
  let inFlight = 0
  for (const lapses of ledger.leases.values()) if (lapses > now) inFlight++
  const { end, limit, remaining } = ledger
  return {
    window: now < end ? { limit, remaining, window: ledger.window, endsIn: end - now } : undefined,
    inFlight
  }
}
