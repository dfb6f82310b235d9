/** The policy that waits: before sending if a request would not fit, and after a refusal. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Random from "effect/Random"
import * as Tracer from "effect/Tracer"
import { nonce } from "../../auth/OAuth1.ts"
import { RateLimitWaitTooLong } from "../../errors/Errors.ts"
import { headOf } from "../../http/Transport.ts"
import { Recent } from "../../internal/recentMap.ts"
import { Logging } from "../../runtime/Logging.ts"
import * as Metrics from "../../runtime/Metrics.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import { windowMillis } from "../../schema/Quota.ts"
import { figuresOf, retryAfterOf } from "../../schema/RateLimitHeaders.ts"
import type { ResponseHead } from "../../schema/RateLimitHeaders.ts"
import * as Ledger from "../Ledger.ts"
import { type Bucket, maxRememberedBudgets, type Policy, usageOf, type Waiting } from "../Policy.ts"
import type * as RateLimitStore from "../RateLimitStore.ts"
import { makeListeners, type Measure } from "./events.ts"
import { Queue, Waiter } from "./queue.ts"

const shortestPauseMillis = 1_000
const maxRefusalsInARow = 8
/** Pauses after refusals with requests remaining; with jitter of up to a fifth they add up to less than 15 s. */
const briefPausesMillis = [1_000, 2_000, 4_000, 5_000]
/** The distance between two requests may shrink on their way. */
const paceToleranceMillis = 13
/**
 * The service closes idle connections after 5 s. After 3 s idle, assume that the next request must reconnect and so arrives late.
 */
const connectionLifeMillis = 3_000

/**
 * Makes a function that runs settlements in the background, so that the store does not delay a caller that has its response or was
 * interrupted. On release, running ones get two more seconds.
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

const attributesOf = ({ operation, reason }: Waiting) => ({
  "postwire.operation": operation,
  "postwire.reason": reason
})

interface Verdict {
  readonly response: HttpClientResponse
  readonly report: Ledger.Report
  /** Milliseconds to wait before the request is retried; `undefined` returns the response. */
  readonly again?: number
  readonly isBrief?: boolean
  /** True if all waiting callers would be refused too. */
  readonly isHopeless?: boolean
}

interface Dependencies {
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
  settling: Dependencies["settling"]
): Policy => {
  const queues = new Recent<Queue>(maxRememberedBudgets)
  const events = makeListeners(measure)
  const admission = new Admission({ store, maxWait, context, events, settling })
  return {
    waits: true,
    listen: events.listen,
    snapshot: Effect.suspend(() =>
      Effect.forEach(
        Array.from(queues.values()),
        ({ bucket }) => Effect.map(store.read(bucket.key), (reading) => usageOf(bucket, reading))
      )
    ),
    guard: (bucket, send, patience = Infinity) =>
      Effect.withFiber((fiber) => {
        const queue = queues.get(bucket.key, () => new Queue(bucket))
        return new Call(admission, queue, send, patience, fiber).run()
      })
  }
}

/** Admits the heads of all queues of a policy. */
class Admission {
  readonly dependencies: Dependencies
  /** The name of this process in the store. */
  readonly processId = nonce()
  readonly #logging: typeof Logging.Service
  #last = 0

  constructor(dependencies: Dependencies) {
    this.dependencies = dependencies
    this.#logging = Context.get(dependencies.context, Logging)
  }

  nextNumber(): number {
    return ++this.#last
  }

  tooLong({ operation }: Bucket, millis: number): Effect.Effect<never, RateLimitWaitTooLong> {
    return Clock.clockWith((clock) =>
      Effect.fail(
        new RateLimitWaitTooLong({
          operation,
          bucket: operation,
          resetAt: new Date(clock.currentTimeMillisUnsafe() + millis),
          maxWait: this.dependencies.maxWait
        })
      )
    )
  }

