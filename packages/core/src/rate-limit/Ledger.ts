import type { Figures } from "../schema/RateLimitHeaders.ts"
/**
 * What is known of one budget, and the rules of every store: a request is granted if it fits, and every answer is learnt
 * from. Pure, but for the ledger itself.
 */

/** What became of a request. */
export interface Report {
  /** Whether the service took note of it. What a gateway says, without a budget, is no sign of that unless it is a success. */
  readonly answered: boolean
  readonly figures?: Figures | undefined
  /** Milliseconds in which no other request may follow, because the service refused this one. */
  readonly pause?: number | undefined
  /** Milliseconds to the next request of a paced operation, where the pace counts from the answer. */
  readonly next?: number | undefined
  /** The line in which nobody waits any more. */
  readonly emptied?: string | undefined
}

/** Where a caller stands. Without a place it has come this moment, and is not remembered when it has to wait. */
export interface Place {
  /** The line that it is the first of: each process has one for each ledger. */
  readonly line: string
  /** How many stand in that line, it included. */
  readonly callers: number
  /** Milliseconds since it came. */
  readonly waited: number
  /** Milliseconds that it can wait for the store to answer; afterwards the process decides by itself. Default: as long as the store may take. */
  readonly patience?: number | undefined
}

/**
 * Why a request has to wait: the window is spent, a refusal asked for it, the pace, requests in flight, or the turn of
 * callers of other processes who came before.
 */
export type Reason = "window" | "refusal" | "pace" | "in flight" | "turn"

/** Whether a request may be sent. If not, it asks again after at most so many milliseconds. */
export type Decision =
  | {
    readonly granted: true
    /** How many requests were refused in a row before this one, for another reason than a spent window. */
    readonly refusals: number
  }
  | { readonly granted: false; readonly reason: Reason; readonly millis: number }

/** What a store knows of one budget. A window that has ended says nothing any more. */
export interface Reading {
  readonly window: Figures | undefined
  readonly inFlight: number
}

/** How long stores believe things, in milliseconds. */
export const millisOf = {
  /** A request in flight counts for so long; then its process is taken for dead. */
  lease: 30_000,
  /** So long others wait for the one that asks about an unknown window. */
  probe: 5_000,
  /** So long a service that announces nothing is taken to have no limit, and a row of refusals is remembered. */
  silence: 60_000,
  /** How soon to ask again while requests are in flight, or others are served. */
  poll: 25,
  /** Who sleeps longer asks again after so long, for the store may have learnt better. */
  recheck: 60_000,
  /**
   * Who came within so long of each other are served in any order, so that none of them waits for a message of another.
   * Who asks so much later than it was to has lost its turn: its process is taken for dead.
   */
  turn: 2_000,
  /** No window ends later than so: the longest of the service, and what clocks and answers are late. */
  longest: 965_000,
  /** A ledger written so much later than now comes from a clock that was wrong. */
  skew: 2_000
} as const

/** The first of a line that waits. */
export interface Ticket {
  /** When it came. */
  readonly arrived: number
  readonly callers: number
  /** When it is to ask again. */
  readonly due: number
}

/** What is known of one budget. Times are milliseconds of the store's clock; 0 is never. */
export interface Ledger {
  /** When it was changed last. */
  at: number
  limit: number | undefined
  remaining: number
  /** The end of the window as the service wrote it, and by the store's clock. */
  window: number
  end: number
  /** When this window was first heard of. */
  since: number
  /** A refusal asked for silence until then; afterwards one request tries, until one is answered. */
  refusedUntil: number
  /** Refusals in a row that asked for silence. */
  refusals: number
  silentUntil: number
  /** The earliest time of the next request of a paced operation. */
  next: number
  /** The request that asks about an unknown window, and how long others wait for it. */
  probe: string
  probeUntil: number
  /** The requests in flight, and when they lapse; the oldest first. */
  readonly leases: Map<string, number>
  /** The lines in which callers wait. */
  readonly waiting: Map<string, Ticket>
}

/** Knows nothing. */
export const empty = (): Ledger => ({
  at: 0,
  limit: undefined,
  remaining: 0,
  window: 0,
  end: 0,
  since: 0,
  refusedUntil: 0,
  refusals: 0,
  silentUntil: 0,
  next: 0,
  probe: "",
  probeUntil: 0,
  leases: new Map(),
  waiting: new Map()
})

/** A ledger as text, for stores that keep texts. */
export const toText = (ledger: Ledger): string =>
  JSON.stringify({ ...ledger, leases: [...ledger.leases], waiting: [...ledger.waiting] })

/**
 * What {@link toText} made. A ledger from the future, which a clock wrote that has been set back, is not believed: it
 * would be waited for until then.
 */
export const fromText = (text: string, now: number): Ledger => {
  if (text === "") return empty()
  const { leases, waiting, ...rest } = JSON.parse(text)
  const ledger: Ledger = { ...rest, leases: new Map(leases), waiting: new Map(waiting) }
  return ledger.at > now + millisOf.skew || ledger.end > now + millisOf.longest ? empty() : ledger
}

/** Until when a store has to keep a ledger. */
export const keepUntil = ({ at, end, next, refusedUntil }: Ledger): number =>
  Math.max(at + millisOf.silence, end, next, refusedUntil + millisOf.silence)

const wait = (reason: Reason, millis: number): Decision => ({ granted: false, reason, millis: Math.ceil(millis) })

/**
 * The rule of every store: grants a request if it fits into the budget even when all in flight are still uncounted and
 * all who came clearly earlier are served first.
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
    // Whoever is the next of the line will ask this moment.
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
  if (now >= ledger.refusedUntil + millisOf.silence) ledger.refusals = 0
  return { granted: true, refusals: ledger.refusals }
}

/** How many callers came clearly earlier and are about to ask. */
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

/** The rule of every store: what an answer changes. */
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
  // Of those that were sent together, one refusal counts.
  const isAfterwards = sent >= ledger.refusedUntil
  if (pause !== undefined) {
    if (isAfterwards) ledger.refusals++
    ledger.refusedUntil = Math.max(ledger.refusedUntil, now + pause)
  } else if (answered && isAfterwards) {
    ledger.refusedUntil = 0
    ledger.refusals = 0
  }
  if (figures === undefined) {
    if (answered && pause === undefined) ledger.silentUntil = now + millisOf.silence
    return
  }
  learn(ledger, now, sent, figures)
}

/** What an announcement changes, of an answer to a request that was sent then. */
export const learn = (ledger: Ledger, now: number, sent: number, figures: Figures): void => {
  const end = now + figures.endsIn
  if (Math.abs(figures.window - ledger.window) <= 1) {
    ledger.remaining = Math.min(ledger.remaining, figures.remaining)
    // Dates are whole seconds and answers take time, so the soonest end is the most exact.
    if (end < ledger.end || (now >= ledger.end && sent >= ledger.end)) ledger.end = end
  } else if (figures.window > ledger.window || sent > ledger.since) {
    ledger.limit = figures.limit
    ledger.remaining = figures.remaining
    ledger.window = figures.window
    ledger.end = end
    ledger.since = now
  }
}

/** What a ledger says now. */
export const read = (ledger: Ledger, now: number): Reading => {
  let inFlight = 0
  for (const lapses of ledger.leases.values()) if (lapses > now) inFlight++
  const { end, limit, remaining } = ledger
  return {
    window: now < end ? { limit, remaining, window: ledger.window, endsIn: end - now } : undefined,
    inFlight
  }
}
