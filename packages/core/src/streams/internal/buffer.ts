/** The bounded queue between a connection and one consumer, in memory and, if wanted, on disk. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import type { AnyError } from "../../errors/Errors.ts"
import { SpillFailed, type StreamError } from "../../errors/StreamErrors.ts"
import * as StreamItem from "../../schema/StreamItem.ts"
import type { SpillQueue } from "../Spill.ts"
import type { StreamNotice } from "../StreamEvents.ts"
import type { SlowConsumer } from "../StreamOptions.ts"
import type { StreamClock } from "./clock.ts"

/** An item or an event. */
export type Entry = StreamItem.AnyItem | StreamNotice

export const isItem = (entry: Entry): entry is StreamItem.AnyItem => !("_tag" in entry)

/** The errors of a stream. */
export type AnyStreamError = AnyError | StreamError

/** Entries that arrived together. */
export type Entries = Arr.NonEmptyReadonlyArray<Entry>

interface Chunk {
  readonly entries: Entries
  /** When it arrived, by this machine's clock. */
  readonly at: number
}

/** The queue of one consumer. */
export class ConsumerBuffer {
  readonly #size: number
  readonly policy: SlowConsumer
  readonly #queue: SpillQueue | undefined
  readonly #clock: StreamClock
  #chunks: Array<Chunk> = []
  #waiting = 0
  /** When the entries taken last arrived, by this machine's clock. */
  cameAt = 0
  /** How many chunks were taken from memory. */
  takes = 0
  /** How many entries are on disk. New ones go there too until these are taken. */
  #spilled = 0
  /** Events that follow the entries on disk. */
  #later: Array<StreamNotice> = []
  #gaps: Array<StreamNotice> = []
  #dropped = 0
  #end: Exit.Exit<void, AnyStreamError> | undefined
  #reader: ((effect: Effect.Effect<void>) => void) | undefined
  readonly #writers = new Set<() => void>()

  constructor(size: number, policy: SlowConsumer, queue: SpillQueue | undefined, clock: StreamClock) {
    this.#size = size
    this.policy = policy
    this.#queue = queue
    this.#clock = clock
  }

  /** How many entries are queued, in memory and on disk. */
  get waiting(): number {
    return this.#waiting + this.#spilled
  }

  /** True if the consumer is too slow under the policy `fail`. */
  get isFull(): boolean {
    return this.#end === undefined && this.policy === "fail" && this.#waiting > this.#size
  }

  /** True while at most half of the buffer is used. */
  get hasRoom(): boolean {
    return this.#end !== undefined || this.#waiting * 2 <= this.#size
  }

  /** Adds entries. If it returns an Effect, the caller runs that before it offers more. */
  offer(entries: Entries): Effect.Effect<void> | undefined {
    if (this.#end !== undefined) return undefined
    const all = this.#later.length === 0 ? entries : Arr.appendAll(this.#later, entries)
    this.#later = []
    if (this.#queue !== undefined && (this.#spilled > 0 || this.#waiting + all.length > this.#size)) {
      return this.#spill(this.#queue, all)
    }
    this.#chunks.push({ entries: all, at: this.#clock.wall() })
    this.#waiting += all.length
    if (this.policy === "dropOldest") { while (this.#waiting > this.#size && this.#chunks.length > 1) this.#drop() }
    this.#wakeReader()
    return undefined
  }

  /** Adds an event. */
  notify(event: StreamNotice): void {
    if (this.#end !== undefined) return
    // Keep-alives and watermarks do not pile up for a consumer that takes nothing.
    if (this.#spilled > 0) {
      if (isSuperseded(event) && this.#later.at(-1)?._tag === event._tag) this.#later.pop()
      this.#later.push(event)
      return
    }
    const last = this.#chunks.at(-1)?.entries
    if (isSuperseded(event) && last?.length === 1 && !isItem(last[0]) && last[0]._tag === event._tag) {
      this.#chunks.pop()
      this.#waiting--
    }
    this.#chunks.push({ entries: [event], at: this.#clock.wall() })
    this.#waiting++
    this.#wakeReader()
  }

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

  /** Ends the queue with `exit`, which the consumer receives after the queued entries. */
  end(exit: Exit.Exit<void, AnyStreamError>): void {
    if (this.#end !== undefined) return
    this.#end = exit
    this.#wakeReader()
    this.#wakeWriters()
  }

  /** Takes the oldest entries, or waits for some. */
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
    this.#reader = resume
    return Effect.sync(() => {
      this.#reader = undefined
    })
  })

  #shift(): Entries | undefined {
    if (this.#dropped > 0) {
      const dropped: StreamNotice = { _tag: "Dropped", at: new Date(this.#clock.wall()), count: this.#dropped }
      const entries: Entries = Arr.append(this.#gaps, dropped)
      this.#gaps = []
      this.#dropped = 0
      return entries
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
    this.#wakeWriters()
    return chunk.entries
  }

  #wakeReader(): void {
    const resume = this.#reader
    this.#reader = undefined
    resume?.(Effect.void)
  }

  #wakeWriters(): void {
    if (this.#writers.size > 0) { for (const look of Array.from(this.#writers)) look() }
  }

  /** Drops the oldest chunk, except its gaps. */
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
    // Entries that are counted here have to be written even if their connection ends.
    return Effect.uninterruptible(Effect.matchCause(queue.append(encode(entries)), {
      onFailure: (cause) => {
        this.#spilled -= entries.length
        this.end(Exit.failCause(cause))
      },
      onSuccess: () => this.#wakeReader()
    }))
  }

  #unspill(queue: SpillQueue): Pull.Pull<Entries, AnyStreamError> {
    return Effect.flatMap(queue.take, (texts) => {
      this.#spilled -= texts.length
      const entries = decode(texts)
      if (entries !== undefined && Arr.isReadonlyArrayNonEmpty(entries)) return Effect.succeed(entries)
      // Entries that are counted may still be being written.
      if (entries !== undefined && this.#end === undefined) return Effect.flatMap(this.#something, () => this.take)
      return Effect.fail(new SpillFailed({ place: "The spill", fault: "damaged" }))
    })
  }
}

/** True if the next event of its kind replaces it. */
const isSuperseded = ({ _tag }: StreamNotice): boolean => _tag === "KeepAlive" || _tag === "Watermark"

/** Entries as lines of JSON. */
const encode = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => entries.map(lineOf)

const lineOf = (entry: Entry): string => {
  if (!isItem(entry)) return `e${JSON.stringify(entry)}`
  const kind = "post" in entry ? "p" : "v"
  return entry.anomalies.length === 0
    ? kind + JSON.stringify(entry.body)
    : kind.toUpperCase() + JSON.stringify([entry.body, entry.anomalies])
}

/** The entries of lines; `undefined` if the lines are damaged. */
const decode = (lines: ReadonlyArray<string>): ReadonlyArray<Entry> | undefined => {
  try {
    return lines.map(entryOf)
  } catch {
    return undefined
  }
}

const entryOf = (text: string): Entry => {
  const kind = text[0] ?? ""
  const json = text.slice(1)
  if (kind === "e") return JSON.parse(json, revive)
  const isPost = kind === "p" || kind === "P"
  if (kind === "p" || kind === "v") return StreamItem.make(isPost, JSON.parse(json))
  const [body, anomalies] = JSON.parse(json)
  return StreamItem.make(isPost, body, anomalies)
}

const dates: ReadonlySet<string> = new Set(["at", "from", "to", "until", "serviceAt"])

const revive = (name: string, value: unknown): unknown =>
  dates.has(name) && typeof value === "string" ? new Date(value) : value
