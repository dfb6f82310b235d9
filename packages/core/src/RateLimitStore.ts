/**
 * Where `RateLimit.layerWait` keeps what is known of every budget: a ledger per operation and credential, with the
 * lowest figure that was announced, the end of the window by the store's own clock, and the requests in flight. Clients
 * that share a store share their budgets.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Logging } from "./Logging.ts"

/** The store did not answer. Calls never fail with it: they go on with what the process itself knows. */
export class RateLimitStoreUnavailable extends /*#__PURE__*/ Schema.TaggedError<RateLimitStoreUnavailable>()(
  "RateLimitStoreUnavailable",
  { reason: Schema.String }
) {
  override get message(): string {
    return `The store of rate limits does not answer: ${this.reason}`
  }
}

/** What an answer announced of the window. */
export interface Figures {
  /** Requests allowed per window, where that was announced. */
  readonly limit: number | undefined
  readonly remaining: number
  /** The end of the window as the service wrote it, in Unix seconds: tells windows apart. */
  readonly window: number
  /** Milliseconds to the end of the window. */
  readonly endsIn: number
}

/** What became of a request. */
export interface Report {
  /** Whether the service took note of it: an answer other than a failure of the server. */
  readonly answered: boolean
  readonly figures?: Figures | undefined
  /** Milliseconds in which no other request may follow, because the service refused this one. */
  readonly pause?: number | undefined
  /** Milliseconds to the next request of a paced operation, where the pace counts from the answer. */
  readonly next?: number | undefined
}

/** Why a request has to wait: the window is spent, a refusal asked for it, the pace, or requests in flight. */
export type Reason = "window" | "refusal" | "pace" | "in flight"

/** Whether a request may be sent. If not, it asks again after at most so many milliseconds. */
export type Decision =
  | { readonly granted: true }
  | { readonly granted: false; readonly reason: Reason; readonly millis: number }

/** What a store knows of one budget. A window that has ended says nothing any more. */
export interface Reading {
  readonly window: Figures | undefined
  readonly inFlight: number
}

/** Keeps ledgers. Every step is atomic, for all who share the store. */
export interface Store<E = RateLimitStoreUnavailable> {
  /** Asks to send a request, `pace` milliseconds after the last one at the earliest. What is granted has to be settled. */
  readonly reserve: (key: string, lease: string, pace: number) => Effect.Effect<Decision, E>
  /** Ends a request, also one that was never granted. */
  readonly settle: (key: string, lease: string, report: Report) => Effect.Effect<void, E>
  readonly read: (key: string) => Effect.Effect<Reading, E>
}

/** The store in force. Without one, `RateLimit.layerWait` keeps its ledgers in memory. */
export class RateLimitStore
  extends /*#__PURE__*/ Context.Service<RateLimitStore, Store>()("@postwire/core/RateLimitStore")
{}

/** How long stores believe things, in milliseconds. */
export const times = {
  /** A request in flight counts for so long; then its process is taken for dead. */
  lease: 30_000,
  /** So long others wait for the one that asks about an unknown window. */
  probe: 5_000,
  /** So long a service that announces nothing is taken to have no limit. */
  silence: 60_000,
  /** How soon to ask again while requests are in flight. */
  poll: 25
} as const

/** What is known of one budget. Times are milliseconds of the store's clock; 0 is never. */
export interface Ledger {
  limit: number | undefined
  remaining: number
  /** The end of the window as the service wrote it, and by the store's clock. */
  window: number
  end: number
  /** When this window was first heard of. */
  since: number
  /** A refusal asked for silence until then; afterwards one request tries, until one is answered. */
  refusedUntil: number
  silentUntil: number
  /** The earliest time of the next request of a paced operation. */
  next: number
  /** The request that asks about an unknown window, and how long others wait for it. */
  probe: string
  probeUntil: number
  /** The requests in flight, and when they lapse; the oldest first. */
  readonly leases: Map<string, number>
}

/** Knows nothing. */
export const empty = (): Ledger => ({
  limit: undefined,
  remaining: 0,
  window: 0,
  end: 0,
  since: 0,
  refusedUntil: 0,
  silentUntil: 0,
  next: 0,
  probe: "",
  probeUntil: 0,
  leases: new Map()
})

const granted: Decision = { granted: true }

const wait = (reason: Reason, millis: number): Decision => ({ granted: false, reason, millis })