  /** Reports once that the head waits, also to the spans of the callers behind it. */
  #announce(queue: Queue, reason: Ledger.Reason, millis: number, now: number): Effect.Effect<void> {
    return Clock.clockWith((clock) => {
      const { credential, key, operation } = queue.bucket
      const announced = queue.announced
      if (
        announced?.waiting.reason === reason && (isPolled(reason) || Math.abs(announced.until - now - millis) <= 1_500)
      ) return Effect.void
      const until = new Date(clock.currentTimeMillisUnsafe() + millis)
      const waiting: Waiting = { _tag: "Waiting", operation, credential, bucket: key, reason, millis, until }
      queue.announced = { until: now + millis, waiting }
      queue.notify(waiting)
      this.dependencies.events.tell(waiting)
      Metrics.rateLimitWaits.of(attributesOf(waiting)).updateUnsafe(1, this.dependencies.context)
      return this.#logging(Effect.annotateLogs(
        // Waits for a pace come every second.
        (reason === "pace" ? Effect.logDebug : Effect.logInfo)(
          `${operation} waits ${Math.ceil(millis / 1000)} s: ${because[reason]}`
        ),
        { operation, credential, reason, until: until.toISOString() }
      ))
    })
  }

  /** Asks the store until it grants the request or the caller is dismissed. Returns the start of the wait, if any. */
  readonly #reserve = Effect.fnUntraced(function*(this: Admission, queue: Queue, waiter: Waiter, patience: number) {
    const { key, pace } = queue.bucket
    const isDismissed = () => waiter.outcome !== undefined
    let since: number | undefined
    let pollingSince: number | undefined
    let poll = 1
    while (!isDismissed()) {
      const now = yield* Monotonic.millis
      // A settlement may come before the head sleeps: the store did not know of it yet.
      let isWoken = false
      waiter.wake = () => void (isWoken = true)
      // Set first: if the caller is interrupted, the store may already have granted the lease, so it must be settled.
      waiter.isKnown = true
      const decision = yield* this.dependencies.store.reserve(
        key,
        waiter.lease,
        pace === undefined ? 0 : pace + paceToleranceMillis,
        { line: this.processId, callers: queue.callers, waited: now - waiter.arrived, patience }
      )
      if (decision.granted) {
        waiter.refusals = decision.refusals
        waiter.briefs = decision.briefs
        break
      }
      const { millis, reason } = decision
      since ??= now
      queue.dismiss(({ deadline, outcome }) =>
        outcome ?? (deadline < now + millis ? this.tooLong(queue.bucket, millis) : undefined)
      )
      if (isDismissed()) break
      let pause = Math.min(millis, Ledger.millisOf.recheck)
      if (isPolled(reason)) {
        pollingSince ??= now
        if (now - pollingSince >= 1_000) yield* this.#announce(queue, reason, Ledger.millisOf.lease, now)
        pause = Math.min(millis * poll, 200)
        poll *= 1.5
      } else {
        pollingSince = undefined
        yield* this.#announce(queue, reason, millis, now)
      }
      if (!isWoken) yield* queue.sleep(waiter, pause)
    }
    return since
  })

  /**
   * Waits until the caller is first in its queue and the store grants its request. If the caller was dismissed, returns the
   * response that decided it.
   */
  readonly admit = Effect.fnUntraced(function*(this: Admission, queue: Queue, waiter: Waiter, patience: number) {
    const { announced } = queue
    if (
      queue.callers > 0 && announced !== undefined && !isPolled(announced.waiting.reason) &&
      announced.until > waiter.deadline
    ) {
      return yield* this.tooLong(queue.bucket, announced.until - (yield* Monotonic.millis))
    }
    yield* queue.enter(waiter)
    const since = yield* this.#reserve(queue, waiter, patience)
    if (waiter.outcome !== undefined) return yield* waiter.outcome
    if (since !== undefined && queue.announced !== undefined) {
      const seconds = ((yield* Monotonic.millis) - since) / 1000
      Metrics.rateLimitWaitDuration.of(attributesOf(queue.announced.waiting))
        .updateUnsafe(seconds, this.dependencies.context)
    }
    queue.announced = undefined
    if (queue.bucket.pace !== undefined) {
      waiter.isCold = (yield* Monotonic.millis) - queue.answered > connectionLifeMillis
    }
    queue.leave(waiter)
    return undefined
  })
}

