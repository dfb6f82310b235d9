/**
 * Deliveries to webhooks: challenges, and signed requests that are retried and replayed. A webhook gets one request at a time, so
 * that events arrive in the order in which they happened; retries come between later ones.
 */
import { catalogue } from "@postwire/core/Catalogue"
import * as Delivery from "@postwire/core/events/Delivery"
import * as Signature from "@postwire/core/events/Signature"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { ReadRow } from "@postwire/core/schema/Price"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type * as Secrets from "../auth/Secrets.ts"
import type * as Faults from "../faults/Faults.ts"
import * as Names from "../http/Names.ts"
import * as Problem from "../http/Problem.ts"
import type * as ServiceClock from "../http/ServiceClock.ts"
import { millisOf } from "../http/Time.ts"
import type * as Bill from "../limits/Bill.ts"
import type * as Projection from "../projection/Projection.ts"
import type { Store } from "../store/Store.ts"
import type { Webhook } from "../store/Webhooks.ts"
import * as Challenge from "./Challenge.ts"
import * as DeliveryLog from "./DeliveryLog.ts"
import type * as Events from "./Events.ts"
import * as Outgoing from "./Outgoing.ts"

export interface Dependencies {
  readonly store: Store["Service"]
  readonly clock: ServiceClock.ServiceClock
  readonly faults: Faults.Faults
  readonly bill: Pick<Bill.Ledger, "charge">
  /** Removes credentials from the answers of webhooks. */
  readonly hide: Secrets.Hide
}

const minute = 60_000
const hour = 60 * minute

/**
 * The time after its last success at which a webhook is checked again, the time between checks that fail, and the age of that
 * success at which failures make it invalid. The documentation has three versions, with which these agree best.
 */
const checks = { after: 24 * hour, again: 30 * minute, invalid: 28 * hour }

/** The limits of replays. A job starts and ends with whole minutes. */
const replays = { maxAge: 24 * hour, from: 31 * minute, to: 10 * minute }

interface Job {
  readonly parcel: DeliveryLog.Parcel
  readonly attempt: number
  /** Resent on request, without retries. */
  readonly isReplay: boolean
  readonly fault?: Faults.Behaviour | undefined
  /** Undefined if it was charged before. */
  readonly charge?: (() => void) | undefined
  /** Called with the outcome of a replayed event. */
  readonly onReplayed?: ((isDelivered: boolean) => void) | undefined
}

/** Starts the deliveries of a service; they end with the scope. */
export const make = Effect.fnUntraced(
  function*(dependencies: Dependencies): Effect.fn.Return<Deliveries, never, Scope.Scope> {
    // Sleeps use the clock of the program that created the sandbox.
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const deliveries = new Deliveries(dependencies, run)
    deliveries.begin()
    yield* Effect.addFinalizer(() => Effect.sync(() => deliveries.close()))
    return deliveries
  }
)

/** The deliveries of a service. */
export class Deliveries implements Events.Deliveries {
  readonly #dependencies: Dependencies
  readonly #run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #outgoing = Outgoing.make()
  readonly #log = DeliveryLog.make()
  readonly #fibers = new Set<Fiber.Fiber<void>>()
  /** The jobs of webhooks that get requests now. */
  readonly #lanes = new Map<string, Array<Job>>()
  /** Events that a fault holds back until after the next one. */
  readonly #held = new Map<string, Job>()
  /** The webhooks that have a replay job. */
  readonly #replaying = new Set<string>()
  #isWatching = false

  constructor(dependencies: Dependencies, run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>) {
    this.#dependencies = dependencies
    this.#run = run
  }

  /** The latest deliveries after an id, oldest first. */
  list(after?: number, latest?: number): ReadonlyArray<DeliveryLog.Delivery> {
    return this.#log.list(after, latest)
  }

  /** A delivery in full. */
  entry(id: number): DeliveryLog.Entry | undefined {
    return this.#log.entry(id)
  }

