/** The gaps of a stream that are to be fetched, one after the other, and the consumers that miss them. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Client } from "../../client/Client.ts"
import * as Backfill from "./backfill.ts"
import type { Entry } from "./buffer.ts"
import { type Consumer, maxPauseMillis } from "./consumer.ts"
import { type Duplicates, idOf } from "./deduplicator.ts"
import * as Gaps from "./gaps.ts"

interface Missing {
  from: number
  to: number
  /** The consumers at the time. */
  readonly targets: ReadonlyArray<Consumer>
}

/** The connection whose gaps are fetched. */
export interface Connection {
  readonly terms: Backfill.Terms
  readonly consumers: ReadonlySet<Consumer>
  readonly duplicates: Duplicates
  /** Offers entries to a consumer. */
  readonly offer: (consumer: Consumer, entries: Arr.NonEmptyReadonlyArray<Entry>) => Effect.Effect<void>
  /** Called when a gap is done. */
  readonly onDone: () => void
}

export class BackfillQueue {
  readonly #connection: Connection
  readonly #queue: Array<Missing> = []
  readonly #added = Latch.makeUnsafe(false)
  /** The gap that is being fetched. */
  #current: Missing | undefined
  /** For how many milliseconds each consumer was waited for. */
  readonly #waited = new WeakMap<Consumer, number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** True if anything is being fetched or queued. */
  get isOpen(): boolean {
    return this.#current !== undefined || this.#queue.length > 0
  }

  add({ from, to }: Gaps.Span, targets: ReadonlyArray<Consumer>): void {
    const last = this.#queue.at(-1)
    if (last !== undefined && from <= last.to && isSame(targets, last.targets)) {
      // A connection that is lost again and again is searched for once.
      last.from = Math.min(last.from, from)
      last.to = Math.max(last.to, to)
      return
    }
    this.#queue.push({ from, to, targets })
    this.#added.openUnsafe()
  }

  /** The time up to which a consumer misses nothing, given that the stream misses nothing up to `time`. */
  until(time: number, consumer: Consumer): number {
    const open = this.#current === undefined ? this.#queue : [this.#current, ...this.#queue]
    return Math.min(time, ...open.filter(({ targets }) => targets.includes(consumer)).map(({ from }) => from))
  }

  /** Fetches one gap after the other. */
  run(): Effect.Effect<never, never, Client> {
    return Effect.forever(Effect.suspend(() => {
      this.#current = this.#queue.shift()
      if (this.#current !== undefined) return this.#fetch(this.#current)
      this.#added.closeUnsafe()
      return this.#added.await
    }))
  }

  #fetch = Effect.fnUntraced(function*(this: BackfillQueue, missing: Missing): Effect.fn.Return<void, never, Client> {
    const { onDone, terms } = this.#connection
    const { clock, definition, recover } = terms
    const receiver = this.#receiver(missing.targets)
    for (const part of Gaps.partsOf(missing, clock.service(), recover, definition.live)) {
      const why = yield* Backfill.fetchPart(terms, part, receiver)
      const event = Gaps.eventOf(clock.date(), part, why === undefined ? part.by : undefined, why)
      for (const consumer of missing.targets) consumer.notify(event)
      yield* Gaps.count(definition.name, event)
    }
    this.#current = undefined
    onDone()
  })

  /**
   * Waits for room in a consumer's buffer, for 20 s in all until the consumer has taken everything. After that, it only waits for a
   * consumer that would fail otherwise and still takes something, or that is the only one.
   */
  #room(consumer: Consumer): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { buffer, clock } = consumer
      if (buffer.waiting === 0) this.#waited.delete(consumer)
      const waited = this.#waited.get(consumer) ?? 0
      if (buffer.hasRoom || waited >= maxPauseMillis) return Effect.void
      const { takes } = buffer
      const begun = clock.monotonic()
      const over = Effect.suspend(() => {
        const mayWait = this.#connection.consumers.size === 1 || (buffer.policy === "fail" && buffer.takes > takes)
        if (!mayWait) this.#waited.set(consumer, waited + clock.monotonic() - begun)
        return this.#room(consumer)
      })
      return Effect.andThen(Effect.timeoutOption(buffer.whenRoom, maxPauseMillis - waited), over)
    })
  }

  #receiver(targets: ReadonlyArray<Consumer>): Backfill.Receiver {
    const { consumers, duplicates, offer, terms: { clock } } = this.#connection
    const present = () => targets.filter((consumer) => consumers.has(consumer))
    const tags = targets.flatMap(({ tags }) => tags === undefined ? [undefined] : [...tags])
    // A consumer that resumed from another time removes its own duplicates.
    const isPrivate = targets.length === 1 && targets[0]?.own !== undefined
    return {
      tags: tags.includes(undefined) ? undefined : new Set(tags.filter((tag) => tag !== undefined)),
      isGone: () => present().length === 0,
      take: (items) =>
        Effect.suspend(() => {
          const fresh: ReadonlyArray<Entry> = isPrivate
            ? items
            : items.filter((item) => duplicates.add(idOf(item), clock.monotonic(), true))
          if (!Arr.isReadonlyArrayNonEmpty(fresh)) return Effect.void
          return Effect.forEach(
            present(),
            (consumer) => Effect.andThen(this.#room(consumer), Effect.suspend(() => offer(consumer, fresh))),
            { discard: true, concurrency: "unbounded" }
          )
        })
    }
  }
}

const isSame = (some: ReadonlyArray<Consumer>, others: ReadonlyArray<Consumer>): boolean =>
  some.length === others.length && some.every((consumer) => others.includes(consumer))
