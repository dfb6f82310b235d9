/** One consumer of a connection: which entries it wants, and the buffer that holds them. */
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import { StreamOverflow } from "../../errors/StreamErrors.ts"
import type { SpillQueue } from "../Spill.ts"
import type { StreamNotice } from "../StreamEvents.ts"
import type { SlowConsumer } from "../StreamOptions.ts"
import { ConsumerBuffer, type Entry, isItem } from "./buffer.ts"
import type { StreamClock } from "./clock.ts"
import { type Duplicates, idOf } from "./deduplicator.ts"

/** How long a connection is not read because a consumer is too slow, before the consumer fails. */
export const maxPauseMillis = 20_000

/** The settings of a consumer. */
export interface Settings {
  readonly operation: string
  readonly bufferSize: number
  readonly slowConsumer: SlowConsumer
  readonly queue: SpillQueue | undefined
  readonly tags: ReadonlySet<string> | undefined
  readonly wantsEvents: boolean
}

export class Consumer {
  readonly buffer: ConsumerBuffer
  readonly clock: StreamClock
  readonly tags: ReadonlySet<string> | undefined
  /** The items that this consumer had, if it resumed from another time than the connection. */
  own: Duplicates | undefined
  readonly #settings: Settings
  #until = -Infinity

  constructor(settings: Settings, clock: StreamClock) {
    this.buffer = new ConsumerBuffer(settings.bufferSize, settings.slowConsumer, settings.queue, clock)
    this.clock = clock
    this.tags = settings.tags
    this.#settings = settings
  }

  /** Offers the entries that it wants. If it returns an Effect, the caller runs that before it offers more. */
  offer(entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void> | undefined {
    const { own, tags } = this
    const { wantsEvents } = this.#settings
    if (tags === undefined && own === undefined && (wantsEvents || entries.every(isItem))) {
      return this.buffer.offer(entries)
    }
    const now = this.clock.monotonic()
    const wanted = entries.filter((entry) =>
      isItem(entry)
        ? (tags === undefined || entry.matchingRules.some(({ tag }) => tag !== undefined && tags.has(tag))) &&
          (own === undefined || own.add(idOf(entry), now, true))
        : wantsEvents
    )
    return Arr.isReadonlyArrayNonEmpty(wanted) ? this.buffer.offer(wanted) : undefined
  }

  notify(event: StreamNotice): void {
    if (this.#settings.wantsEvents) this.buffer.notify(event)
  }

  /** Notifies it that everything up to `until`, by the service's clock, was offered. */
  mark(until: number): void {
    if (until <= this.#until) return
    this.#until = until
    const serviceAt = new Date(this.clock.service())
    this.notify({ _tag: "Watermark", at: this.clock.date(), until: new Date(until), serviceAt })
  }

  overflow(): StreamOverflow {
    const { bufferSize, operation } = this.#settings
    return new StreamOverflow({ operation, bufferSize })
  }
}
