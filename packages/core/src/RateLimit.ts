/**
 * The budgets that the service announces, and what is done when one is spent. A Layer chooses: `layerFail` (the default)
 * lets a refusal through as `RateLimited`, `layerWait` waits. Both know what was announced: `snapshot`, `changes`, and
 * the metric `postwire_rate_limit_remaining`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { type Budget, type CredentialKind, InvalidSettings, RateLimitWaitTooLong } from "./Errors.ts"
import * as Hook from "./Hook.ts"
import { Logging } from "./Logging.ts"
import { nonce } from "./OAuth1.ts"
import * as RateLimitStore from "./RateLimitStore.ts"

/** What one budget counts: the requests of one operation with one credential. */
export interface Bucket {
  readonly operation: string
  readonly credential: CredentialKind
  /** Unique to the operation, the credential and the service; never holds the credential itself. */
  readonly key: string
  /** The least milliseconds between two requests, where the service has such a rule. */
  readonly pace?: number | undefined
}

/** What is known of a budget. */
export interface Usage extends Pick<Bucket, "operation" | "credential"> {
  /** Tells apart the budgets of several credentials; never holds the credential itself. */
  readonly bucket: string
  /** Requests per window; `undefined` while nothing is known of the window. */
  readonly limit: number | undefined
  /** Requests left, the lowest figure announced in this window; `undefined` while nothing is known of the window. */
  readonly remaining: number | undefined
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date | undefined
  /** Requests sent and not answered, of all who share the store. */
  readonly inFlight: number
}

/** A wait, as it begins. Calls that queue behind it wait too. */
export interface Waiting extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Waiting"
  readonly bucket: string
  /** `window`: it is spent. `refusal`: a 429 asked for a pause. `pace`: too soon. `in flight`: an answer decides. */
  readonly reason: RateLimitStore.Reason
  readonly millis: number
  /** By the local clock. */
  readonly until: Date
}

/** An answer that announced a budget. */
export interface Announced extends Pick<Bucket, "operation" | "credential"> {
  readonly _tag: "Announced"
  readonly bucket: string
  /** Requests per window. */
  readonly limit: number | undefined
  readonly remaining: number
  /** When the window ends, by the service's clock. */
  readonly resetAt: Date
}

/** What happens to budgets. */
export type Change = Announced | Waiting

/** Decides when a request may be sent and what a 429 leads to. */
export interface RateLimit {
  readonly guard: <E>(
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, E>
  ) => Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong>
  readonly snapshot: Effect.Effect<ReadonlyArray<Usage>>
  /** Calls the listener with every change, until the returned function is called. */
  readonly listen: (listener: (change: Change) => void) => () => void
}

/** The policy in force: without a layer, refusals are let through, and all clients of the process share one record. */
export const RateLimit = Context.Reference<RateLimit>("@postwire/core/RateLimit", {
  defaultValue: () => makeFail()
})

/** Every budget that was used, as far as it is known. */
export const snapshot: Effect.Effect<ReadonlyArray<Usage>> = /*#__PURE__*/ Effect.flatMap(
  RateLimit,
  ({ snapshot }) => snapshot
)

/** Every announcement and every wait from now on. Of a reader that falls 1,024 behind, the oldest are dropped. */
export const changes: Stream.Stream<Change> = /*#__PURE__*/ Stream.callback<Change>(
  (queue) =>
    Effect.flatMap(RateLimit, ({ listen }) =>
      Effect.acquireRelease(
        Effect.sync(() => listen((change) => Queue.offerUnsafe(queue, change))),
        (stop) => Effect.sync(stop)
      )),
  { bufferSize: 1024, strategy: "sliding" }
)

/** Lets every refusal through as `RateLimited`. Nothing is paced. */
export const layerFail: Layer.Layer<never> = /*#__PURE__*/ Layer.effect(
  RateLimit,
  /*#__PURE__*/ Effect.map(/*#__PURE__*/ Effect.context<never>(), (context) => makeFail(gauge(context)))
)

/** More budgets than this are not remembered: those that say nothing any more go. */
const crowd = 10_000

