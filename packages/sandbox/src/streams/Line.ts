/** The output of one stream connection: queued items, heartbeats and the end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConnectionLost } from "../faults/FaultyResponse.ts"
import { millisOf } from "../http/Time.ts"
import type { Resource } from "../projection/Projection.ts"
import type { LineFault } from "./LineFault.ts"

/** An item to send. */
export interface Item {
  readonly id: string
  /** One line, without the line break. */
  readonly text: string
  readonly resources: ReadonlyArray<Resource>
}

/** The reason why a connection ended. */
export type Reason =
  | "client_disconnected"
  | "force_disconnect"
  | "slow_reader"
  | "operational_disconnect"
  | "recovery_complete"
  | "connection_broken"
  | "shutdown"

export interface Options {
  readonly now: () => number
  /** Earlier items, in order and in parts; undefined when there are no more. Called only while the queue is empty. */
  readonly past: (() => ReadonlyArray<Item> | undefined) | undefined
  /** The reason to end the connection after the earlier items, for a recovery. */
  readonly afterPast: Reason | undefined
  readonly fault: LineFault | undefined
  /** Waits until everything written has been handed to the socket. */
  readonly delivered: Effect.Effect<void>
  /** Called with sent items. */
  readonly onSent: (items: ReadonlyArray<Item>) => void
  readonly ended: (reason: Reason) => void
}

/** The maximum size of the queue of a client that does not read, in bytes. */
const maxWaitingBytes = 16 * 1024 * 1024

/** The approximate size of a chunk, in bytes. */
const chunkBytes = 256 * 1024

const encoder = new TextEncoder()

const lineEnd = "\r\n"

/** The disconnect notice: the last line before the service ends a connection. */
export const farewell = (disconnectType: string): string => {
  const isUpstream = disconnectType.startsWith("Upstream")
  return JSON.stringify({
    errors: [{
      title: "operational-disconnect",
      disconnect_type: disconnectType,
      detail: isUpstream
        ? "This stream has been disconnected upstream for operational reasons."
        : "This stream has been disconnected for operational reasons.",
      type: "https://api.twitter.com/2/problems/operational-disconnect"
    }]
  })
}

/** A queued line with its line break, or the rest of one. */
interface Waiting {
  readonly bytes: string | Uint8Array
  readonly item: Item | undefined
}

type State =
  | { readonly _tag: "Open" | "Ended" }
  /** Ends once the queue is empty. */
  | { readonly _tag: "Ending" | "Breaking"; readonly reason: Reason }

/** The output of a connection. It starts with an empty line, so that the client receives the response head immediately. */
export class Line {
  readonly stream: Stream.Stream<Uint8Array, ConnectionLost>
  readonly #options: Options
  #waiting: Array<Waiting> = [{ bytes: lineEnd, item: undefined }]
  #waitingBytes = 0
  #state: State = { _tag: "Open" }
  #past: Options["past"]
  #wake: (() => void) | undefined
  #sentAt: number
  #stalledUntil = 0
  #pause: number | undefined
  /** An item held back until after the next one. */
  #held: Item | undefined
  #isReported = false
  #isRead = false

