/** The line of one connection: what waits to be sent on it, heartbeats, and its end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConnectionLost } from "../faults/FaultyResponse.ts"
import { millisOf } from "../http/Time.ts"
import type { Resource } from "../projection/Projection.ts"
import type { Disturbance } from "./Disturbance.ts"

/** Something that is sent. */
export interface Item {
  readonly id: string
  /** One line, without its end. */
  readonly text: string
  readonly resources: ReadonlyArray<Resource>
}

/** Why a connection has ended. */
export type Reason =
  | "client_disconnected"
  | "force_disconnect"
  | "slow_reader"
  | "operational_disconnect"
  | "recovery_complete"
  | "connection_broken"
  | "shutdown"

/** What a line is told of, and asks for. */
export interface Surroundings {
  readonly now: () => number
  /** What came before, in its order, a part at a time; nothing when there is no more. Called while nothing else waits. */
  readonly past: (() => ReadonlyArray<Item> | undefined) | undefined
  /** Where the line ends with what came before: why. */
  readonly afterPast: Reason | undefined
  readonly disturbance: Disturbance | undefined
  /** Waits until all that was written is on its way. */
  readonly delivered: Effect.Effect<void>
  /** These have left. */
  readonly left: (items: ReadonlyArray<Item>) => void
  readonly ended: (reason: Reason) => void
}

/** The line of a connection. */
export interface Line {
  readonly push: (item: Item) => void
  /** Sends an empty line when nothing was sent for so long, in milliseconds; tells in how long to look again. */
  readonly beat: (after: number) => number
  /** Strikes now, where the fault names a time. */
  readonly strike: () => void
  /** Whether anybody has begun to read it. */
  readonly isRead: () => boolean
  /** Ends the answer: with a line that says why, where there is something to say. What waits is not sent any more. */
  readonly end: (reason: Reason, farewell?: string) => void
  /** The bytes. */
  readonly stream: Stream.Stream<Uint8Array, ConnectionLost>
}

/** More bytes than this are not kept for a client that does not read. */
const maxWaitingBytes = 16 * 1024 * 1024

/** About as many bytes leave at a time. */
const chunkBytes = 256 * 1024

const encoder = new TextEncoder()

const lineEnd = "\r\n"

/** Ends with the document that tells why the service ends a connection. */
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

/** Something that waits: a line with its end, or the piece of one. */
interface Waiting {
  readonly bytes: string | Uint8Array
  readonly item: Item | undefined
}

type State =
  | { readonly _tag: "Open" | "Ended" }
  /** When what waits was sent. */
  | { readonly _tag: "Ending" | "Breaking"; readonly reason: Reason }

/** Makes the line of a connection. The first thing on it is an empty line, so that the client has the head at once. */
export const make = (
  { afterPast, delivered, disturbance, ended, left, now, past }: Surroundings
): Line => {
  let waiting: Array<Waiting> = [{ bytes: lineEnd, item: undefined }]
  let waitingBytes = 0
  let state: State = { _tag: "Open" }
  let history = past
  let wake: (() => void) | undefined
  let sentAt = now()
  /** Until when nothing is sent. */
  let stalledUntil = 0
  let pause: number | undefined
  /** What comes after the next one. */
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
    // Whether the client still reads or not: the next one may come.
    report(reason)
    rouse()
  }
  const write = (item: Item): void => put(item.text + lineEnd, item)
  /** Something goes wrong: with an item, or between two. */
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

  /** What can be sent now, and what left with it. */
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
  /** A few bytes of the first line: the item has left with the last of them. */
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
      // Others have their turn, however long it was.
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
      // What was sent before has left: a broken connection would take it along.
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

/** The beginning of a line that ends inside one of its characters, or else in its middle. */
const withinCharacter = (text: string): Uint8Array => {
  const bytes = encoder.encode(text)
  const begins = bytes.findIndex((byte) => byte >= 0xc0)
  return bytes.subarray(0, begins < 0 ? bytes.length >> 1 : begins + 1)
}
