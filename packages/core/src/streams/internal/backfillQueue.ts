/** The gaps of a stream that are being fetched, or are to be: one after the other, for whom they matter. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { Client } from "../../client/Client.ts"
import type { Gap } from "../StreamEvents.ts"
import * as Backfill from "./backfill.ts"
import type { Entry } from "./buffer.ts"
import { type Consumer, maxPauseMillis } from "./consumer.ts"
import { type Duplicates, idOf } from "./deduplicator.ts"
import * as Gaps from "./gaps.ts"

/** A gap whose end is known, and who was there. */
export interface Missing {
  from: number
  to: number
  readonly targets: ReadonlyArray<Consumer>
}

/** What fetching needs of a stream. */
export interface Stream {
  readonly terms: Backfill.Terms
  readonly consumers: ReadonlySet<Consumer>
  readonly duplicates: Duplicates
  /** Gives entries to a consumer. */
  readonly offer: (consumer: Consumer, entries: Arr.NonEmptyReadonlyArray<Entry>) => Effect.Effect<void>
  readonly millis: () => number
  /** Makes the event. */
  readonly gap: (span: Gaps.Span, filledBy: Gap["filledBy"], why?: string) => Gap
  /** Is called when a gap has been told. */
  readonly done: () => void
}

/** What was missed. */
export class Missed {
  readonly #stream: Stream
  readonly #queue: Queue.Queue<Missing>
  readonly #open = new Set<Missing>()
  /** The last one, while it waits to be fetched. */
  #last: Missing | undefined
  /** For how many milliseconds consumers have been waited for. */
  readonly #waited = new WeakMap<Consumer, number>()

  constructor(stream: Stream, queue: Queue.Queue<Missing>) {
    this.#stream = stream
    this.#queue = queue
  }

  /** Whether something is being fetched, or is to be. */
  get isOpen(): boolean {
    return this.#open.size > 0
  }

  add(span: Gaps.Span, targets: ReadonlyArray<Consumer>): void {
    const last = this.#last
    if (last !== undefined && span.from <= last.to && isSame(targets, last.targets)) {
      // A line that is cut again and again is searched once.
      last.from = Math.min(last.from, span.from)
      last.to = Math.max(last.to, span.to)
      return
    }
    const missing = { ...span, targets }
    this.#last = missing
    this.#open.add(missing)
    Queue.offerUnsafe(this.#queue, missing)
  }

  /** Until when nothing is missing for a consumer, where nothing is before a time. */
  until(time: number, consumer: Consumer): number {
    let until = time
    for (const { from, targets } of this.#open) if (targets.includes(consumer)) until = Math.min(until, from)
    return until
  }

  /** Fetches one after the other. */
  run(): Effect.Effect<never, never, Client> {
    return Effect.forever(Effect.flatMap(Queue.take(this.#queue), (missing) => this.#fetch(missing)))
  }

  #fetch = Effect.fnUntraced(function*(this: Missed, missing: Missing): Effect.fn.Return<void, never, Client> {
    if (this.#last === missing) this.#last = undefined
    const { done, gap, terms } = this.#stream
    const waiting = this.#waiting(missing.targets)
    for (const part of Gaps.partsOf(missing, terms.serviceNow(), terms.recover, terms.definition.live)) {
      const why = yield* Backfill.fetchPart(terms, part, waiting)
      const told = why === undefined ? gap(part, part.by) : gap(part, undefined, why)
      for (const consumer of missing.targets) consumer.tell(told)
    }
    this.#open.delete(missing)
    done()
  })

  /**
   * Waits for room, for 20 s in all until the consumer has taken everything. Beyond that it holds others up only if it would fail,
   * and takes something.
   */
  #room(consumer: Consumer): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { buffer } = consumer
      if (buffer.waiting === 0) this.#waited.delete(consumer)
      const waited = this.#waited.get(consumer) ?? 0
      if (buffer.hasRoom || waited >= maxPauseMillis) return Effect.void
      const { consumers, millis } = this.#stream
      const { takes } = buffer
      const begun = millis()
      const over = Effect.suspend(() => {
        const mayWait = consumers.size === 1 || (buffer.policy === "fail" && buffer.takes > takes)
        if (!mayWait) this.#waited.set(consumer, waited + millis() - begun)
        return this.#room(consumer)
      })
      return Effect.andThen(Effect.timeoutOption(buffer.whenRoom, maxPauseMillis - waited), over)
    })
  }

  #waiting(targets: ReadonlyArray<Consumer>): Backfill.Waiting {
    const { consumers, duplicates, millis } = this.#stream
    const here = () => targets.filter((consumer) => consumers.has(consumer))
    const tags = targets.flatMap(({ tags }) => tags === undefined ? [undefined] : [...tags])
    // Who has a window of its own looks there.
    const isPrivate = targets.length === 1 && targets[0]?.own !== undefined
    return {
      tags: tags.includes(undefined) ? undefined : new Set(tags.filter((tag) => tag !== undefined)),
      isGone: () => here().length === 0,
      take: (items) =>
        Effect.suspend(() => {
          const fresh: ReadonlyArray<Entry> = isPrivate
            ? items
            : items.filter((item) => duplicates.add(idOf(item), millis(), true))
          if (!Arr.isReadonlyArrayNonEmpty(fresh)) return Effect.void
          return Effect.forEach(
            here(),
            (consumer) =>
              Effect.andThen(this.#room(consumer), Effect.suspend(() => this.#stream.offer(consumer, fresh))),
            { discard: true, concurrency: "unbounded" }
          )
        })
    }
  }
}

const isSame = (some: ReadonlyArray<Consumer>, others: ReadonlyArray<Consumer>): boolean =>
  some.length === others.length && some.every((consumer) => others.includes(consumer))