  constructor(options: Options) {
    this.#options = options
    this.#past = options.past
    this.#sentAt = options.now()
    this.stream = Stream.ensuring(
      Stream.fromPull(Effect.succeed(this.#pull)),
      Effect.sync(() => this.#close("client_disconnected"))
    )
    this.#applyFaultBetween()
  }

  push(item: Item): void {
    if (this.#state._tag !== "Open") return
    const { fault } = this.#options
    if (fault !== undefined && !fault.isBetween && fault.isDue()) this.#applyFault(fault, item)
    else {
      this.#write(item)
      if (this.#held !== undefined) this.#write(this.#held)
      this.#held = undefined
    }
    this.#applyFaultBetween()
    if (this.#waitingBytes > maxWaitingBytes) this.end("slow_reader", farewell("SlowReader"))
    this.#rouse()
  }

  /** True if the client has started to read. */
  isRead(): boolean {
    return this.#isRead
  }

  /** Sends a heartbeat if nothing was sent for `after` milliseconds; returns the delay until the next call. */
  beat(after: number): number {
    const now = this.#options.now()
    const silence = now - this.#sentAt
    if (this.#stalledUntil > now) return Math.min(after, this.#stalledUntil - now)
    if (this.#stalledUntil > 0) {
      this.#stalledUntil = 0
      this.#rouse()
    }
    if (this.#state._tag !== "Open" || silence < after) return Math.max(1, after - silence)
    if (this.#waiting.length === 0 && this.#past === undefined) {
      this.#put(lineEnd)
      this.#rouse()
    }
    this.#sentAt = now
    return after
  }

  /** Makes the fault take effect, if it is scheduled. */
  strike(): void {
    if (this.#state._tag !== "Open" || this.#options.fault === undefined) return
    this.#applyFault(this.#options.fault)
    this.#rouse()
  }

  /** Ends the response, with a last line if given. Queued items are dropped. */
  end(reason: Reason, text?: string): void {
    if (this.#isReported) return
    this.#waiting = []
    this.#waitingBytes = 0
    this.#stalledUntil = 0
    if (text !== undefined) this.#put(text + lineEnd)
    // Also replaces the end that a fault has begun, for a client that does not read.
    this.#state = { _tag: "Ending", reason }
    this.#past = undefined
    // Reported even if the client does not read any more, so that it may connect again.
    this.#report(reason)
    this.#rouse()
  }

  #rouse(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #report(reason: Reason): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#options.ended(reason)
  }

  #close(reason: Reason): void {
    this.#state = { _tag: "Ended" }
    this.#waiting = []
    this.#past = undefined
    this.#report(reason)
    this.#rouse()
  }

  #put(bytes: string | Uint8Array, item?: Item): void {
    this.#waiting.push({ bytes, item })
    this.#waitingBytes += bytes.length
  }

  #write(item: Item): void {
    this.#put(item.text + lineEnd, item)
  }

  #stop(tag: "Ending" | "Breaking", reason: Reason): void {
    if (this.#state._tag === "Open") this.#state = { _tag: tag, reason }
    this.#past = undefined
  }

  #applyFaultBetween(): void {
    const { fault } = this.#options
    if (fault?.isBetween === true && fault.isDue()) this.#applyFault(fault)
  }

  /** Applies a fault to an item, or between two. */
  #applyFault({ action, fault }: LineFault, item?: Item): void {
    switch (action) {
      case "cut":
        return this.#stop("Breaking", "connection_broken")
      case "cut-in-character":
        if (item !== undefined) this.#put(withinCharacter(item.text))
        return this.#stop("Breaking", "connection_broken")
      case "error":
        this.#put(farewell(fault.disconnectType ?? "OperationalDisconnect") + lineEnd)
        return this.#stop("Ending", "operational_disconnect")
      case "stall":
        this.#stalledUntil = fault.for === undefined ? Infinity : this.#options.now() + millisOf(fault.for)
        return
      case "slow":
        this.#pause = millisOf(fault.pause ?? 100)
        return
      case "duplicate":
        if (item !== undefined) this.#write(item)
        return item && this.#write(item)
      case "out-of-order":
        this.#held = item
        return
      case "garbage":
        this.#put(`{"data":{"id":"${item?.id ?? 0}","text":"not JSON` + lineEnd)
        return item && this.#write(item)
    }
  }

  /** Takes the next chunk from the queue. */
  #take(): Uint8Array | undefined {
    const first = this.#waiting[0]
    if (first === undefined) return undefined
    if (this.#pause !== undefined) return this.#piece(first)
    let bytes = 0
    let count = 0
    let isText = true
    for (const next of this.#waiting) {
      if (bytes >= chunkBytes) break
      count++
      bytes += next.bytes.length
      isText &&= typeof next.bytes === "string"
    }
    const leaving = count === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, count)
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count)
    this.#waitingBytes -= bytes
    const items = leaving.flatMap(({ item }) => item ?? [])
    if (items.length > 0) this.#options.onSent(items)
    return isText
      ? encoder.encode(leaving.map((each) => each.bytes).join(""))
      : Buffer.concat(leaving.map((each) => typeof each.bytes === "string" ? Buffer.from(each.bytes) : each.bytes))
  }

  /** Takes a few bytes of the first line; its item counts as sent with the last of them. */
  #piece(first: Waiting): Uint8Array {
    const bytes = typeof first.bytes === "string" ? encoder.encode(first.bytes) : first.bytes
    const size = 61
    this.#waitingBytes -= Math.min(size, first.bytes.length)
    if (bytes.length > size) this.#waiting[0] = { bytes: bytes.subarray(size), item: first.item }
    else {
      this.#waiting.shift()
      if (first.item !== undefined) this.#options.onSent([first.item])
    }
    return bytes.subarray(0, size)
  }

  readonly #sleep = Effect.callback<void>((resume) => {
    this.#wake = () => resume(Effect.void)
    return Effect.sync(() => void (this.#wake = undefined))
  })

  readonly #pull: Pull = Effect.suspend(() => this.#next())

  #next(): Pull {
    this.#isRead = true
    const state = this.#state
    if (state._tag === "Ended") return Cause.done()
    if (this.#stalledUntil > this.#options.now()) return Effect.flatMap(this.#sleep, () => this.#pull)
    if (this.#waiting.length === 0 && this.#past !== undefined) {
      this.#readPast(this.#past)
      // Yields between parts of a long history.
      return Effect.flatMap(Effect.yieldNow, () => this.#pull)
    }
    const chunk = this.#take()
    if (chunk !== undefined) {
      this.#sentAt = this.#options.now()
      return this.#pause === undefined ? Effect.succeed([chunk]) : Effect.as(Effect.sleep(this.#pause), [chunk])
    }
    if (state._tag !== "Ending" && state._tag !== "Breaking") return Effect.flatMap(this.#sleep, () => this.#pull)
    this.#close(state.reason)
    return state._tag === "Ending"
      ? Cause.done()
      // A broken connection would discard data that the socket has not sent yet.
      : Effect.andThen(this.#options.delivered, Effect.fail(new ConnectionLost()))
  }

  #readPast(past: NonNullable<Options["past"]>): void {
    const page = past()
    if (page !== undefined) {
      for (const item of page) this.push(item)
      return
    }
    this.#past = undefined
    if (this.#options.afterPast !== undefined) this.#stop("Ending", this.#options.afterPast)
  }
}

type Pull = Effect.Effect<readonly [Uint8Array], ConnectionLost | Cause.Done>

/** The beginning of a line, cut inside a multi-byte character, or in the middle if there is none. */
const withinCharacter = (text: string): Uint8Array => {
  const bytes = encoder.encode(text)
  const begins = bytes.findIndex((byte) => byte >= 0xc0)
  return bytes.subarray(0, begins < 0 ? bytes.length >> 1 : begins + 1)
}
