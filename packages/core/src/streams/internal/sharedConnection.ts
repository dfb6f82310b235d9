/** A connection that is kept up, and the consumers that share it. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import { type AnyError, type RateLimited, TransportFailure } from "../../errors/Errors.ts"
import { NoRules, type StreamOverflow, type TooManyConnections } from "../../errors/StreamErrors.ts"
import * as Metrics from "../../runtime/Metrics.ts"
import type { Definition, Live } from "../../schema/Definition.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { StreamNotice } from "../StreamEvents.ts"
import { isOfRules, type Retry, verdictOf } from "../StreamFailure.ts"
import type { Recover, ResumeFrom } from "../StreamOptions.ts"
import * as Backfill from "./backfill.ts"
import { BackfillQueue } from "./backfillQueue.ts"
import { Backoff, type Connects } from "./backoff.ts"
import type { AnyStreamError, Entry } from "./buffer.ts"
import type { StreamClock } from "./clock.ts"
import * as Connection from "./connection.ts"
import { Consumer, maxPauseMillis, type Settings } from "./consumer.ts"
import { Coverage } from "./coverage.ts"
import type * as DecodeLines from "./decodeLines.ts"
import { Duplicates, idOf } from "./deduplicator.ts"
import * as Gaps from "./gaps.ts"
import * as TakeOver from "./takeOver.ts"

/** Settings that are the same for all consumers of a connection. */
export interface ConnectionSettings {
  readonly definition: Definition & { readonly live: Live }
  readonly parameters: object
  readonly recover: Recover
  /** In milliseconds. */
  readonly silence: number
  readonly reconnects: number
  readonly duplicates: { readonly size: number; readonly age: number }
}

/** The connections that a client has made to one stream. */
export interface History {
  readonly connects: Connects
  /** The lifetimes of those that have ended, by the service's clock. */
  readonly ended: Array<Gaps.Span>
}

/** How many ended connections are remembered. */
const maxEnded = 20

/** The shortest time between two watermarks. */
const watermarkMillis = 1_000

/** How long a connection may take to end after a disconnect notice. */
const disconnectGraceMillis = 2_000

/** How long the service may take to free the place of a connection that was ended. */
const slotReleaseMillis = 1_000

const spreadNotice = "connection attempts are spread over 15 minutes to stay within the service's limit"

/** A connection, kept up as long as it has consumers. */
export class SharedConnection {
  readonly terms: ConnectionSettings
  readonly #clock: StreamClock
  readonly #consumers = new Set<Consumer>()
  readonly #duplicates: Duplicates
  readonly #backoff = new Backoff()
  readonly #history: History
  readonly #backfill: BackfillQueue
  readonly #coverage: Coverage
  /** Consumers whose gaps begin at these times and end when the first connection is made. */
  readonly #resuming: Array<{ readonly consumer: Consumer; readonly from: number }> = []
  /** When the last data came or the connection was made, in monotonic time. */
  #heardAt = 0
  #silence: number
  #isPaused = false
  /** True if the connection works: data came, or it has lived for a minute. */
  #isProven = false
  /** The reason in the service's disconnect notice. */
  #disconnect: string | undefined
  #markedAt = 0
  readonly #items: Metric.Counter<number>