const makeFail = (measure: (change: Announced) => void = () => {}): RateLimit => {
  const known = new Map<string, { readonly bucket: Bucket; readonly ledger: RateLimitStore.Ledger }>()
  const { listen, tell } = makeListeners(measure)
  let last = 0
  const ledgerOf = (bucket: Bucket, now: number): RateLimitStore.Ledger => {
    let entry = known.get(bucket.key)
    if (entry === undefined) {
      if (known.size >= crowd) {
        for (const [key, { ledger }] of known) if (RateLimitStore.isIdle(ledger, now)) known.delete(key)
      }
      known.set(bucket.key, entry = { bucket, ledger: RateLimitStore.empty() })
    }
    return entry.ledger
  }
  return {
    listen,
    snapshot: Clock.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      return Effect.succeed(
        [...known.values()].map(({ bucket, ledger }) => usageOf(bucket, RateLimitStore.read(ledger, now)))
      )
    }),
    guard: (bucket, send) =>
      Clock.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        const ledger = ledgerOf(bucket, now)
        const lease = `${++last}`
        ledger.leases.set(lease, now + RateLimitStore.times.lease)
        return Effect.onExit(send, (exit) => {
          const now = clock.currentTimeMillisUnsafe()
          const figures = exit._tag === "Success" ? figuresOf(exit.value, now) : undefined
          RateLimitStore.settle(ledger, now, lease, { answered: false, figures })
          if (figures !== undefined) tell(announced(bucket, figures))
          return Effect.void
        })
      })
  }
}

/** The longest window there is, in milliseconds. */
const longest = 900_000
/** Clocks of a service differ a little, so windows are left a second late. */
const late = 1_000
const floor = 1_000
const maximumTries = 8
/** Pauses after refusals for another reason than a spent window; with a fifth more at most they stay below 15 s. */
const brief = [1_000, 2_000, 4_000, 5_000]
/** Two requests may get nearer to each other on their way. */
const jitter = 13
/** Connections live so long without a request. The next one arrives late, by the time that it takes to connect. */
const warm = 4_000
/** A long sleep looks up so often whether the store has learnt better. */
const recheck = 60_000

/** Settings of `layerWait`. */
export interface WaitOptions {
  /** The longest single wait in milliseconds, from 0. A longer one fails with `RateLimitWaitTooLong`. Default 20 minutes. */
  readonly maxWait?: number | undefined
}

/** The longest wait that is allowed, or what is wrong with it. */
export const checkMaxWait = ({ maxWait = 1_200_000 }: WaitOptions): Effect.Effect<number, InvalidSettings> =>
  typeof maxWait === "number" && maxWait >= 0
    ? Effect.succeed(maxWait)
    : Effect.fail(new InvalidSettings({ setting: "maxWait", rule: "must be a number of milliseconds from 0" }))

/**
 * Waits: before sending when a request would not fit into the budget, and after a 429. Every request is reserved before
 * it is sent, so that a budget is used to its last unit and never overdrawn; of an unknown window, one request asks and
 * the others wait for its answer. Callers are served in turn. Operations that take one request per second are paced.
 *
 * After a 429 counts what `retry-after` says, else the announced end of the window, else a pause that grows from one
 * second. A 429 with budget left is about a short limit: it is repeated for less than 15 seconds. At most eight refusals
 * in a row are waited out, and none for a spent usage cap.
 *
 * The budgets are kept in the `RateLimitStore` in force, in memory when there is none. Clients that get this very layer,
 * or a shared store, share them.
 */
export const layerWait = (options: WaitOptions = {}): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const maxWait = yield* checkMaxWait(options)
      const store = yield* Effect.serviceOption(RateLimitStore.RateLimitStore)
      const context = yield* Effect.context<never>()
      return makeWait(
        store._tag === "Some" ? RateLimitStore.orMemory(store.value, yield* Logging) : RateLimitStore.makeMemory(),
        maxWait,
        context
      )
    })
  )

/** Those who want to send the requests of one budget. The first alone asks the store. */
interface Line {
  readonly bucket: Bucket
  isTaken: boolean
  readonly places: Array<Place>
  /** Ends the sleep of the first. */
  wake: () => void
  waiting: Waiting | undefined
  /** Calls that wait or are in flight. */
  calls: number
  /** When a request was sent last, from here. */
  sent: number
}

interface Place {
  /** The order of arrival, which a refused request keeps. */
  readonly ticket: number
  readonly lease: string
  readonly span: Tracer.AnySpan | undefined
  isFirst: boolean
  isReserved: boolean
  /** Whether the request may have arrived much later than it was sent. */
  isCold: boolean
  proceed: () => void
}

