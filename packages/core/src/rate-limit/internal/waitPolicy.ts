/** The policy that waits: before sending if a request would not fit, and after a refusal. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Tracer from "effect/Tracer"
import { nonce } from "../../auth/OAuth1.ts"
import { RateLimitWaitTooLong } from "../../errors/Errors.ts"
import { headOf } from "../../http/Transport.ts"
import { Recent } from "../../internal/recentMap.ts"
import { Logging } from "../../runtime/Logging.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import { windowMillis } from "../../schema/Quota.ts"
import { figuresOf, retryAfterOf } from "../../schema/RateLimitHeaders.ts"
import type { ResponseHead } from "../../schema/RateLimitHeaders.ts"
import * as Ledger from "../Ledger.ts"
import { type Bucket, maxRememberedBudgets, type Policy, usageOf, type Waiting } from "../Policy.ts"
import type * as RateLimitStore from "../RateLimitStore.ts"
import { makeListeners, type Measure, waits, waitSeconds } from "./events.ts"
import { Line, Place } from "./queue.ts"

const shortestPauseMillis = 1_000
const maxRefusalsInARow = 8
/** Pauses after refusals with requests remaining; with at most a fifth more they stay below 15 s. */
const briefPausesMillis = [1_000, 2_000, 4_000, 5_000]
/** The distance between two requests may shrink on their way. */
const paceToleranceMillis = 13
/**
 * An idle connection may be closed after this time: the service keeps it for five seconds. The next request is then late by the
 * time it takes to connect.
 */
const connectionLifeMillis = 3_000

/**
 * Settles in the background, so that the store does not delay a caller that has its response or was interrupted. When the layer
 * ends, running settlements have two seconds left.
 */
export const makeSettling = Effect.map(
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
  readonly report: Ledger.Report
  /** Milliseconds to wait before the request is retried; `undefined` returns the response. */
  readonly again?: number
  readonly isBrief?: boolean
  /** True if all waiting callers would be refused too. */
  readonly isHopeless?: boolean
}

/** The parts of a policy. */
interface Parts {
  readonly store: RateLimitStore.Store<never>
  readonly maxWait: number
  readonly context: Context.Context<never>
  readonly events: ReturnType<typeof makeListeners>
  readonly settling: (settle: Effect.Effect<void>) => Effect.Effect<void>
}

export const make = (
  store: RateLimitStore.Store<never>,
  maxWait: number,
  context: Context.Context<never>,
  measure: Measure,
  settling: Parts["settling"]
): Policy => {
  const lines = new Recent<Line>(maxRememberedBudgets)
  const events = makeListeners(measure)
  const head = new Head({ store, maxWait, context, events, settling })
  return {
    waits: true,
    listen: events.listen,
    snapshot: Effect.suspend(() =>
      Effect.forEach(
        Array.from(lines.values()),
        ({ bucket }) => Effect.map(store.read(bucket.key), (reading) => usageOf(bucket, reading))
      )
    ),
    guard: (bucket, send, patience = Infinity) =>
      Effect.withFiber((fiber) => {
        const line = lines.get(bucket.key, () => new Line(bucket))
        return new Call(head, line, send, patience, fiber).run()
      })
  }
}

/** Admits the heads of all queues of a policy. */
class Head {
  readonly parts: Parts
  /** The name of this process in the store. */
  readonly ownLine = nonce()
  readonly #logging: typeof Logging.Service
  #last = 0

  constructor(parts: Parts) {
    this.parts = parts
    this.#logging = Context.get(parts.context, Logging)
  }

  next(): number {
    return ++this.#last
  }

  tooLong({ operation }: Bucket, millis: number): Effect.Effect<never, RateLimitWaitTooLong> {
    return Clock.clockWith((clock) =>
      Effect.fail(
        new RateLimitWaitTooLong({
          operation,
          bucket: operation,
          resetAt: new Date(clock.currentTimeMillisUnsafe() + millis),
          maxWait: this.parts.maxWait
        })
      )
    )
  }