  constructor(terms: ConnectionSettings, clock: StreamClock, history: History, resumeFrom: ResumeFrom | undefined) {
    this.terms = terms
    this.#clock = clock
    this.#items = Metrics.streamItems.of({ "postwire.operation": terms.definition.name })
    this.#duplicates = this.#remembering(resumeFrom)
    this.#history = history
    this.#silence = terms.silence
    this.#coverage = new Coverage(clock, terms.definition, terms.recover, resumeFrom?.at)
    this.#backfill = new BackfillQueue({
      terms: { ...terms, clock, spread: Effect.suspend(() => Effect.sleep(history.connects.next(clock.monotonic()))) },
      consumers: this.#consumers,
      duplicates: this.#duplicates,
      offer: (consumer, entries) => this.#offer(consumer, entries) ?? Effect.void,
      onDone: () => this.#mark()
    })
  }

  /** When the connection was made, by the service's clock; `undefined` while there is none. */
  get connectedAt(): number | undefined {
    return this.#coverage.connectedAt
  }

  /** The number of consumers. */
  get consumers(): number {
    return this.#consumers.size
  }

  /** Adds a consumer. Unless it is the first, items from `resumeFrom` on are fetched for this consumer alone. */
  join(settings: Settings, resumeFrom: ResumeFrom | undefined): Consumer {
    const consumer = new Consumer(settings, this.#clock)
    const isFirst = this.#consumers.size === 0
    this.#consumers.add(consumer)
    if (isFirst) return consumer
    if (resumeFrom !== undefined) {
      consumer.own = this.#remembering(resumeFrom)
      this.#resuming.push({ consumer, from: resumeFrom.at.getTime() })
      // Until the first connection is made, the end of the gap is not known.
      if (this.#coverage.wasConnected) this.#resume()
    }
    if (this.connectedAt !== undefined) this.#mark()
    return consumer
  }

  #resume(): void {
    const to = this.#clock.service() + 1_000
    for (const { consumer, from } of this.#resuming.splice(0)) {
      if (from < to) this.#backfill.add({ from, to }, [consumer])
    }
  }

  leave(consumer: Consumer): void {
    this.#consumers.delete(consumer)
    consumer.buffer.end(Exit.void)
  }

  /** Keeps the connection up until it fails permanently. `others` gives the times at which the client's other ones were made. */
  run(others: () => ReadonlyArray<number>): Effect.Effect<void, AnyStreamError, Client> {
    return Effect.raceFirst(this.#stayUp(others), this.#backfill.run())
  }

  /** Ends all consumers with `exit`, which they receive after the items in their buffers. */
  end(exit: Exit.Exit<void, AnyStreamError>): void {
    this.#markLost()
    for (const { buffer } of this.#consumers) buffer.end(exit)
  }

  #markLost(): void {
    if (this.connectedAt === undefined) return
    const { ended } = this.#history
    ended.push({ from: this.connectedAt, to: this.#clock.service() })
    if (ended.length > maxEnded) ended.shift()
    this.#coverage.lost()
  }

  #stayUp = Effect.fnUntraced(
    function*(
      this: SharedConnection,
      others: () => ReadonlyArray<number>
    ): Effect.fn.Return<void, AnyStreamError, Client> {
      const { parameters, reconnects } = this.terms
      const hasEndTime = "end_time" in parameters && parameters.end_time !== undefined
      let crowdedAttempts = 0
      let retries = 0
      for (let attempt = 1;; attempt++) {
        const pause = this.#history.connects.next(this.#clock.monotonic())
        if (pause > 0) yield* this.#pause(pause, spreadNotice, attempt)
        const backfillMinutes = this.#coverage.backfillMinutes()
        const result = yield* Effect.result(this.#connection(backfillMinutes, attempt))
        const hadConnection = this.connectedAt !== undefined
        this.#markLost()
        if (hadConnection) {
          attempt = 0
          crowdedAttempts = 0
          if (this.#isProven) retries = 0
        }
        if (Result.isSuccess(result) && hasEndTime && this.#disconnect === undefined) return
        const error = Result.isSuccess(result) ? this.#closedError() : result.failure
        if (!hadConnection && backfillMinutes !== undefined && isRefusal(error)) {
          // The app may have access to the stream but not to its backfill.
          this.#coverage.withoutBackfill()
          continue
        }
        const verdict = verdictOf(error, this.#coverage.wasConnected)
        if (verdict._tag === "Final") return yield* verdict.error
        if (verdict._tag === "Again" && retries++ >= reconnects) return yield* error
        const wait = verdict._tag === "Again"
          ? this.#backoffAfter(verdict, hadConnection, yield* Random.next)
          : yield* this.#makeRoom(verdict.error, crowdedAttempts++, others())
        yield* this.#pause(wait, error.message, attempt + 1)
      }
    }
  )

  #pause(wait: number, why: string, attempt: number): Effect.Effect<void> {
    this.#notify({ _tag: "Reconnecting", at: this.#clock.date(), why, wait, attempt })
    const reconnects = Metrics.streamReconnects.of({ "postwire.operation": this.terms.definition.name })
    return Effect.andThen(Metric.update(reconnects, 1), wait > 0 ? Effect.sleep(wait) : Effect.void)
  }

  #backoffAfter({ fault, notBefore, retryAfter }: Retry, hadConnection: boolean, random: number): number {
    const pause = this.#backoff.after(fault, hadConnection, random)
    return Math.max(pause, retryAfter ?? (notBefore?.getTime() ?? 0) - this.#clock.wall())
  }

  #makeRoom(
    error: RateLimited,
    looks: number,
    live: ReadonlyArray<number>
  ): Effect.Effect<number, TooManyConnections, Client> {
    const claim = { definition: this.terms.definition, age: this.#coverage.age, ended: this.#history.ended, live }
    return Effect.flatMap(TakeOver.makeRoom(claim, looks, error), (hasEnded) =>
      hasEnded
        ? Effect.succeed(slotReleaseMillis)
        : Effect.map(Random.next, (random) => this.#backoff.after("service", false, random)))
  }

  /** Opens one connection and reads it to its end. */
  #connection(
    backfillMinutes: number | undefined,
    attempt: number
  ): Effect.Effect<void, AnyError | NoRules | StreamOverflow, Client> {
    const { definition, parameters } = this.terms
    return Effect.gen({ self: this }, function*() {
      // The caller's `backfill_minutes` applies to the first connection only; later ones use what the gap requires.
      const requested = backfillMinutes === undefined && !this.#coverage.wasConnected
        ? parameters
        : { ...parameters, backfill_minutes: backfillMinutes }
      const opened = yield* Connection.open(definition, requested)
      this.#onConnected(opened.headers, backfillMinutes, attempt)
      const reading = Stream.runForEachArray(opened.entries, (entries) => this.#receive(entries))
      yield* Effect.raceFirst(reading, this.#watch())
    }).pipe(Effect.scoped)
  }

  #onConnected(headers: Connection.Opened["headers"], backfillMinutes: number | undefined, attempt: number): void {
    const missed = this.#coverage.connected(headers, backfillMinutes)
    this.#isProven = false
    this.#disconnect = undefined
    this.#silence = this.terms.silence
    this.#heardAt = this.#clock.monotonic()
    const minutes = backfillMinutes === undefined ? {} : { backfillMinutes }
    this.#notify({ _tag: "Connected", at: this.#clock.date(), attempt, ...minutes })
    if (missed !== undefined) this.#backfill.add(missed, [...this.#consumers])
    this.#resume()
    this.#mark()
  }

  /** Ends when nothing has come for too long. */
  #watch(): Effect.Effect<void, AnyError> {
    return Effect.suspend(() => {
      const now = this.#clock.monotonic()
      if (this.#isPaused) this.#heardAt = now
      const left = this.#heardAt + this.#silence - now
      // A disconnect notice shortens the timeout.
      if (left > 0) return Effect.andThen(Effect.sleep(Math.min(left, disconnectGraceMillis)), this.#watch())
      return this.#disconnect === undefined
        ? Effect.fail(Backfill.silent(this.terms.definition.name, this.#silence))
        : Effect.void
    })
  }

  /** Delivers what arrived together. */
  #receive(arrived: Arr.NonEmptyReadonlyArray<DecodeLines.Entry>): Effect.Effect<void, NoRules | StreamOverflow> {
    const now = this.#heardAt = this.#clock.monotonic()
    const entries: Array<Entry> = []
    let last: AnyItem | undefined
    let isIdle = false
    let notice: DecodeLines.Problems | undefined
    let items = 0
    const keeps = this.#backfill.isOpen || this.#coverage.isFilling
    for (const entry of arrived) {
      if (!("_tag" in entry)) {
        last = entry
        const id = idOf(entry)
        const isNew = this.#duplicates.add(id, now, keeps)
        if (isNew) items++
        entries.push(isNew ? entry : { _tag: "Duplicate", at: this.#clock.date(), id })
      } else if (entry._tag === "Problems") {
        entries.push({ _tag: "Trouble", at: this.#clock.date(), problems: entry.problems })
        if (entry.disconnectType !== undefined) notice = entry
      } else {
        if (entry._tag === "KeepAlive") isIdle = true
        entries.push({ ...entry, at: this.#clock.date() })
      }
    }
    const filled = this.#coverage.received(last, isIdle)
    if (this.#coverage.isProven(last !== undefined)) {
      this.#isProven = true
      this.#backoff.reset()
    }
    let delivered = Arr.isReadonlyArrayNonEmpty(entries) ? this.#deliver(entries) : Effect.void
    if (items > 0) delivered = Effect.andThen(Metric.update(this.#items, items), delivered)
    if (filled !== undefined) {
      const gap = Gaps.eventOf(this.#clock.date(), filled, "backfill")
      this.#notify(gap)
      delivered = Effect.andThen(Gaps.count(this.terms.definition.name, gap), delivered)
    }
    if (now - this.#markedAt >= watermarkMillis) {
      this.#markedAt = now
      this.#mark()
    }
    this.#coverage.resumed()
    return notice === undefined ? delivered : Effect.andThen(delivered, this.#disconnected(notice))
  }

  #disconnected({ disconnectType, problems: [problem] }: DecodeLines.Problems): Effect.Effect<void, NoRules> {
    const detail = problem?.detail ?? problem?.title
    this.#disconnect = detail ?? disconnectType
    this.#silence = disconnectGraceMillis
    return isOfRules(disconnectType)
      ? Effect.fail(new NoRules({ operation: this.terms.definition.name, detail }))
      : Effect.void
  }

  #mark(): void {
    const certain = this.#coverage.certain()
    for (const consumer of this.#consumers) consumer.mark(this.#backfill.until(certain, consumer))
  }

  #notify(event: StreamNotice): void {
    for (const consumer of this.#consumers) consumer.notify(event)
  }

  /** Offers entries to all consumers. Waits for a consumer that is full and has the connection to itself, for up to 20 s. */
  #deliver(entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void, StreamOverflow> {
    const pending: Array<Effect.Effect<void, StreamOverflow>> = []
    for (const consumer of this.#consumers) {
      const spilling = this.#offer(consumer, entries)
      if (spilling !== undefined) pending.push(spilling)
      if (consumer.buffer.isFull) pending.push(this.#pauseFor(consumer))
    }
    // Unbounded, so that every spill has started, and is uninterruptible, before the connection can end.
    return pending.length === 0 ? Effect.void : Effect.all(pending, { discard: true, concurrency: "unbounded" })
  }

  /** Offers entries to a consumer, and ends it if it is full and shares the connection. */
  #offer(consumer: Consumer, entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void> | undefined {
    const spilling = consumer.offer(entries)
    if (consumer.buffer.isFull && this.#consumers.size > 1) {
      consumer.buffer.end(Exit.fail(consumer.overflow()))
      this.leave(consumer)
    }
    return spilling
  }

  #pauseFor(consumer: Consumer): Effect.Effect<void, StreamOverflow> {
    return Effect.suspend(() => {
      this.#isPaused = true
      this.#coverage.paused()
      return Effect.ensuring(
        Effect.timeoutOrElse(consumer.buffer.whenRoom, {
          duration: maxPauseMillis,
          orElse: () => Effect.fail(consumer.overflow())
        }),
        Effect.sync(() => {
          this.#isPaused = false
          this.#heardAt = this.#clock.monotonic()
          this.#coverage.resumed()
        })
      )
    })
  }

  #remembering(resumeFrom: ResumeFrom | undefined): Duplicates {
    const duplicates = new Duplicates(this.terms.duplicates.size, this.terms.duplicates.age)
    for (const id of resumeFrom?.ids ?? []) duplicates.add(id, this.#clock.monotonic(), true)
    return duplicates
  }

  /** The error of a connection that the service ended. */
  #closedError(): TransportFailure {
    return new TransportFailure({
      operation: this.terms.definition.name,
      phase: "body",
      timeout: undefined,
      reason: this.#disconnect ?? "the service ended the connection"
    })
  }
}

const isRefusal = ({ _tag }: AnyStreamError): boolean => _tag === "BadRequest" || _tag === "Forbidden"