interface Verdict {
  readonly response: HttpClientResponse
  readonly report: RateLimitStore.Report
  /** Milliseconds that a refusal asks for before the request is repeated; `undefined` gives the answer back. */
  readonly again?: number
  readonly isBrief?: boolean
}

const makeWait = (
  store: RateLimitStore.Store<never>,
  maxWait: number,
  context: Context.Context<never>
): RateLimit => {
  const lines = new Map<string, Line>()
  const { listen, tell } = makeListeners(gauge(context))
  const logging = Context.get(context, Logging)
  const process = nonce()
  let last = 0

  const lineOf = (bucket: Bucket): Line => {
    let line = lines.get(bucket.key)
    if (line === undefined) {
      if (lines.size >= crowd) {
        for (const [key, { calls }] of lines) if (calls === 0) lines.delete(key)
      }
      line = { bucket, isTaken: false, places: [], wake: () => {}, waiting: undefined, calls: 0, sent: 0 }
      lines.set(bucket.key, line)
    }
    return line
  }

  /** Says once that the first waits, and to the spans of all who wait behind it. */
  const announce = (line: Line, place: Place, reason: RateLimitStore.Reason, millis: number, now: number) => {
    const until = now + millis
    const { credential, key, operation } = line.bucket
    const said = line.waiting
    if (said?.reason === reason && Math.abs(said.until.getTime() - until) <= 1_500) return Effect.void
    const waiting: Waiting = {
      _tag: "Waiting",
      operation,
      credential,
      bucket: key,
      reason,
      millis,
      until: new Date(until)
    }
    line.waiting = waiting
    for (const { span } of [place, ...line.places]) addEvent(span, waiting)
    tell(waiting)
    Metric.withAttributes(waits, { operation, reason }).updateUnsafe(1, context)
    return logging(Effect.annotateLogs(
      // A pace is no news: its waits come every second.
      (reason === "pace" ? Effect.logDebug : Effect.logInfo)(
        `${operation} waits ${Math.ceil(millis / 1000)} s: ${because[reason]}`
      ),
      { operation, credential, reason, until: waiting.until.toISOString() }
    ))
  }

  const sleep = (line: Line, millis: number): Effect.Effect<void> =>
    Effect.raceFirst(
      Effect.sleep(millis),
      Effect.callback<void>((resume) => {
        line.wake = () => resume(Effect.void)
        return Effect.sync(() => {
          line.wake = () => {}
        })
      })
    )

  const tooLong = ({ operation }: Bucket, millis: number, now: number) =>
    new RateLimitWaitTooLong({ operation, bucket: operation, resetAt: new Date(now + millis), maxWait })

  /** Comes to the head of the line, and asks the store until it grants the request. */
  const admit = Effect.fnUntraced(function*(line: Line, place: Place) {
    const { key, pace } = line.bucket
    yield* enter(line, place)
    let since = 0
    let poll = 1
    while (true) {
      // From here on: an answer of the store may be on its way when the caller is interrupted.
      place.isReserved = true
      const decision = yield* store.reserve(key, place.lease, pace === undefined ? 0 : pace + jitter)
      if (decision.granted) break
      place.isReserved = false
      const { millis, reason } = decision
      const now = yield* Clock.currentTimeMillis
      if (since === 0) since = now
      if (millis > maxWait) return yield* tooLong(line.bucket, millis, now)
      if (reason !== "in flight") {
        yield* announce(line, place, reason, millis, now)
        yield* sleep(line, Math.min(millis, recheck))
      } else {
        if (now - since >= 1_000) yield* announce(line, place, reason, RateLimitStore.times.lease, since)
        yield* sleep(line, Math.min(millis * poll, 200))
        poll *= 1.5
      }
    }
    if (since > 0 && line.waiting !== undefined) {
      const { operation, reason } = line.waiting
      const now = yield* Clock.currentTimeMillis
      Metric.withAttributes(waitSeconds, { operation, reason }).updateUnsafe((now - since) / 1000, context)
    }
    line.waiting = undefined
    if (pace !== undefined) {
      const now = yield* Clock.currentTimeMillis
      place.isCold = now - line.sent > warm
      line.sent = now
    }
    leave(line, place)
  })

  const verdict = (response: HttpClientResponse, refusals: number, briefs: number): Effect.Effect<Verdict> =>
    Clock.clockWith((clock) => {
      const figures = figuresOf(response, clock.currentTimeMillisUnsafe())
      const final: Verdict = { response, report: { answered: response.status < 500, figures } }
      return response.status === 429
        ? Effect.flatMap(
          isUsageCap(response),
          (isCap) => isCap ? Effect.succeed(final) : refused(final, refusals, briefs)
        )
        : Effect.succeed(final)
    })

  /** Order of belief: `retry-after`, the announced window, a growing pause. */
  const refused = (final: Verdict, refusals: number, briefs: number): Effect.Effect<Verdict> =>
    Effect.map(Random.next, (chance) => {
      const { report: { figures }, response } = final
      const isLast = refusals + 1 === maximumTries
      const pausing = (pause: number, isBrief: boolean): Verdict => ({
        response,
        // A pause beyond reason is for this call to refuse, and not for others to keep.
        report: pause > Math.max(longest, maxWait) ? { answered: false } : { answered: true, pause },
        ...(isLast ? {} : { again: pause, isBrief })
      })
      const asked = retryAfterOf(response.headers)
      if (asked !== undefined) return pausing(Math.max(asked, floor), false)
      if (figures === undefined) {
        return pausing(Math.round(Math.min(longest, floor * 2 ** refusals * (1 + chance / 2))), false)
      }
      if (figures.remaining === 0) return isLast ? final : { ...final, again: 0 }
      const base = brief[briefs]
      if (base === undefined) return final
      const verdict = pausing(Math.round(base * (1 + chance / 5)), true)
      return { ...verdict, report: { ...verdict.report, figures } }
    })

  const attempt = <E>(
    line: Line,
    ticket: number,
    send: Effect.Effect<HttpClientResponse, E>,
    refusals: number,
    briefs: number
  ): Effect.Effect<Verdict, E | RateLimitWaitTooLong> =>
    Effect.withFiber((fiber) => {
      const place: Place = {
        ticket,
        lease: `${process}:${++last}`,
        span: Context.getOrUndefined(fiber.context, Tracer.ParentSpan),
        isFirst: false,
        isReserved: false,
        isCold: false,
        proceed: () => {}
      }
      line.calls++
      return Effect.onExit(
        Effect.flatMap(
          admit(line, place),
          () => Effect.flatMap(send, (response) => verdict(response, refusals, briefs))
        ),
        (exit) => {
          line.calls--
          leave(line, place)
          if (!place.isReserved) return Effect.void
          const { pace } = line.bucket
          const report: RateLimitStore.Report = {
            ...(exit._tag === "Success" ? exit.value.report : { answered: false }),
            // After a cold start the pace counts from the answer: the next request may be quicker.
            next: place.isCold && pace !== undefined ? pace + jitter : undefined
          }
          return Effect.andThen(
            store.settle(line.bucket.key, place.lease, report),
            Effect.sync(() => {
              if (report.figures !== undefined) tell(announced(line.bucket, report.figures))
              line.wake()
            })
          )
        }
      )
    })

  return {
    listen,
    snapshot: Effect.suspend(() =>
      Effect.forEach(
        [...lines.values()],
        ({ bucket }) => Effect.map(store.read(bucket.key), (reading) => usageOf(bucket, reading))
      )
    ),
    guard: Effect.fnUntraced(function*<E>(bucket: Bucket, send: Effect.Effect<HttpClientResponse, E>) {
      const line = lineOf(bucket)
      const ticket = ++last
      let briefs = 0
      for (let refusals = 0;; refusals++) {
        const { again, isBrief, response } = yield* attempt(line, ticket, send, refusals, briefs)
        if (again === undefined) return response
        if (again > maxWait) return yield* tooLong(bucket, again, yield* Clock.currentTimeMillis)
        if (isBrief === true) briefs++
      }
    })
  }
}

