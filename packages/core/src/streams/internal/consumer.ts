/** One consumer of a connection: what it wants of what comes, and what waits for it. */
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import { StreamOverflow } from "../../errors/StreamErrors.ts"
import type { StreamNotice } from "../StreamEvents.ts"
import { type ConsumerBuffer, type Entry, isItem } from "./buffer.ts"
import { type Duplicates, idOf } from "./deduplicator.ts"

/** How long a connection is not read for a consumer that is too slow, before that is an error. */
export const maxPauseMillis = 20_000

/** A consumer. */
export class Consumer {
  readonly buffer: ConsumerBuffer
  readonly tags: ReadonlySet<string> | undefined
  /** What it has had itself, where others have had more. */
  own: Duplicates | undefined
  readonly #operation: string
  readonly #bufferSize: number
  /** Whether somebody wants to know what happens besides. */
  readonly #wantsEvents: boolean
  readonly #millis: () => number
  #until = -Infinity

  constructor({ buffer, bufferSize, millis, operation, tags, wantsEvents }: {
    readonly buffer: ConsumerBuffer
    readonly bufferSize: number
    readonly millis: () => number
    readonly operation: string
    readonly tags: ReadonlySet<string> | undefined
    readonly wantsEvents: boolean
  }) {
    this.buffer = buffer
    this.tags = tags
    this.#operation = operation
    this.#bufferSize = bufferSize
    this.#millis = millis
    this.#wantsEvents = wantsEvents
  }

  /** Gives it what it wants of entries. An Effect is to be run before anything else is offered from the same source. */
  offer(entries: Arr.NonEmptyReadonlyArray<Entry>): Effect.Effect<void> | undefined {
    const { own, tags } = this
    if (tags === undefined && own === undefined && (this.#wantsEvents || entries.every(isItem))) {
      return this.buffer.offer(entries)
    }
    const millis = this.#millis()
    const wanted = entries.filter((entry) =>
      isItem(entry)
        ? (tags === undefined || entry.matchingRules.some(({ tag }) => tag !== undefined && tags.has(tag))) &&
          (own === undefined || own.add(idOf(entry), millis, true))
        : this.#wantsEvents
    )
    return Arr.isReadonlyArrayNonEmpty(wanted) ? this.buffer.offer(wanted) : undefined
  }

  /** Tells it what happens. */
  tell(event: StreamNotice): void {
    if (this.#wantsEvents) this.buffer.tell(event)
  }

  /** Tells it until when, by the service's clock, everything has been offered. */
  mark(until: number, at: Date, serviceAt: Date): void {
    if (until <= this.#until) return
    this.#until = until
    this.tell({ _tag: "Watermark", at, until: new Date(until), serviceAt })
  }

  /** That it is too slow. */
  overflow(): StreamOverflow {
    return new StreamOverflow({ operation: this.#operation, bufferSize: this.#bufferSize })
  }
}