  /** Sends a delivery again, free of charge. Throws a `RangeError` if that cannot be. */
  resend(id: number): void {
    const entry = this.#log.entry(id)
    const parcel = entry && DeliveryLog.parcelOf(entry)
    if (entry === undefined || parcel === undefined) throw new RangeError(`There is no delivery ${id} of an event`)
    const webhook = this.#dependencies.store.webhooks.byId(parcel.webhookId)
    if (webhook?.valid !== true) {
      throw new RangeError(`The webhook ${parcel.webhookId} ${webhook === undefined ? "was deleted" : "is invalid"}`)
    }
    this.#enqueue({ parcel, attempt: entry.attempt + 1, isReplay: true })
  }

  check(webhook: Pick<Webhook, "appId" | "url"> & { readonly id?: string }): Effect.Effect<Challenge.Verdict> {
    return Effect.gen({ self: this }, function*() {
      const { clock, store: { credentials } } = this.#dependencies
      const secret = credentials.appById(webhook.appId)?.consumerSecret ?? Redacted.make("")
      const token = Challenge.token()
      const headers = { accept: "application/json" }
      const begun = { at: clock.now(), millis: yield* Monotonic.millis }
      const answer = yield* this.#outgoing.send({ url: Challenge.urlOf(webhook.url, token), headers })
      const verdict = Challenge.verdictOf(answer, secret, token)
      this.#log.add({
        ...this.#answered(answer),
        at: begun.at,
        webhookId: webhook.id,
        url: webhook.url,
        event: "challenge",
        eventId: undefined,
        attempt: 1,
        state: verdict === "passed" ? "delivered" : "failed",
        reason: verdict === "passed" ? undefined : verdict.reason,
        millis: Math.round((yield* Monotonic.millis) - begun.millis),
        isSigned: false,
        isReplay: false,
        retryAt: undefined,
        fault: undefined,
        headers,
        body: undefined
      })
      if (verdict === "passed") this.#watch()
      return verdict
    })
  }

  validate(webhook: Webhook): Effect.Effect<Challenge.Verdict> {
    return Effect.tap(this.check(webhook), (verdict) =>
      Effect.sync(() => {
        const { clock, store: { webhooks } } = this.#dependencies
        if (verdict === "passed") webhooks.setChecked(webhook.id, clock.now())
        else if (verdict.isFinal || clock.now() - webhook.checkedAt >= checks.invalid) webhooks.setInvalid(webhook.id)
      }))
  }

  deliver({ id: webhookId, appId, url }: Webhook, data: Events.Event, row: ReadRow | undefined): void {
    const { event_type: event, event_uuid: eventId } = data
    const body = JSON.stringify(Delivery.spell(data))
    this.#accept(
      { webhookId, url, event, eventId, body },
      () => this.#charge(appId, "streamActivity", [{ kind: undefined, id: eventId, place: "data", row }])
    )
  }

  deliverPost(
    { id: webhookId, appId, url }: Webhook,
    { id: eventId, resources, text: body }: Parameters<Events.Deliveries["deliverPost"]>[1]
  ): void {
    this.#accept(
      { webhookId, url, event: "stream.post", eventId, body },
      () => this.#charge(appId, "streamPosts", resources)
    )
  }

  replay(webhook: Webhook, from: number, to: number): ReturnType<Events.Deliveries["replay"]> {
    return Effect.gen({ self: this }, function*() {
      const now = this.#dependencies.clock.now()
      const invalid = (name: string, millis: number, rule: string) =>
        Problem.invalidRequest(`The \`${name}\` must be ${rule}.`, { [name]: new Date(millis).toISOString() })
      if (from > now - replays.from) return yield* invalid("from_date", from, "at least 31 minutes ago")
      if (to > now - replays.to) return yield* invalid("to_date", to, "at least 10 minutes ago")
      if (from >= to) return yield* invalid("to_date", to, "later than the `from_date`")
      if (this.#replaying.has(webhook.id)) {
        return yield* Problem.plain(
          409,
          "Conflict",
          "ReplayConflictError: The webhook has a replay job, which has not ended."
        )
      }
      this.#replaying.add(webhook.id)
      return yield* Effect.onError(
        Effect.gen({ self: this }, function*() {
          const verdict = yield* this.validate(webhook)
          if (verdict !== "passed") return yield* Challenge.problemOf(verdict)
          const jobId = randomUUID()
          this.#replay(webhook, jobId, this.#log.between(webhook.id, Math.max(from, now - replays.maxAge), to + minute))
          return { job_id: jobId, created_at: new Date(now).toISOString() }
        }),
        () => Effect.sync(() => void this.#replaying.delete(webhook.id))
      )
    })
  }

  /** Watches the webhooks of a state. Without any, watching begins with the first that passes a check. */
  begin(): void {
    if (this.#dependencies.store.webhooks.all().length > 0) this.#watch()
  }

  /** Forgets everything that has not been delivered, and the log. */
  clear(): void {
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
    this.#fibers.clear()
    this.#lanes.clear()
    this.#held.clear()
    this.#replaying.clear()
    this.#log.clear()
    this.#isWatching = false
    this.begin()
  }

  /** Ends all deliveries. */
  close(): void {
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
    this.#outgoing.close()
  }

  /** Checks valid webhooks when it is time. */
  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    const { clock, store: { webhooks } } = this.#dependencies
    this.#fork(Effect.gen({ self: this }, function*() {
      for (;;) {
        // One that is registered later is checked later, too.
        const due = webhooks.all().flatMap(({ checkedAt, valid }) => valid ? checkedAt + checks.after : [])
        yield* clock.until(Math.min(...due, clock.now() + checks.after))
        const again = clock.now() + checks.again
        const late = webhooks.all().filter((hook) => hook.valid && hook.checkedAt + checks.after <= clock.now())
        const verdicts = yield* Effect.forEach(late, (webhook) => this.validate(webhook), { concurrency: "unbounded" })
        if (verdicts.some((verdict) => verdict !== "passed")) yield* clock.until(again)
      }
    }))
  }

  #fork(effect: Effect.Effect<void>): void {
    const fiber = this.#run(effect)
    this.#fibers.add(fiber)
    fiber.addObserver(() => void this.#fibers.delete(fiber))
  }

  #charge(
    appId: string,
    operation: "streamActivity" | "streamPosts",
    resources: ReadonlyArray<Projection.Resource>
  ): void {
    this.#dependencies.bill.charge({
      operation,
      definition: catalogue[operation].definition,
      caller: { appId, userId: undefined },
      params: {},
      parameters: {},
      data: undefined,
      resources,
      now: this.#dependencies.clock.now(),
      continues: true
    })
  }

  /** Delivers a new event, unless a fault has other plans. */
  #accept(parcel: DeliveryLog.Parcel, charge: () => void): void {
    const fault = this.#dependencies.faults.next(Names.delivery)
    const job: Job = { parcel, attempt: 1, isReplay: false, charge, fault }
    const { webhookId } = parcel
    const held = this.#held.get(webhookId)
    this.#held.delete(webhookId)
    if (fault?.delivery === "out-of-order") this.#held.set(webhookId, job)
    else this.#enqueue(job)
    if (fault?.delivery === "duplicate") this.#enqueue({ ...job, charge: undefined })
    if (held !== undefined) this.#enqueue(held)
  }

  #enqueue(job: Job): void {
    const { webhookId } = job.parcel
    const lane = this.#lanes.get(webhookId)
    if (lane !== undefined) return void lane.push(job)
    const jobs = [job]
    this.#lanes.set(webhookId, jobs)
    this.#fork(Effect.gen({ self: this }, function*() {
      // The transaction that made the event ends first.
      yield* Effect.yieldNow
      for (let next = jobs.shift(); next !== undefined; next = jobs.shift()) yield* this.#attempt(next)
      this.#lanes.delete(webhookId)
    }))
  }

  /** Delivers an event once, and again later if that fails. A deleted webhook gets nothing. */
  #attempt(job: Job): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const { attempt, charge, fault, isReplay, onReplayed, parcel } = job
      const { clock, store: { credentials, webhooks } } = this.#dependencies
      const webhook = webhooks.byId(parcel.webhookId)
      if (webhook === undefined) return onReplayed?.(false)
      const entry = { ...parcel, attempt, fault, isReplay, isSigned: false }
      const isLost = fault?.delivery === "lost"
      if (!webhook.valid || isLost) {
        this.#log.add({ ...entry, ...unsent, at: clock.now(), state: isLost ? "lost" : "skipped" })
        return onReplayed?.(false)
      }
      if (fault?.delay !== undefined) yield* Effect.sleep(millisOf(fault.delay))
      charge?.()
      const bytes = Buffer.from(parcel.body)
      const isSigned = fault?.delivery !== "bad-signature"
      const secret = isSigned ? credentials.appById(webhook.appId)?.consumerSecret : undefined
      const headers = {
        "content-type": "application/json",
        [Signature.header]: Signature.sign(secret ?? Redacted.make(randomUUID()), bytes)
      }
      const begun = { at: clock.now(), millis: yield* Monotonic.millis }
      const answer = yield* this.#outgoing.send({
        url: webhook.url,
        headers,
        body: bytes,
        pause: fault?.pause === undefined ? undefined : millisOf(fault.pause)
      })
      const millis = Math.round((yield* Monotonic.millis) - begun.millis)
      const isDelivered = Outgoing.isResponse(answer) && answer.status === Delivery.acknowledged
      const isRetried = !isDelivered && !isReplay && isTemporary(answer)
      const delay = isRetried ? Delivery.retryMillis[attempt - 1] : undefined
      const retryAt = delay === undefined ? undefined : clock.now() + delay
      const state = isDelivered ? "delivered" : "failed"
      this.#log.add({ ...entry, ...this.#answered(answer), at: begun.at, millis, isSigned, retryAt, state, headers })
      onReplayed?.(isDelivered)
      if (retryAt === undefined) return
      const again: Job = { parcel, attempt: attempt + 1, isReplay }
      this.#fork(Effect.andThen(clock.until(retryAt), Effect.sync(() => this.#enqueue(again))))
    })
  }

  /** Delivers events again, and then the end of the job. */
  #replay(webhook: Webhook, jobId: string, parcels: ReadonlyArray<DeliveryLog.Parcel>): void {
    let left = parcels.length
    let isComplete = true
    const end = () => {
      this.#replaying.delete(webhook.id)
      const body = JSON.stringify({
        [DeliveryLog.replayEnd]: {
          webhook_id: webhook.id,
          job_state: isComplete ? "Complete" : "Incomplete",
          job_state_description: isComplete
            ? "The events of the job were delivered."
            : "Some events of the job were not delivered. Request it again.",
          job_id: jobId
        }
      })
      const parcel = { webhookId: webhook.id, url: webhook.url, event: DeliveryLog.replayEnd, eventId: jobId, body }
      this.#enqueue({ parcel, attempt: 1, isReplay: false })
    }
    if (left === 0) end()
    for (const parcel of parcels) {
      const onReplayed = (isDelivered: boolean) => {
        isComplete &&= isDelivered
        if (--left === 0) end()
      }
      this.#enqueue({ parcel, attempt: 1, isReplay: true, onReplayed })
    }
  }

  #answered(answer: Outgoing.Answer): Pick<DeliveryLog.Entry, "answer" | "reason" | "status"> {
    return Outgoing.isResponse(answer)
      ? {
        status: answer.status,
        reason: undefined,
        answer: this.#dependencies.hide(answer.bytes.subarray(0, maxAnswerBytes).toString())
      }
      : { status: undefined, reason: answer.reason, answer: undefined }
  }
}

/** The bytes of an answer that are kept. */
const maxAnswerBytes = 1_000

const unsent = {
  status: undefined,
  reason: undefined,
  answer: undefined,
  headers: {},
  millis: 0,
  retryAt: undefined
}

/** True for timeouts, broken connections and failures of the server, which are retried. */
const isTemporary = (answer: Outgoing.Answer): boolean =>
  Outgoing.isResponse(answer) ? answer.status >= 500 : answer.cause !== "tls"
