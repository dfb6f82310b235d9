/** One connection that is kept up, and the consumers that share it. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import { type AnyError, TransportFailure } from "../../errors/Errors.ts"
import { NoRules, StreamOverflow } from "../../errors/StreamErrors.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Definition, Live } from "../../schema/Definition.ts"
import type { Gap, StreamNotice } from "../StreamEvents.ts"
import { isOfRules, verdictOf } from "../StreamFailure.ts"
import type { Recover, ResumeFrom } from "../StreamOptions.ts"
import * as Backfill from "./backfill.ts"
import { Missed, type Missing } from "./backfillQueue.ts"
import { Backoff, type Connects } from "./backoff.ts"
import type { AnyStreamError, Entry } from "./buffer.ts"
import * as Connection from "./connection.ts"
import { type Consumer, maxPauseMillis } from "./consumer.ts"
import { Coverage } from "./coverage.ts"
import type * as DecodeLines from "./decodeLines.ts"
import { Duplicates } from "./deduplicator.ts"
import type * as Gaps from "./gaps.ts"
import * as Receive from "./receive.ts"
import * as TakeOver from "./takeOver.ts"

/** What consumers that share a connection have in common. */
export interface Terms {
  readonly definition: Definition & { readonly live: Live }
  readonly parameters: object
  readonly recover: Recover
  /** In milliseconds. */
  readonly silence: number
  readonly reconnects: number
  readonly duplicates: { readonly size: number; readonly age: number }
}

/** The connections that a client has made to one stream, whichever hub they were of. */
export interface Past {
  readonly connects: Connects
  /** The lifetimes of those that have ended, by the service's clock. */
  readonly ended: Array<Gaps.Span>
}

/** How many connections of the past are remembered. */
const mostEnded = 20

/** The shortest time between two watermarks. */
const watermarkMillis = 1_000

/** How long a connection may take to end after the service has said that it does. */
const endMillis = 2_000

/** How long the service may take until a connection that was ended makes room. */
const endedMillis = 1_000

/** A connection, kept up as long as it has consumers. */
export class SharedConnection {
  readonly terms: Terms
  readonly #clock: Clock.Clock
  readonly #consumers = new Set<Consumer>()
  readonly #duplicates: Duplicates
  readonly #backoff = new Backoff()
  readonly #connects: Connects
  readonly #ended: Array<Gaps.Span>
  readonly #missed: Missed
  readonly #coverage: Coverage
  /** Waits until another connection keeps the limit of the service. */
  readonly #spread = Effect.suspend(() => Effect.sleep(this.#connects.next(this.#millis())))
  /** When something came last, or nothing was read: by the monotonic clock. */
  #heard = 0
  #silence: number
  #isPaused = false
  /** Whether it has shown that it is one: data came, or it has lived for a minute. */
  #isProven = false
  /** What the service said before it ended the connection. */
  #said: string | undefined
  #marked = 0

