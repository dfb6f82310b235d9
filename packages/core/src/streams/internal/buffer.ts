/** What waits between a connection and one consumer: bounded, by what is to become of items that are not taken in time. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import type { AnyError } from "../../errors/Errors.ts"
import { SpillFailed, type StreamError } from "../../errors/StreamErrors.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { SpillQueue } from "../Spill.ts"
import type { StreamNotice } from "../StreamEvents.ts"
import type { SlowConsumer } from "../StreamOptions.ts"
import * as Spill from "./spill.ts"

/** What a consumer receives: items, and what happens besides. */
export type Entry = AnyItem | StreamNotice

/** Whether it is an item. */
export const isItem = (entry: Entry): entry is AnyItem => !("_tag" in entry)

/** What a stream can fail with. */
export type AnyStreamError = AnyError | StreamError

/** A few things that came together. */
export type Entries = Arr.NonEmptyReadonlyArray<Entry>

interface Chunk {
  readonly entries: Entries
  /** When it came, by the clock of this machine. */
  readonly at: number
}

/** What waits for one consumer. */
export class ConsumerBuffer {
  readonly #size: number
  readonly policy: SlowConsumer
  readonly #queue: SpillQueue | undefined
  readonly #now: () => number
  #chunks: Array<Chunk> = []
  #waiting = 0
  /** When what was taken last came, by the clock of this machine. */
  cameAt = 0
  /** How often something was taken from memory. */
  takes = 0
  /** How many wait outside of memory; what comes goes there too until they are taken. */
  #spilled = 0
  /** What is told after what waits outside of memory. */
  #later: Array<StreamNotice> = []
  #gaps: Array<StreamNotice> = []
  #dropped = 0
  #end: Exit.Exit<void, AnyStreamError> | undefined
  #reader: (() => void) | undefined
  readonly #writers = new Set<() => void>()

  constructor({ now, policy, queue, size }: {
    readonly size: number
    readonly policy: SlowConsumer
    readonly queue: SpillQueue | undefined
    readonly now: () => number
  }) {
    this.#size = size
    this.policy = policy
    this.#queue = queue
    this.#now = now
  }

  /** How many entries wait. */
  get waiting(): number {
    return this.#waiting + this.#spilled
  }

  /** Whether more wait than are to, so that whoever can had better wait too. */
  get isFull(): boolean {
    return this.#end === undefined && this.policy === "fail" && this.#waiting > this.#size
  }

  /** True while at most half of the buffer is used. */
  get hasRoom(): boolean {
    return this.#end !== undefined || this.#waiting * 2 <= this.#size
  }