/** Waits for one's turn. */
const enter = (line: Line, place: Place): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!line.isTaken) {
      line.isTaken = true
      place.isFirst = true
      return Effect.void
    }
    if (line.waiting !== undefined) addEvent(place.span, line.waiting)
    return Effect.callback<void>((resume) => {
      // Yields, so that a long line does not become a deep stack.
      place.proceed = () => resume(Effect.yieldNow)
      const index = line.places.findLastIndex(({ ticket }) => ticket < place.ticket)
      line.places.splice(index + 1, 0, place)
    })
  })

/** Lets the next one come to the head, or gives up one's place. Harmless when done twice. */
const leave = (line: Line, place: Place): void => {
  if (!place.isFirst) {
    const index = line.places.indexOf(place)
    if (index >= 0) line.places.splice(index, 1)
    return
  }
  place.isFirst = false
  const next = line.places.shift()
  if (next === undefined) {
    line.isTaken = false
  } else {
    next.isFirst = true
    next.proceed()
  }
}

const because: Readonly<Record<RateLimitStore.Reason, string>> = {
  window: "its rate limit is spent",
  refusal: "the service refused a request",
  pace: "it takes one request per second",
  "in flight": "requests in flight may use the rest of its rate limit"
}

const addEvent = (span: Tracer.AnySpan | undefined, waiting: Waiting): void => {
  if (span?._tag !== "Span") return
  const { millis, operation, reason, until } = waiting
  span.event("postwire.rate_limit.wait", BigInt(until.getTime() - millis) * 1_000_000n, {
    operation,
    reason,
    until: until.toISOString()
  })
}