/** The rule of every store: grants a request if it fits into the budget even when all in flight are still uncounted. */
export const reserve = (ledger: Ledger, now: number, lease: string, pace: number): Decision => {
  for (const [id, lapses] of ledger.leases) {
    if (lapses > now) break
    ledger.leases.delete(id)
  }
  if (ledger.refusedUntil > now) return wait("refusal", ledger.refusedUntil - now)
  const isKnown = now < ledger.end
  const isProbe = ledger.refusedUntil > 0 || (!isKnown && now >= ledger.silentUntil)
  if (isKnown && ledger.remaining < 1) return wait("window", ledger.end - now)
  if ((isProbe && ledger.probeUntil > now) || (isKnown && ledger.remaining - ledger.leases.size < 1)) {
    return wait("in flight", times.poll)
  }
  if (ledger.next > now && pace > 0) return wait("pace", ledger.next - now)
  if (isProbe) {
    ledger.probe = lease
    ledger.probeUntil = now + times.probe
  }
  if (pace > 0) ledger.next = now + pace
  ledger.leases.set(lease, now + times.lease)
  return granted
}

/** The rule of every store: what an answer changes. */
export const settle = (
  ledger: Ledger,
  now: number,
  lease: string,
  { answered, figures, next = 0, pause }: Report
): void => {
  const lapses = ledger.leases.get(lease)
  const sent = lapses === undefined ? 0 : lapses - times.lease
  ledger.leases.delete(lease)
  if (ledger.probe === lease) {
    ledger.probe = ""
    ledger.probeUntil = 0
  }
  ledger.next = Math.max(ledger.next, now + next)
  if (pause !== undefined) ledger.refusedUntil = Math.max(ledger.refusedUntil, now + pause)
  else if (answered && sent >= ledger.refusedUntil) ledger.refusedUntil = 0
  if (figures === undefined) {
    if (answered && pause === undefined) ledger.silentUntil = now + times.silence
    return
  }
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
  const { end, limit, remaining, window } = ledger
  return { window: now < end ? { limit, remaining, window, endsIn: end - now } : undefined, inFlight }
}

/** Whether a ledger may be forgotten. */
export const isIdle = (ledger: Ledger, now: number): boolean =>
  ledger.leases.size === 0 && Math.max(ledger.end, ledger.refusedUntil, ledger.next) <= now

/** More ledgers than this are not kept in memory: those that say nothing any more go. */
const crowd = 10_000

/** A store for one process. */
export const makeMemory = (): Store<never> => {
  const ledgers = new Map<string, Ledger>()
  const ledgerOf = (key: string, now: number): Ledger => {
    let ledger = ledgers.get(key)
    if (ledger === undefined) {
      if (ledgers.size >= crowd) {
        for (const [other, ledger] of ledgers) if (isIdle(ledger, now)) ledgers.delete(other)
      }
      ledgers.set(key, ledger = empty())
    }
    return ledger
  }
  const step = <A>(key: string, f: (ledger: Ledger, now: number) => A): Effect.Effect<A> =>
    Clock.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      return Effect.succeed(f(ledgerOf(key, now), now))
    })
  return {
    reserve: (key, lease, pace) => step(key, (ledger, now) => reserve(ledger, now, lease, pace)),
    settle: (key, lease, report) => step(key, (ledger, now) => settle(ledger, now, lease, report)),
    read: (key) => step(key, read)
  }
}

/** A store for the clients of one process that get this layer. */
export const layerMemory: Layer.Layer<RateLimitStore> = /*#__PURE__*/ Layer.sync(RateLimitStore, makeMemory)

/** After a failure the store is left alone for so many milliseconds. */
const rest = 5_000

/**
 * The store while it answers, and the memory of this process while it does not: requests are never held up by a store
 * that is gone. Tells so in one warning, and when the store is back.
 */
export const orMemory = (store: Store, logging: typeof Logging.Service = identity): Store<never> => {
  const memory = makeMemory()
  let isDown = false
  let restsUntil = 0
  const prefer = <A>(
    use: (store: Store<RateLimitStoreUnavailable>) => Effect.Effect<A, RateLimitStoreUnavailable>,
    local: Effect.Effect<A>
  ) =>
    Clock.clockWith((clock) => {
      if (clock.currentTimeMillisUnsafe() < restsUntil) return local
      return Effect.matchEffect(use(store), {
        onSuccess: (result) => {
          if (!isDown) return Effect.succeed(result)
          isDown = false
          return Effect.as(logging(Effect.logInfo("The store of rate limits answers again")), result)
        },
        onFailure: (error) => {
          restsUntil = clock.currentTimeMillisUnsafe() + rest
          if (isDown) return local
          isDown = true
          return Effect.andThen(
            logging(Effect.logWarning(
              `${error.message}. This process goes on by itself and does not see the requests of others`
            )),
            local
          )
        }
      })
    })
  return {
    reserve: (key, lease, pace) => prefer((store) => store.reserve(key, lease, pace), memory.reserve(key, lease, pace)),
    // The memory learns all along, so that it knows the windows when it is needed.
    settle: (key, lease, report) =>
      Effect.andThen(
        memory.settle(key, lease, report),
        prefer((store) => store.settle(key, lease, report), Effect.void)
      ),
    read: (key) => prefer((store) => store.read(key), memory.read(key))
  }
}
