/**
 * The budgets that the service announces, and what is done when one is spent. A Layer chooses: `layerFail` (the default)
 * lets a refusal through as `RateLimited`, `layerWait` waits. Both know what was announced: `snapshot`, `changes`, and
 * the metric `postwire_rate_limit_remaining`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { type Budget, type CredentialKind, InvalidSettings, RateLimitWaitTooLong } from "./Errors.ts"
import { makeListeners, measuring, waits, waitSeconds } from "./internal/RateLimitEvents.ts"
import { Recent } from "./internal/Recent.ts"
import { Line, Place } from "./internal/WaitingLine.ts"
import { Logging } from "./Logging.ts"
import * as Monotonic from "./Monotonic.ts"
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
  /**
   * `window`: it is spent. `refusal`: a 429 asked for a pause. `pace`: too soon. `in flight`: an answer decides. `turn`:
   * callers of other processes came before.
   */
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
  /** Whether it waits at all. */
  readonly waits: boolean
  /** `patience` is how many milliseconds may pass until a shared store answers. */
  readonly guard: <E>(
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, E>,
    patience?: number
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
  /*#__PURE__*/ Effect.map(measuring, makeFail)
)

/** Budgets that are remembered; beyond them, those not used of late go. */
const most = 10_000

function makeFail(measure: (change: Announced) => void = () => {}): RateLimit {
  const known = new Recent<{ readonly bucket: Bucket; readonly ledger: RateLimitStore.Ledger }>(most)
  const { listen, tell } = makeListeners(measure)
  let last = 0
  return {
    waits: false,
    listen,
    snapshot: Effect.map(
      Monotonic.millis,
      (now) => Array.from(known.values(), ({ bucket, ledger }) => usageOf(bucket, RateLimitStore.read(ledger, now)))
    ),
    guard: (bucket, send) =>
      Clock.clockWith((clock) => {
        const { ledger } = known.get(bucket.key, () => ({ bucket, ledger: RateLimitStore.empty() }))
        const lease = `${++last}`
        ledger.leases.set(lease, Monotonic.millisUnsafe(clock) + RateLimitStore.times.lease)
        return Effect.onExit(send, (exit) => {
          const figures = exit._tag === "Success" ? figuresOf(exit.value, clock.currentTimeMillisUnsafe()) : undefined
          RateLimitStore.settle(ledger, Monotonic.millisUnsafe(clock), lease, { answered: false, figures })
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

/** Settings of `layerWait`. */
export interface WaitOptions {
  /**
   * The longest that a request may wait for its rate limit in all, in milliseconds from 0. One that would wait longer
   * fails with `RateLimitWaitTooLong` as soon as that is known. Default 20 minutes.
   */
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
 * or a shared store, share them; who came clearly earlier is served first, in whichever process.
 */
export const layerWait = (options: WaitOptions = {}): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const maxWait = yield* checkMaxWait(options)
      const store = yield* Effect.serviceOption(RateLimitStore.RateLimitStore)
      const context = yield* Effect.context<never>()
      const measure = yield* measuring
      return store._tag === "None"
        ? makeWait(RateLimitStore.makeMemory(), maxWait, context, measure, identity)
        : makeWait(
          RateLimitStore.orMemory(store.value, yield* Logging),
          maxWait,
          context,
          measure,
          yield* makeSettling
        )
    })
  )

/**
 * Runs what nobody waits for: a caller who has its answer, or has gone, is not held up by a store. When the layer goes,
 * what is still under way has two seconds left.
 */
const makeSettling = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Set<Fiber.Fiber<void>>()),
    (fibers) =>
      Effect.andThen(
        Effect.interruptible(Effect.ignore(Effect.timeout(Fiber.awaitAll(fibers), 2_000))),
        Fiber.interruptAll(fibers)
      )
  ),
  (fibers) => (settle: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.map(Effect.forkDetach(settle, { startImmediately: true }), (fiber) => {
      if (fiber.pollUnsafe() !== undefined) return
      fibers.add(fiber)
      fiber.addObserver(() => void fibers.delete(fiber))
    })
)

interface Verdict {
  readonly response: HttpClientResponse
  readonly report: RateLimitStore.Report
  /** Milliseconds that a refusal asks for before the request is repeated; `undefined` gives the answer back. */
  readonly again?: number
  readonly isBrief?: boolean
  /** Whether all who wait would be refused as this one was. */
  readonly isHopeless?: boolean
}

const makeWait = (
  store: RateLimitStore.Store<never>,
  maxWait: number,
  context: Context.Context<never>,
  measure: (change: Announced) => void,
  settling: (settle: Effect.Effect<void>) => Effect.Effect<void>
): RateLimit => {
  const lines = new Recent<Line>(most)
  const { listen, tell } = makeListeners(measure)
  const logging = Context.get(context, Logging)
  const process = nonce()
  let last = 0

  /** Says once that the first waits, and to the spans of all who wait behind it. */
  const announce = (line: Line, reason: RateLimitStore.Reason, millis: number, now: number) =>
    Clock.clockWith((clock) => {
      const { credential, key, operation } = line.bucket
      const said = line.said
      if (said?.waiting.reason === reason && Math.abs(said.until - now - millis) <= 1_500) return Effect.void
      const until = new Date(clock.currentTimeMillisUnsafe() + millis)
      const waiting: Waiting = { _tag: "Waiting", operation, credential, bucket: key, reason, millis, until }
      line.said = { until: now + millis, waiting }
      line.tell(waiting)
      tell(waiting)
      Metric.withAttributes(waits, { operation, reason }).updateUnsafe(1, context)
      return logging(Effect.annotateLogs(
        // A pace is no news: its waits come every second.
        (reason === "pace" ? Effect.logDebug : Effect.logInfo)(
          `${operation} waits ${Math.ceil(millis / 1000)} s: ${because[reason]}`
        ),
        { operation, credential, reason, until: until.toISOString() }
      ))
    })

  const tooLong = ({ operation }: Bucket, millis: number): Effect.Effect<never, RateLimitWaitTooLong> =>
    Clock.clockWith((clock) =>
      Effect.fail(
        new RateLimitWaitTooLong({
          operation,
          bucket: operation,
          resetAt: new Date(clock.currentTimeMillisUnsafe() + millis),
          maxWait
        })
      )
    )

  /** Comes to the head of the line, and asks the store until it grants the request; or ends as those do who may not. */
  const admit = Effect.fnUntraced(function*(line: Line, place: Place, patience: number) {
    const { key, pace } = line.bucket
    const fate = () => place.fate
    const { said } = line
    if (line.callers > 0 && said !== undefined && !isPolled(said.waiting.reason) && said.until > place.deadline) {
      return yield* tooLong(line.bucket, said.until - (yield* Monotonic.millis))
    }
    yield* line.enter(place)
    place.wake = () => {}
    let since: number | undefined
    let poll = 1
    while (fate() === undefined) {
      const now = yield* Monotonic.millis
      // From here on: an answer of the store may be on its way when the caller is interrupted.
      place.isKnown = true
      const decision = yield* store.reserve(key, place.lease, pace === undefined ? 0 : pace + jitter, {
        line: process,
        callers: line.callers,
        waited: now - place.arrived,
        patience
      })
      if (decision.granted) {
        place.refusals = decision.refusals
        break
      }
      const { millis, reason } = decision
      since ??= now
      line.dismiss(({ deadline, fate }) => fate ?? (deadline < now + millis ? tooLong(line.bucket, millis) : undefined))
      if (fate() !== undefined) break
      if (isPolled(reason)) {
        if (now - since >= 1_000) yield* announce(line, reason, RateLimitStore.times.lease, since)
        yield* line.sleep(place, Math.min(millis * poll, 200))
        poll *= 1.5
      } else {
        yield* announce(line, reason, millis, now)
        yield* line.sleep(place, Math.min(millis, RateLimitStore.times.recheck))
      }
    }
    const ended = fate()
    if (ended !== undefined) return yield* ended
    if (since !== undefined && line.said !== undefined) {
      const { operation, reason } = line.said.waiting
      const seconds = ((yield* Monotonic.millis) - since) / 1000
      Metric.withAttributes(waitSeconds, { operation, reason }).updateUnsafe(seconds, context)
    }
    line.said = undefined
    if (pace !== undefined) {
      const now = yield* Monotonic.millis
      place.isCold = now - line.sent > warm
      line.sent = now
    }
    line.leave(place)
    return undefined
  })

  const verdict = (response: HttpClientResponse, refusals: number, briefs: number): Effect.Effect<Verdict> =>
    Clock.clockWith((clock) => {
      const { status } = response
      const figures = figuresOf(response, clock.currentTimeMillisUnsafe())
      // A gateway that refuses knows nothing of budgets: only who announces one, or does what was asked, took note.
      const answered = status < 300 || (status < 500 && figures !== undefined)
      const final: Verdict = { response, report: { answered, figures } }
      return status === 429
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
      const isLast = refusals + 1 >= maximumTries
      const pausing = (pause: number, isBrief: boolean): Verdict => ({
        response,
        // A pause beyond reason is for this call to refuse, and not for others to keep.
        report: pause > Math.max(longest, maxWait) ? { answered: false } : { answered: true, pause },
        ...(isLast ? { isHopeless: true } : { again: pause, isBrief })
      })
      const asked = retryAfterOf(response.headers)
      if (asked !== undefined) return pausing(Math.max(asked, floor), false)
      if (figures === undefined) {
        return pausing(Math.round(Math.min(longest, floor * 2 ** refusals * (1 + chance / 2))), false)
      }
      if (figures.remaining === 0) return isLast ? final : { ...final, again: 0 }
      const base = brief[briefs]
      if (base === undefined) return { response, report: { answered: false, figures }, isHopeless: true }
      const verdict = pausing(Math.round(base * (1 + chance / 5)), true)
      return { ...verdict, report: { ...verdict.report, figures } }
    })

  return {
    waits: true,
    listen,
    snapshot: Effect.suspend(() =>
      Effect.forEach(
        Array.from(lines.values()),
        ({ bucket }) => Effect.map(store.read(bucket.key), (reading) => usageOf(bucket, reading))
      )
    ),
    guard: <E>(bucket: Bucket, send: Effect.Effect<HttpClientResponse, E>, patience: number = Infinity) =>
      Effect.withFiber<HttpClientResponse, E | RateLimitWaitTooLong>((fiber) => {
        const line = lines.get(bucket.key, () => new Line(bucket))
        const clock = fiber.getRef(Clock.Clock)
        const ticket = ++last
        const arrived = Monotonic.millisUnsafe(clock)
        const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
        let left = maxWait
        let refusals = 0
        let briefs = 0

        const attempt = Effect.suspend(() => {
          const begun = Monotonic.millisUnsafe(clock)
          const place = new Place({
            ticket,
            lease: `${process}:${++last}`,
            span,
            arrived,
            deadline: begun + left
          })
          const sent = Effect.suspend(() => {
            left -= Monotonic.millisUnsafe(clock) - begun
            return Effect.flatMap(
              send,
              (response) => verdict(response, Math.max(refusals, place.refusals), Math.max(briefs, place.refusals))
            )
          })
          return Effect.onExit(
            Effect.flatMap(
              admit(line, place, patience),
              (lesson) =>
                lesson === undefined ? sent : Effect.succeed<Verdict>({ response: lesson, report: { answered: false } })
            ),
            (exit) => {
              line.leave(place)
              if (!place.isKnown) return Effect.void
              const report: RateLimitStore.Report = {
                ...(exit._tag === "Success" ? exit.value.report : { answered: false }),
                // After a cold start the pace counts from the answer: the next request may be quicker.
                next: place.isCold && bucket.pace !== undefined ? bucket.pace + jitter : undefined,
                emptied: line.callers === 0 ? process : undefined
              }
              if (report.figures !== undefined) tell(announced(bucket, report.figures))
              if (exit._tag === "Success" && exit.value.isHopeless === true) {
                const { response } = exit.value
                line.dismiss(({ fate }) => fate ?? Effect.succeed(response))
              }
              return settling(
                Effect.andThen(store.settle(bucket.key, place.lease, report), Effect.sync(() => line.wake()))
              )
            }
          )
        })

        const again: Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong> = Effect.flatMap(
          attempt,
          ({ again: pause, isBrief, response }) => {
            if (pause === undefined) return Effect.succeed(response)
            if (pause > left) return tooLong(bucket, pause)
            refusals++
            if (isBrief === true) briefs++
            return again
          }
        )
        return again
      })
  }
}

/** Whether nobody knows how long the wait is, so that the store is asked again and again. */
const isPolled = (reason: RateLimitStore.Reason): boolean => reason === "in flight" || reason === "turn"

const because: Readonly<Record<RateLimitStore.Reason, string>> = {
  window: "its rate limit is spent",
  refusal: "the service refused a request",
  pace: "it takes one request per second",
  "in flight": "requests in flight may use the rest of its rate limit",
  turn: "calls of other processes came first"
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

/** When a window ends, in Unix seconds that a date can tell. */
const resetOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const reset = wholeOf(headers["x-rate-limit-reset"])
  return reset !== undefined && reset > 0 && reset < 1e11 ? reset : undefined
}

/**
 * What an answer announces, by the service's own clock where the answer has a `date`. A window that has ended, or ends
 * later than any does, is nonsense. A 429 that does not say what remains leaves nothing.
 */
const figuresOf = ({ headers, status }: HttpClientResponse, now: number): RateLimitStore.Figures | undefined => {
  const window = resetOf(headers)
  const remaining = wholeOf(headers["x-rate-limit-remaining"]) ?? (status === 429 ? 0 : undefined)
  if (window === undefined || remaining === undefined) return undefined
  const served = Date.parse(headers["date"] ?? "")
  const left = window * 1000 - (Number.isNaN(served) ? now : served)
  return left > 0 && left <= longest + 60_000
    ? { limit: wholeOf(headers["x-rate-limit-limit"]), remaining, window, endsIn: left + late }
    : undefined
}

/** Some three centuries, in milliseconds: later than that, dates end. */
const longestAsked = 1e13

/** The milliseconds that `retry-after` asks for, as seconds or as a date beside the `date` of the response. */
export const retryAfterOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const asked = headers["retry-after"] ?? ""
  if (/^\d{1,10}$/.test(asked)) return Number(asked) * 1000
  const millis = asked.endsWith(" GMT") ? Date.parse(asked) - Date.parse(headers["date"] ?? "") : Number.NaN
  return Number.isNaN(millis) ? undefined : Math.min(Math.max(millis, 0), longestAsked)
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
  const reset = resetOf(headers)
  return limit !== undefined && remaining !== undefined && reset !== undefined
    ? { limit, remaining, resetAt: new Date(reset * 1000) }
    : undefined
}