const makeListeners = (first: (change: Announced) => void) => {
  const listeners = new Set<(change: Change) => void>()
  return {
    tell: (change: Change): void => {
      if (change._tag === "Announced") first(change)
      for (const listener of listeners) Hook.tell(listener, change)
    },
    listen: (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

const waits = /*#__PURE__*/ Metric.counter("postwire_rate_limit_waits", {
  description: "Waits for rate limits that began"
})

const waitSeconds = /*#__PURE__*/ Metric.histogram("postwire_rate_limit_wait_seconds", {
  description: "How long calls at the head of their line waited for a rate limit",
  boundaries: [0.1, 1, 2, 5, 15, 60, 300, 900]
})

const remaining = /*#__PURE__*/ Metric.gauge("postwire_rate_limit_remaining", {
  description: "Requests left in the window, as announced last"
})

const gauge = (context: Context.Context<never>) => {
  const gauges = new Map<string, typeof remaining>()
  return ({ bucket, credential, operation, remaining: left }: Announced): void => {
    let gauge = gauges.get(bucket)
    if (gauge === undefined) {
      if (gauges.size >= crowd) gauges.clear()
      gauges.set(bucket, gauge = Metric.withAttributes(remaining, { bucket, credential, operation }))
    }
    gauge.updateUnsafe(left, context)
  }
}

const announced = ({ credential, key, operation }: Bucket, { limit, remaining, window }: RateLimitStore.Figures) => ({
  _tag: "Announced" as const,
  operation,
  credential,
  bucket: key,
  limit,
  remaining,
  resetAt: new Date(window * 1000)
})

const usageOf = ({ credential, key, operation }: Bucket, { inFlight, window }: RateLimitStore.Reading): Usage => ({
  operation,
  credential,
  bucket: key,
  limit: window?.limit,
  remaining: window?.remaining,
  resetAt: window && new Date(window.window * 1000),
  inFlight
})

/** A whole number as headers have it. Headers are untrusted: nonsense is no answer. */
const wholeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

/**
 * What an answer announces, by the service's own clock where the answer has a `date`. A window that has ended, or ends
 * later than any does, is nonsense. A 429 that does not say what remains leaves nothing.
 */
const figuresOf = ({ headers, status }: HttpClientResponse, now: number): RateLimitStore.Figures | undefined => {
  const window = wholeOf(headers["x-rate-limit-reset"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"]) ?? (status === 429 ? 0 : undefined)
  if (window === undefined || remaining === undefined) return undefined
  const served = Date.parse(headers["date"] ?? "")
  const left = window * 1000 - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= longest + 60_000
    ? { limit: wholeOf(headers["x-rate-limit-limit"]), remaining, window, endsIn: left + late }
    : undefined
}

/** The milliseconds that `retry-after` asks for, as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.max(millis, 0)
}

/** A spent usage cap lasts days or months: no window end cures it. */
const isUsageCap = (response: HttpClientResponse): Effect.Effect<boolean> =>
  Effect.match(response.text, {
    onFailure: () => false,
    onSuccess: (text) => text.includes("/problems/usage-capped")
  })

/** The announced budget, where all three headers are there and sane. */
export const budgetOf = (headers: Readonly<Record<string, string | undefined>>): Budget | undefined => {
  const limit = wholeOf(headers["x-rate-limit-limit"])
  const remaining = wholeOf(headers["x-rate-limit-remaining"])
  const reset = wholeOf(headers["x-rate-limit-reset"])
  return limit !== undefined && remaining !== undefined && reset !== undefined && reset > 0 && reset < 1e11
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