  constructor(
    terms: Terms,
    clock: Clock.Clock,
    missed: Queue.Queue<Missing>,
    { connects, ended }: Past,
    resumeFrom: ResumeFrom | undefined
  ) {
    this.terms = terms
    this.#clock = clock
    this.#duplicates = new Duplicates(terms.duplicates.size, terms.duplicates.age)
    this.#connects = connects
    this.#ended = ended
    this.#silence = terms.silence
    this.#coverage = new Coverage(clock, terms.definition, terms.recover, resumeFrom?.at)
    this.#missed = new Missed({
      terms: { ...terms, serviceNow: () => this.serviceNow(), connect: this.#spread },
      consumers: this.#consumers,
      duplicates: this.#duplicates,
      offer: (consumer, entries) => this.#offer(consumer, entries) ?? Effect.void,
      millis: () => this.#millis(),
      gap: (span, filledBy, why) => this.#gap(span, filledBy, why),
      done: () => this.#mark()
    }, missed)
    this.#remember(this.#duplicates, resumeFrom)
  }

  /** When the connection was made, by the service's clock; `undefined` while there is none. */
  get connectedAt(): number | undefined {
    return this.#coverage.connectedAt
  }

  /** How many share it. */
  get consumers(): number {
    return this.#consumers.size
  }

  /** Adds a consumer. What came since an earlier run of it is fetched for it alone, where there is a connection already. */
  join(consumer: Consumer, resumeFrom: ResumeFrom | undefined): void {
    const isFirst = this.#consumers.size === 0
    this.#consumers.add(consumer)
    if (isFirst) return
    if (resumeFrom !== undefined) this.#resume(consumer, resumeFrom)
    if (this.connectedAt !== undefined) this.#mark()
  }

  #resume(consumer: Consumer, resumeFrom: ResumeFrom): void {
    consumer.own = new Duplicates(this.terms.duplicates.size, this.terms.duplicates.age)
    this.#remember(consumer.own, resumeFrom)
    const from = resumeFrom.at.getTime()
    const to = this.serviceNow() + 1_000
    if (from < to) this.#missed.add({ from, to }, [consumer])
  }

  leave(consumer: Consumer): void {
    this.#consumers.delete(consumer)
    consumer.buffer.end(Exit.void)
  }

  /** Keeps the connection up until it fails for good. `others` tells when other connections of the client were made. */
  run(others: () => ReadonlyArray<number>): Effect.Effect<void, AnyStreamError, Client> {
    return Effect.raceFirst(this.#stayUp(others), this.#missed.run())
  }

  /** Ends all consumers: they take what waits for them, and then this. */
  end(exit: Exit.Exit<void, AnyStreamError>): void {
    this.#lost()
    for (const { buffer } of this.#consumers) buffer.end(exit)
  }

  #lost(): void {
    if (this.connectedAt === undefined) return
    this.#ended.push({ from: this.connectedAt, to: this.serviceNow() })
    if (this.#ended.length > mostEnded) this.#ended.shift()
    this.#coverage.lost()
  }

  #stayUp = Effect.fnUntraced(
    function*(
      this: SharedConnection,
      others: () => ReadonlyArray<number>
    ): Effect.fn.Return<void, AnyStreamError, Client> {
      const { definition, parameters, reconnects } = this.terms
      // What was asked for by time ends when it was sent.
      const isJob = "end_time" in parameters && parameters.end_time !== undefined
      let looks = 0
      let retries = 0
      for (let attempt = 1;; attempt++) {
        const pause = this.#connects.next(this.#millis())
        if (pause > 0) {
          this.#tell({ _tag: "Reconnecting", at: this.#now(), why: tooMany, wait: pause, attempt })
          yield* Effect.sleep(pause)
        }
        const asked = this.#coverage.backfillMinutes()
        const exit = yield* Effect.exit(this.#connection(asked, attempt))
        const { connectedAt } = this
        this.#lost()
        if (connectedAt !== undefined) {
          attempt = 0
          looks = 0
          if (this.#isProven) retries = 0
        }
        let error: AnyError
        if (Exit.isSuccess(exit)) {
          if (isJob) return
          error = this.#over()
        } else {
          const reason = exit.cause.reasons.find((reason) => reason._tag === "Fail")
          if (reason === undefined) return yield* Effect.failCause(exit.cause)
          if (reason.error instanceof NoRules || reason.error instanceof StreamOverflow) {
            return yield* reason.error
          }
          error = reason.error
        }
        const isOfBackfill = connectedAt === undefined && asked !== undefined &&
          (error._tag === "BadRequest" || error._tag === "Forbidden")
        if (isOfBackfill) {
          // The app may not have it; the rest of the stream it may.
          this.#coverage.withoutBackfill()
          continue
        }
        const verdict = verdictOf(error, this.#coverage.wasConnected)
        if (verdict._tag === "Final") return yield* verdict.error
        let wait: number
        if (verdict._tag === "Crowded") {
          const claim = { definition, age: this.#coverage.age, ended: this.#ended, live: others() }
          const hasEnded = yield* TakeOver.makeRoom(claim, looks++, verdict.error)
          wait = hasEnded ? endedMillis : this.#backoff.after("service", false, yield* Random.next)
        } else {
          if (retries++ >= reconnects) return yield* error
          wait = this.#backoff.after(verdict.fault, connectedAt !== undefined, yield* Random.next)
          if (verdict.notBefore !== undefined) {
            wait = Math.max(wait, verdict.notBefore.getTime() - this.#clock.currentTimeMillisUnsafe())
          }
        }
        this.#tell({ _tag: "Reconnecting", at: this.#now(), why: error.message, wait, attempt: attempt + 1 })
        if (wait > 0) yield* Effect.sleep(wait)
      }
    }
  )

  /** One connection from its beginning to its end. */
  #connection(
    backfillMinutes: number | undefined,
    attempt: number
  ): Effect.Effect<void, AnyError | NoRules | StreamOverflow, Client> {
    const { definition, parameters } = this.terms
    return Effect.gen({ self: this }, function*() {
      // How far back it is to begin was asked for once.
      const asked = backfillMinutes === undefined && !this.#coverage.wasConnected
        ? parameters
        : { ...parameters, backfill_minutes: backfillMinutes }
      const opened = yield* Connection.open(definition, asked)
      this.#connected(opened.headers, backfillMinutes, attempt)
      const reading = Stream.runForEachArray(opened.entries, (entries) => this.#receive(entries))
      yield* Effect.raceFirst(reading, this.#watch())
    }).pipe(Effect.scoped)
  }

  #connected(headers: Connection.Opened["headers"], backfillMinutes: number | undefined, attempt: number): void {
    const missed = this.#coverage.connected(headers, backfillMinutes)
    this.#isProven = false
    this.#said = undefined
    this.#silence = this.terms.silence
    this.#heard = this.#millis()
    const told = { _tag: "Connected" as const, at: this.#now(), attempt }
    this.#tell(backfillMinutes === undefined ? told : { ...told, backfillMinutes })
    if (missed !== undefined) this.#missed.add(missed, [...this.#consumers])
    this.#mark()
  }

  /** Ends when nothing has come for too long. */
  #watch(): Effect.Effect<void, AnyError> {
    return Effect.suspend(() => {
      if (this.#isPaused) this.#heard = this.#millis()
      const left = this.#heard + this.#silence - this.#millis()
      // What was said may make it shorter.
      if (left > 0) return Effect.andThen(Effect.sleep(Math.min(left, endMillis)), this.#watch())
      return this.#said === undefined
        ? Effect.fail(Backfill.silent(this.terms.definition.name, this.#silence))
        : Effect.void
    })
  }

  /** What came at once: items that are new go on, and what is none is told. */
  #receive(arrived: Arr.NonEmptyReadonlyArray<DecodeLines.Entry>): Effect.Effect<void, NoRules | StreamOverflow> {
    const millis = this.#millis()
    this.#heard = millis
    const { disconnect, entries, isAlive, last } = Receive.of(arrived, this.#duplicates, {
      millis,
      now: this.#clock.currentTimeMillisUnsafe(),
      keeps: this.#missed.isOpen || this.#coverage.isFilling
    })
    const filled = this.#coverage.received(last, isAlive)
    if (this.#coverage.isProven(last !== undefined)) {
      this.#isProven = true
      this.#backoff.reset()
    }
    const delivered = Arr.isReadonlyArrayNonEmpty(entries) ? this.#deliver(entries) : Effect.void
    if (filled !== undefined) this.#tell(this.#gap(filled, "backfill"))
    if (millis - this.#marked >= watermarkMillis) {
      this.#marked = millis
      this.#mark()
    }
    this.#coverage.reads()
    if (disconnect === undefined) return delivered
    const { detail, type } = disconnect
    this.#said = detail ?? type
    this.#silence = endMillis
    if (!isOfRules(type)) return delivered
    return Effect.andThen(delivered, Effect.fail(new NoRules({ operation: this.terms.definition.name, detail })))
  }

  #mark(): void {
    const certain = this.#coverage.certain()
    for (const consumer of this.#consumers) {
      consumer.mark(this.#missed.until(certain, consumer), this.#now(), new Date(this.serviceNow()))
    }
  }

  #gap({ from, to }: Gaps.Span, filledBy: Gap["filledBy"], why?: string): Gap {
    const told = { _tag: "Gap" as const, at: this.#now(), from: new Date(from), to: new Date(to), filledBy }
    return why === undefined ? told : { ...told, why }
  }

  #tell(event: StreamNotice): void {
    for (const consumer of this.#consumers) consumer.tell(event)
  }

  /** Gives entries to consumers. Who is alone and full is waited for, for a while. */
  #deliver(entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void, StreamOverflow> {
    let pending: Array<Effect.Effect<void, StreamOverflow>> | undefined
    for (const consumer of this.#consumers) {
      const spilling = this.#offer(consumer, entries)
      if (spilling !== undefined) (pending ??= []).push(spilling)
      if (consumer.buffer.isFull) (pending ??= []).push(this.#paused(consumer))
    }
    // What is counted as spilled is written even if the connection ends meanwhile: all writes have begun by then.
    return pending === undefined ? Effect.void : Effect.all(pending, { discard: true, concurrency: "unbounded" })
  }

  /** Gives entries to a consumer, which ends when it is full and shares the connection. */
  #offer(consumer: Consumer, entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void> | undefined {
    const spilling = consumer.offer(entries)
    if (consumer.buffer.isFull && this.#consumers.size > 1) {
      consumer.buffer.end(Exit.fail(consumer.overflow()))
      this.leave(consumer)
    }
    return spilling
  }

  #paused(consumer: Consumer): Effect.Effect<void, StreamOverflow> {
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
          this.#heard = this.#millis()
          this.#coverage.reads()
        })
      )
    })
  }

  #remember(duplicates: Duplicates, resumeFrom: ResumeFrom | undefined): void {
    for (const id of resumeFrom?.ids ?? []) duplicates.add(id, this.#millis(), true)
  }

  /** What the end of a connection is, of which the service says no more. */
  #over(): TransportFailure {
    return new TransportFailure({
      operation: this.terms.definition.name,
      phase: "body",
      timeout: undefined,
      reason: this.#said ?? "the service ended the connection"
    })
  }

  #millis(): number {
    return Monotonic.millisUnsafe(this.#clock)
  }

  #now(): Date {
    return new Date(this.#clock.currentTimeMillisUnsafe())
  }

  /** The time by the service's clock. */
  serviceNow(): number {
    return this.#coverage.now()
  }
}

const tooMany = "the service allows so many connects in a quarter of an hour, and they are spread over it"

/** Makes one. */
export const make = (
  terms: Terms,
  past: Past,
  resumeFrom: ResumeFrom | undefined
): Effect.Effect<SharedConnection> =>
  Effect.gen(function*() {
    return new SharedConnection(terms, yield* Clock.Clock, yield* Queue.unbounded<Missing>(), past, resumeFrom)
  })
