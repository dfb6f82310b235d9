/** The output of one stream connection: queued items, heartbeats and the end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConnectionLost } from "../faults/FaultyResponse.ts"
import { millisOf } from "../http/Time.ts"
import type { Resource } from "../projection/Projection.ts"
import type { Disturbance } from "./Disturbance.ts"

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

/** The options of a line. */
export interface Surroundings {
  readonly now: () => number
  /** Earlier items, in order and in parts; undefined when there are no more. Called only while the queue is empty. */
  readonly past: (() => ReadonlyArray<Item> | undefined) | undefined
  /** The reason to end the connection after the earlier items, for a recovery. */
  readonly afterPast: Reason | undefined
  readonly disturbance: Disturbance | undefined
  /** Waits until everything written has been handed to the socket. */
  readonly delivered: Effect.Effect<void>
  /** Called with sent items. */
  readonly left: (items: ReadonlyArray<Item>) => void
  readonly ended: (reason: Reason) => void
}

/** The output of a connection. */
export interface Line {
  readonly push: (item: Item) => void
  /** Sends a heartbeat if nothing was sent for `after` milliseconds; returns the delay until the next call. */
  readonly beat: (after: number) => number
  /** Makes the fault take effect, if it names a time. */
  readonly strike: () => void
  /** True if the client has started to read. */
  readonly isRead: () => boolean
  /** Ends the response, with a last line if given. Queued items are dropped. */
  readonly end: (reason: Reason, farewell?: string) => void
  readonly stream: Stream.Stream<Uint8Array, ConnectionLost>
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

/** Starts with an empty line, so that the client receives the response head immediately. */
export const make = (
  { afterPast, delivered, disturbance, ended, left, now, past }: Surroundings
): Line => {
  let waiting: Array<Waiting> = [{ bytes: lineEnd, item: undefined }]
  let waitingBytes = 0
  let state: State = { _tag: "Open" }
  let history = past
  let wake: (() => void) | undefined
  let sentAt = now()
  /** The end of a stall. */
  let stalledUntil = 0
  let pause: number | undefined
  /** An item held back until after the next one. */
  let held: Item | undefined
  let isReported = false
  let isRead = false

  const rouse = (): void => {
    const waker = wake
    wake = undefined
    waker?.()
  }
  const report = (reason: Reason): void => {
    if (isReported) return
    isReported = true
    ended(reason)
  }
  const close = (reason: Reason): void => {
    state = { _tag: "Ended" }
    waiting = []
    history = undefined
    report(reason)
    rouse()
  }
  const put = (bytes: string | Uint8Array, item?: Item): void => {
    waiting.push({ bytes, item })
    waitingBytes += bytes.length
  }
  const stop = (tag: "Ending" | "Breaking", reason: Reason): void => {
    if (state._tag === "Open") state = { _tag: tag, reason }
    history = undefined
  }
  const end = (reason: Reason, text?: string): void => {
    if (state._tag !== "Open") return
    waiting = []
    waitingBytes = 0
    stalledUntil = 0
    if (text !== undefined) put(text + lineEnd)
    stop("Ending", reason)
    // Reported even if the client does not read any more, so that it may connect again.
    report(reason)
    rouse()
  }
  const write = (item: Item): void => put(item.text + lineEnd, item)
  /** Applies a fault to an item, or between two. */
  const disturb = ({ act, fault }: Disturbance, item?: Item): void => {
    switch (act) {
      case "cut":
        return stop("Breaking", "connection_broken")
      case "cut-in-character":
        if (item !== undefined) put(withinCharacter(item.text))
        return stop("Breaking", "connection_broken")
      case "error":
        put(farewell(fault.disconnectType ?? "OperationalDisconnect") + lineEnd)
        return stop("Ending", "operational_disconnect")
      case "stall":
        stalledUntil = fault.for === undefined ? Infinity : now() + millisOf(fault.for)
        return
      case "slow":
        pause = millisOf(fault.pause ?? 100)
        return
      case "duplicate":
        if (item !== undefined) put(item.text + lineEnd, item)
        return item && write(item)
      case "out-of-order":
        held = item
        return
      case "garbage":
        put(`{"data":{"id":"${item?.id ?? 0}","text":"not JSON` + lineEnd)
        return item && write(item)
    }
  }
  const push = (item: Item): void => {
    if (state._tag !== "Open") return
    if (disturbance !== undefined && !disturbance.isBetween && disturbance.isDue()) disturb(disturbance, item)
    else {
      write(item)
      if (held !== undefined) write(held)
      held = undefined
    }
    if (disturbance?.isBetween === true && disturbance.isDue()) disturb(disturbance)
    if (waitingBytes > maxWaitingBytes) end("slow_reader", farewell("SlowReader"))
    rouse()
  }

  /** Takes the next chunk from the queue. */
  const take = (): Uint8Array | undefined => {
    const first = waiting[0]
    if (first === undefined) return undefined
    if (pause !== undefined) return piece(first)
    let bytes = 0
    let count = 0
    let isText = true
    for (const next of waiting) {
      if (bytes >= chunkBytes) break
      count++
      bytes += next.bytes.length
      isText &&= typeof next.bytes === "string"
    }
    const leaving = count === waiting.length ? waiting : waiting.slice(0, count)
    waiting = count === waiting.length ? [] : waiting.slice(count)
    waitingBytes -= bytes
    const items = leaving.flatMap(({ item }) => item ?? [])
    if (items.length > 0) left(items)
    return isText
      ? encoder.encode(leaving.map((each) => each.bytes).join(""))
      : Buffer.concat(leaving.map((each) => typeof each.bytes === "string" ? Buffer.from(each.bytes) : each.bytes))
  }
  /** Takes a few bytes of the first line; its item counts as sent with the last of them. */
  const piece = (first: Waiting): Uint8Array => {
    const bytes = typeof first.bytes === "string" ? encoder.encode(first.bytes) : first.bytes
    const size = 61
    waitingBytes -= Math.min(size, first.bytes.length)
    if (bytes.length > size) waiting[0] = { bytes: bytes.subarray(size), item: first.item }
    else {
      waiting.shift()
      if (first.item !== undefined) left([first.item])
    }
    return bytes.subarray(0, size)
  }

  if (disturbance?.isBetween === true && disturbance.isDue()) disturb(disturbance)

  const sleep = Effect.callback<void>((resume) => {
    wake = () => resume(Effect.void)
    return Effect.sync(() => void (wake = undefined))
  })

  const pull: Effect.Effect<readonly [Uint8Array], ConnectionLost | Cause.Done> = Effect.suspend(() => {
    isRead = true
    if (state._tag === "Ended") return Cause.done()
    if (stalledUntil > now()) return Effect.flatMap(sleep, () => pull)
    if (waiting.length === 0 && history !== undefined) {
      const page = history()
      if (page !== undefined) { for (const item of page) push(item) }
      else {
        history = undefined
        if (afterPast !== undefined) stop("Ending", afterPast)
      }
      // Yields between parts of a long history.
      return Effect.flatMap(Effect.yieldNow, () => pull)
    }
    const chunk = take()
    if (chunk !== undefined) {
      sentAt = now()
      return pause === undefined ? Effect.succeed([chunk]) : Effect.as(Effect.sleep(pause), [chunk])
    }
    if (state._tag === "Ending") {
      close(state.reason)
      return Cause.done()
    }
    if (state._tag === "Breaking") {
      close(state.reason)
      // A broken connection would discard data that the socket has not sent yet.
      return Effect.andThen(delivered, Effect.fail(new ConnectionLost()))
    }
    return Effect.flatMap(sleep, () => pull)
  })

  return {
    push,
    isRead: () => isRead,
    beat: (after) => {
      const silence = now() - sentAt
      if (stalledUntil > now()) return Math.min(after, stalledUntil - now())
      if (stalledUntil > 0) {
        stalledUntil = 0
        rouse()
      }
      if (state._tag !== "Open" || silence < after) return Math.max(1, after - silence)
      if (waiting.length === 0 && history === undefined) {
        put(lineEnd)
        rouse()
      }
      sentAt = now()
      return after
    },
    strike: () => {
      if (state._tag !== "Open" || disturbance === undefined) return
      disturb(disturbance)
      rouse()
    },
    end,
    stream: Stream.ensuring(
      Stream.fromPull(Effect.succeed(pull)),
      Effect.sync(() => close("client_disconnected"))
    )
  }
}

/** The beginning of a line, cut inside a multi-byte character, or in the middle if there is none. */
const withinCharacter = (text: string): Uint8Array => {
  const bytes = encoder.encode(text)
  const begins = bytes.findIndex((byte) => byte >= 0xc0)
  return bytes.subarray(0, begins < 0 ? bytes.length >> 1 : begins + 1)
}