/** One guarded request and its retries. */
class Call<E> {
  readonly #admission: Admission
  readonly #queue: Queue
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
    admission: Admission,
    queue: Queue,
    send: Effect.Effect<HttpClientResponse, E>,
    patience: number,
    fiber: Fiber.Fiber<unknown, unknown>
  ) {
    this.#admission = admission
    this.#queue = queue
    this.#send = send
    this.#patience = patience
    this.#clock = fiber.getRef(Clock.Clock)
    this.#span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    this.#ticket = admission.nextNumber()
    this.#arrived = Monotonic.millisUnsafe(this.#clock)
    this.#left = admission.dependencies.maxWait
  }

  run(): Effect.Effect<HttpClientResponse, E | RateLimitWaitTooLong> {
    return Effect.flatMap(this.#attempt(), ({ again: pause, isBrief, response }) => {
      if (pause === undefined) return Effect.succeed(response)
      if (pause > this.#left) return this.#admission.tooLong(this.#queue.bucket, pause)
      this.#refusals++
      if (isBrief === true) this.#briefs++
      return this.run()
    })
  }

  #attempt(): Effect.Effect<Verdict, E | RateLimitWaitTooLong> {
    return Effect.suspend(() => {
      const begun = Monotonic.millisUnsafe(this.#clock)
      const waiter = new Waiter({
        ticket: this.#ticket,
        lease: `${this.#admission.processId}:${this.#admission.nextNumber()}`,
        span: this.#span,
        arrived: this.#arrived,
        deadline: begun + this.#left
      })
      const sent = Effect.suspend(() => {
        this.#left -= Monotonic.millisUnsafe(this.#clock) - begun
        return Effect.flatMap(this.#send, (response) => {
          this.#queue.answered = Monotonic.millisUnsafe(this.#clock)
          const refusals = Math.max(this.#refusals, waiter.refusals)
          const briefs = Math.max(this.#briefs, waiter.briefs)
          return verdict(response, refusals, briefs, this.#admission.dependencies.maxWait)
        })
      })
      return Effect.onExit(
        Effect.flatMap(
          this.#admission.admit(this.#queue, waiter, this.#patience),
          (shared) =>
            shared === undefined ? sent : Effect.succeed<Verdict>({ response: shared, report: { answered: false } })
        ),
        (exit) => this.#settle(waiter, exit)
      )
    })
  }

  #settle(waiter: Waiter, exit: Exit.Exit<Verdict, E | RateLimitWaitTooLong>): Effect.Effect<void> {
    const queue = this.#queue
    const { bucket } = queue
    const { events, settling, store } = this.#admission.dependencies
    queue.leave(waiter)
    if (!waiter.isKnown) return Effect.void
    // The headers count even if the body was lost.
    const lost = exit._tag === "Success" ? undefined : headOf(exit.cause)
    const report: Ledger.Report = {
      ...(exit._tag === "Success"
        ? exit.value.report
        : lost === undefined
        ? { answered: false }
        : reportOf(lost, this.#clock)),
      // After a cold start the pace counts from the response: the next request may be faster.
      next: waiter.isCold && bucket.pace !== undefined ? bucket.pace + paceToleranceMillis : undefined,
      emptied: queue.callers === 0 ? this.#admission.processId : undefined
    }
    if (report.figures !== undefined) events.announce(bucket, report.figures)
    if (exit._tag === "Success" && exit.value.isHopeless === true) {
      const { response } = exit.value
      queue.dismiss(({ outcome }) => outcome ?? Effect.succeed(response))
    }
    return settling(Effect.andThen(store.settle(bucket.key, waiter.lease, report), Effect.sync(() => queue.wake())))
  }
}

const reportOf = (head: ResponseHead, clock: Clock.Clock): Ledger.Report => {
  const figures = figuresOf(head, clock.currentTimeMillisUnsafe())
  // A gateway that refuses does not count requests: only a success, or a response below 500 with rate limit headers, was counted.
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

/**
 * The pause is `retry-after` if given; without rate limit headers, a growing one; if no requests remain, until the reset; if some
 * remain, one of a few brief ones, then the call gives up.
 */
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
  pace: "its requests are spaced out",
  "in flight": "requests in flight may use the rest of its rate limit",
  turn: "calls of other processes are first"
}

/**
 * An exhausted usage cap lasts days or months, beyond any reset. Nor does waiting help when an app has too many stream connections
 * (`connection_issue`).
 */
const isBeyondWaiting = (response: HttpClientResponse): Effect.Effect<boolean> =>
  Effect.match(response.text, {
    onFailure: () => false,
    onSuccess: (text) => text.includes("/problems/usage-capped") || text.includes("\"connection_issue\"")
  })