  /** Reports once that the head waits, also to the spans of the callers behind it. */
  #announce(line: Line, reason: Ledger.Reason, millis: number, now: number): Effect.Effect<void> {
    return Clock.clockWith((clock) => {
      const { credential, key, operation } = line.bucket
      const said = line.said
      if (
        said?.waiting.reason === reason && (isPolled(reason) || Math.abs(said.until - now - millis) <= 1_500)
      ) return Effect.void
      const until = new Date(clock.currentTimeMillisUnsafe() + millis)
      const waiting: Waiting = { _tag: "Waiting", operation, credential, bucket: key, reason, millis, until }
      line.said = { until: now + millis, waiting }
      line.tell(waiting)
      this.parts.events.tell(waiting)
      Metric.withAttributes(waits, { operation, reason }).updateUnsafe(1, this.parts.context)
      return this.#logging(Effect.annotateLogs(
        // Waits for a pace come every second.
        (reason === "pace" ? Effect.logDebug : Effect.logInfo)(
          `${operation} waits ${Math.ceil(millis / 1000)} s: ${because[reason]}`
        ),
        { operation, credential, reason, until: until.toISOString() }
      ))
    })
  }

  /** Asks the store until it grants the request of the head, or its fate is decided. Returns the start of the wait, if any. */
  readonly #reserve = Effect.fnUntraced(function*(this: Head, line: Line, place: Place, patience: number) {
    const { key, pace } = line.bucket
    const isDismissed = () => place.fate !== undefined
    let since: number | undefined
    let pollingSince: number | undefined
    let poll = 1
    while (!isDismissed()) {
      const now = yield* Monotonic.millis
      // A settlement may come before the head sleeps: the store did not know of it yet.
      let isWoken = false
      place.wake = () => void (isWoken = true)
      // The response of the store may be on its way when the caller is interrupted.
      place.isKnown = true
      const decision = yield* this.parts.store.reserve(
        key,
        place.lease,
        pace === undefined ? 0 : pace + paceToleranceMillis,
        { line: this.ownLine, callers: line.callers, waited: now - place.arrived, patience }
      )
      if (decision.granted) {
        place.refusals = decision.refusals
        place.briefs = decision.briefs
        break
      }
      const { millis, reason } = decision
      since ??= now
      line.dismiss(({ deadline, fate }) =>
        fate ?? (deadline < now + millis ? this.tooLong(line.bucket, millis) : undefined)
      )
      if (isDismissed()) break
      let pause = Math.min(millis, Ledger.millisOf.recheck)
      if (isPolled(reason)) {
        pollingSince ??= now
        if (now - pollingSince >= 1_000) yield* this.#announce(line, reason, Ledger.millisOf.lease, now)
        pause = Math.min(millis * poll, 200)
        poll *= 1.5
      } else {
        pollingSince = undefined
        yield* this.#announce(line, reason, millis, now)
      }
      if (!isWoken) yield* line.sleep(place, pause)
    }
    return since
  })

  /** Waits for the head of the queue and for the store. Returns the response of a caller whose fate is decided. */
  readonly admit = Effect.fnUntraced(function*(this: Head, line: Line, place: Place, patience: number) {
    const { said } = line
    if (line.callers > 0 && said !== undefined && !isPolled(said.waiting.reason) && said.until > place.deadline) {
      return yield* this.tooLong(line.bucket, said.until - (yield* Monotonic.millis))
    }
    yield* line.enter(place)
    const since = yield* this.#reserve(line, place, patience)
    if (place.fate !== undefined) return yield* place.fate
    if (since !== undefined && line.said !== undefined) {
      const { operation, reason } = line.said.waiting
      const seconds = ((yield* Monotonic.millis) - since) / 1000
      Metric.withAttributes(waitSeconds, { operation, reason }).updateUnsafe(seconds, this.parts.context)
    }
    line.said = undefined
    if (line.bucket.pace !== undefined) {
      place.isCold = (yield* Monotonic.millis) - line.answered > connectionLifeMillis
    }
    line.leave(place)
    return undefined
  })
}

/** One guarded request and its retries. */
class Call<E> {
  readonly #head: Head
  readonly #line: Line
  readonly #send: Effect.Effect<HttpClientResponse, E>
  readonly #patience: number
  readonly #clock: Clock.Clock
  readonly #span: Tracer.AnySpan | undefined
  readonly #ticket: number
  readonly #arrived: number
  #left: number
  #refusals = 0
  #briefs = 0

  constructor(
    head: Head,
    line: Line,
    send: Effect.Effect<HttpClientResponse, E>,
    patience: number,
    fiber: Fiber.Fiber<unknown, unknown>
  ) {
    this.#head = head
    this.#line = line
    this.#send = send
    this.#patience = patience
    this.#clock = fiber.getRef(Clock.Clock)
    this.#span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    this.#ticket = head.next()
    this.#arrived = Monotonic.millisUnsafe(this.#clock)
    this.#left = head.parts.maxWait
  }

  run(): Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong> {
    return Effect.flatMap(this.#attempt(), ({ again: pause, isBrief, response }) => {
      if (pause === undefined) return Effect.succeed(response)
      if (pause > this.#left) return this.#head.tooLong(this.#line.bucket, pause)
      this.#refusals++
      if (isBrief === true) this.#briefs++
      return this.run()
    })
  }