  /** Puts entries at the end. An Effect is to be run before anything else is offered from the same source. */
  offer(entries: Entries): Effect.Effect<void> | undefined {
    if (this.#end !== undefined) return undefined
    const all = this.#later.length === 0 ? entries : Arr.appendAll(this.#later, entries)
    this.#later = []
    if (this.#queue !== undefined && (this.#spilled > 0 || this.#waiting + all.length > this.#size)) {
      return this.#spill(this.#queue, all)
    }
    this.#chunks.push({ entries: all, at: this.#now() })
    this.#waiting += all.length
    if (this.policy === "dropOldest") { while (this.#waiting > this.#size && this.#chunks.length > 1) this.#drop() }
    this.#reader?.()
    return undefined
  }

  /** Puts an event at the end. */
  tell(event: StreamNotice): void {
    if (this.#end !== undefined) return
    // A consumer that takes nothing is not to have a heap of news that are none.
    if (this.#spilled > 0) {
      if (isNoNews(event) && this.#later.at(-1)?._tag === event._tag) this.#later.pop()
      this.#later.push(event)
      return
    }
    const last = this.#chunks.at(-1)?.entries
    if (isNoNews(event) && last?.length === 1 && !isItem(last[0]) && last[0]._tag === event._tag) {
      this.#chunks.pop()
      this.#waiting--
    }
    this.#chunks.push({ entries: [event], at: this.#now() })
    this.#waiting++
    this.#reader?.()
  }

  /** Waits until there is room. */
  readonly whenRoom: Effect.Effect<void> = Effect.callback<void>((resume) => {
    const look = () => {
      if (!this.hasRoom) return
      this.#writers.delete(look)
      resume(Effect.void)
    }
    this.#writers.add(look)
    look()
    return Effect.sync(() => void this.#writers.delete(look))
  })

  /** Ends it: what waits is taken, and then this. */
  end(exit: Exit.Exit<void, AnyStreamError>): void {
    if (this.#end !== undefined) return
    this.#end = exit
    this.#reader?.()
    this.#wake()
  }

  /** Takes what came first, and waits for something where there is nothing. */
  readonly take: Pull.Pull<Entries, AnyStreamError> = Effect.suspend(() => {
    const entries = this.#shift()
    if (entries !== undefined) return Effect.succeed(entries)
    if (this.#spilled > 0 && this.#queue !== undefined) return this.#unspill(this.#queue)
    if (this.#end !== undefined) {
      return Exit.isSuccess(this.#end) ? Cause.done() : Effect.failCause(this.#end.cause)
    }
    return Effect.flatMap(this.#something, () => this.take)
  })

  readonly #something = Effect.callback<void>((resume) => {
    this.#reader = () => {
      this.#reader = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      this.#reader = undefined
    })
  })

  #shift(): Entries | undefined {
    if (this.#dropped > 0) {
      const dropped: StreamNotice = { _tag: "Dropped", at: new Date(this.#now()), count: this.#dropped }
      const told: Entries = Arr.append(this.#gaps, dropped)
      this.#gaps = []
      this.#dropped = 0
      return told
    }
    const chunk = this.#chunks.shift()
    if (chunk === undefined) {
      const later = this.#later
      if (this.#spilled > 0 || !Arr.isReadonlyArrayNonEmpty(later)) return undefined
      this.#later = []
      return later
    }
    this.cameAt = chunk.at
    this.takes++
    this.#waiting -= chunk.entries.length
    this.#wake()
    return chunk.entries
  }

  #wake(): void {
    if (this.#writers.size > 0) { for (const look of Array.from(this.#writers)) look() }
  }

  /** Leaves out what came first, but not what was missed. */
  #drop(): void {
    const entries = this.#chunks.shift()?.entries ?? []
    this.#waiting -= entries.length
    for (const entry of entries) {
      if (isItem(entry)) this.#dropped++
      else if (entry._tag === "Gap") this.#gaps.push(entry)
    }
  }

  #spill(queue: SpillQueue, entries: Entries): Effect.Effect<void> {
    this.#spilled += entries.length
    // Counted entries are written, or have failed, even if their source ends.
    return Effect.uninterruptible(Effect.matchCause(queue.append(Spill.encode(entries, this.#now())), {
      onFailure: (cause) => {
        this.#spilled -= entries.length
        this.end(Exit.failCause(cause))
      },
      onSuccess: () => this.#reader?.()
    }))
  }

  #unspill(queue: SpillQueue): Pull.Pull<Entries, AnyStreamError> {
    return Effect.flatMap(queue.take, (texts) => {
      this.#spilled -= texts.length
      const entries = Spill.decode(texts)
      if (entries !== undefined && Arr.isReadonlyArrayNonEmpty(entries)) return Effect.succeed(entries)
      // What is counted is on its way there.
      if (entries !== undefined && this.#end === undefined) return Effect.flatMap(this.#something, () => this.take)
      return Effect.fail(new SpillFailed({ place: "The spill", fault: "damaged" }))
    })
  }
}

/** Whether the next event of its kind makes it worthless. */
const isNoNews = ({ _tag }: StreamNotice): boolean => _tag === "KeepAlive" || _tag === "Watermark"