  #attempt(): Effect.Effect<Verdict, E | RateLimitWaitTooLong> {
    return Effect.suspend(() => {
      const begun = Monotonic.millisUnsafe(this.#clock)
      const place = new Place({
        ticket: this.#ticket,
        lease: `${this.#head.ownLine}:${this.#head.next()}`,
        span: this.#span,
        arrived: this.#arrived,
        deadline: begun + this.#left
      })
      const sent = Effect.suspend(() => {
        this.#left -= Monotonic.millisUnsafe(this.#clock) - begun
        return Effect.flatMap(this.#send, (response) => {
          this.#line.answered = Monotonic.millisUnsafe(this.#clock)
          const refusals = Math.max(this.#refusals, place.refusals)
          const briefs = Math.max(this.#briefs, place.briefs)
          return verdict(response, refusals, briefs, this.#head.parts.maxWait)
        })
      })
      return Effect.onExit(
        Effect.flatMap(
          this.#head.admit(this.#line, place, this.#patience),
          (lesson) =>
            lesson === undefined ? sent : Effect.succeed<Verdict>({ response: lesson, report: { answered: false } })
        ),
        (exit) => this.#settle(place, exit)
      )
    })
  }

  #settle(place: Place, exit: Exit.Exit<Verdict, E | RateLimitWaitTooLong>): Effect.Effect<void> {
    const line = this.#line
    const { bucket } = line
    const { events, settling, store } = this.#head.parts
    line.leave(place)
    if (!place.isKnown) return Effect.void
    // The headers count even if the body was lost.
    const lost = exit._tag === "Success" ? undefined : headOf(exit.cause)
    const report: Ledger.Report = {
      ...(exit._tag === "Success"
        ? exit.value.report
        : lost === undefined
        ? { answered: false }
        : reportOf(lost, this.#clock)),
      // After a cold start the pace counts from the response: the next request may be faster.
      next: place.isCold && bucket.pace !== undefined ? bucket.pace + paceToleranceMillis : undefined,
      emptied: line.callers === 0 ? this.#head.ownLine : undefined
    }
    if (report.figures !== undefined) events.announce(bucket, report.figures)
    if (exit._tag === "Success" && exit.value.isHopeless === true) {
      const { response } = exit.value
      line.dismiss(({ fate }) => fate ?? Effect.succeed(response))
    }
    return settling(Effect.andThen(store.settle(bucket.key, place.lease, report), Effect.sync(() => line.wake())))
  }
}

const reportOf = (head: ResponseHead, clock: Clock.Clock): Ledger.Report => {
  const figures = figuresOf(head, clock.currentTimeMillisUnsafe())
  // A gateway that refuses does not count requests: only a success, or a response that announces a rate limit, was counted.
  return { answered: head.status < 300 || (head.status < 500 && figures !== undefined), figures }
}

const verdict = (
  response: HttpClientResponse,
  refusals: number,
  briefs: number,
  maxWait: number
): Effect.Effect<Verdict> =>
  Clock.clockWith((clock) => {
    const final: Verdict = { response, report: reportOf(response, clock) }
    return response.status === 429
      ? Effect.flatMap(
        isBeyondWaiting(response),
        (isBeyond) => isBeyond ? Effect.succeed(final) : refused(final, refusals, briefs, maxWait)
      )
      : Effect.succeed(final)
  })

/** Precedence: `retry-after`, the announced reset, a growing pause. */
const refused = (final: Verdict, refusals: number, briefs: number, maxWait: number): Effect.Effect<Verdict> =>
  Effect.map(Random.next, (chance) => {
    const { report: { figures }, response } = final
    const isLast = refusals + 1 >= maxRefusalsInARow
    const pausing = (pause: number, isBrief: boolean): Verdict => ({
      response,
      // An excessive pause fails this call only: others do not wait for it.
      report: pause > Math.max(windowMillis, maxWait) ? { answered: false } : { answered: true, pause },
      ...(isLast ? { isHopeless: true } : { again: pause, isBrief })
    })
    const asked = retryAfterOf(response.headers)
    if (asked !== undefined) return pausing(Math.max(asked, shortestPauseMillis), false)
    if (figures === undefined) {
      return pausing(Math.round(Math.min(windowMillis, shortestPauseMillis * 2 ** refusals * (1 + chance / 2))), false)
    }
    if (figures.remaining === 0) return isLast ? final : { ...final, again: 0 }
    const base = briefPausesMillis[briefs]
    if (base === undefined) return { response, report: { answered: false, figures }, isHopeless: true }
    const verdict = pausing(Math.round(base * (1 + chance / 5)), true)
    return { ...verdict, report: { ...verdict.report, figures } }
  })

/** Tests whether the length of the wait is unknown, so that the store is polled. */
const isPolled = (reason: Ledger.Reason): boolean => reason === "in flight" || reason === "turn"

const because: Readonly<Record<Ledger.Reason, string>> = {
  window: "its rate limit is exhausted",
  refusal: "the service refused a request",
  pace: "it accepts one request per second",
  "in flight": "requests in flight may use the rest of its rate limit",
  turn: "calls of other processes are first"
}

/** An exhausted usage cap lasts days or months, beyond any reset. */
const isBeyondWaiting = (response: HttpClientResponse): Effect.Effect<boolean> =>
  Effect.match(response.text, {
    onFailure: () => false,
    onSuccess: (text) => text.includes("/problems/usage-capped") || text.includes("\"connection_issue\"")
  })
