/** The messages and the shared memory of the two sides of the bridge. */
import type { CallOptions } from "@postwire/core/client/CallOptions"
import type { Name, StreamName } from "@postwire/core/promise/Methods"
import type { Form } from "@postwire/core/schema/Definition"
import type { Cost } from "@postwire/core/schema/Response"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import type { Prepared } from "@postwire/core/wire/RequestEncoder"
import type { Statistics } from "@postwire/node/UndiciHttpClient"
import type { MessagePort } from "node:worker_threads"
import type { Settings } from "../Settings.ts"
import type { Encoded } from "./errorCodec.ts"
import type { NetworkDefaults } from "./networkDefaults.ts"

/** The state of the worker. */
export const State = {
  loading: 0,
  ready: 1,
  /** Ended after it was ready, or before. */
  ended: 2,
  unloadable: 3
} as const

/** The fields of the shared memory. */
export const place = {
  /** Incremented with every answer; the caller sleeps on it. */
  answers: 0,
  /** Incremented ten times a second while the worker's event loop runs. */
  heartbeat: 1,
  /** A `State`. */
  state: 2,
  /** The id of the answer in the memory, 0 for none; its status; the bytes of its headers and of its body. */
  answer: 3,
  status: 4,
  headers: 5,
  body: 6,
  /** The last request that the caller abandoned: the worker must not send it any more. */
  withdrawn: 7,
  /** The length in bytes of the reason why the worker ended. */
  reason: 8,
  /** The id of the create that may have taken effect, 0 for none. */
  out: 9
} as const

export const placesBytes = 64
/** The reason why the worker ended is cut to this many bytes. */
export const reasonBytes = 2_048
/** Up to this many bytes, copying is cheaper than a transfer; pages are longer. */
const roomBytes = 32 * 1024

/** The memory that both sides share. */
export interface Shared {
  readonly memory: SharedArrayBuffer
  readonly places: Int32Array
  readonly reason: Buffer
  /** The headers and the body of a small response: cheaper than a message. */
  readonly room: Buffer
}

/** Views of new memory, or of the memory of the other side. */
export const share = (
  memory: SharedArrayBuffer = new SharedArrayBuffer(placesBytes + reasonBytes + roomBytes)
): Shared => ({
  memory,
  places: new Int32Array(memory, 0, placesBytes / Int32Array.BYTES_PER_ELEMENT),
  reason: Buffer.from(memory, placesBytes, reasonBytes),
  room: Buffer.from(memory, placesBytes + reasonBytes)
})

/** The key of the worker data: other workers of the program may have data of any kind. */
export const ownName = "@postwire/sync"

/** The data that the worker starts with. */
export interface WorkerData {
  readonly [ownName]: { readonly memory: SharedArrayBuffer; readonly port: MessagePort; readonly url: string }
}

/** Wakes the caller. */
export const wake = ({ places }: Shared): void => {
  Atomics.add(places, place.answers, 1)
  Atomics.notify(places, place.answers)
}

/** A job of many calls. Its progress callback stays on the caller's side. */
export type Job =
  | {
    readonly type: "call"
    readonly method: Exclude<Name, StreamName>
    readonly args: ReadonlyArray<unknown>
  }
  | {
    readonly type: "open"
    readonly stream: number
    readonly method: StreamName
    readonly args: ReadonlyArray<unknown>
  }
  | {
    readonly type: "openLive"
    readonly stream: number
    readonly operation: string
    readonly parameters: Readonly<Record<string, unknown>>
    readonly options: Omit<StreamOptions, "onEvent">
    /** Includes events with the items. */
    readonly isWhole: boolean
  }
  /** Reads the next items of an open stream. */
  | { readonly type: "next"; readonly stream: number }

/** The fields of the memory of one job: other calls may be made while it reports progress. */
export const gate = {
  /** 1 when the caller no longer waits: the worker must not send a post any more. */
  withdrawn: 0,
  /** The number of posts that may have taken effect. */
  out: 1
} as const

/**
 * The spending of a client, which outlives its worker. The worker counts in the memory of `total`: spent, in doubt and reserved, in
 * micro-dollars. `bill` has the first texts of a store in memory.
 */
export interface Spending {
  readonly total: Float64Array<SharedArrayBuffer>
  readonly bill: ReadonlyMap<string, string>
}

/** From the caller to the worker. */
export type Request =
  | {
    readonly _tag: "Open"
    readonly client: number
    readonly settings: Settings<Form>
    readonly defaults: NetworkDefaults
    readonly spending: Spending
  }
  | {
    readonly _tag: "Send"
    readonly id: number
    readonly client: number
    /** As JSON unless it has bytes: one text is copied faster than an object with many members. */
    readonly prepared: Prepared | string
    readonly options: CallOptions | undefined
    /** Other calls may run before the answer is read, so it must not be in the shared memory. */
    readonly ahead: boolean
  }
  | {
    readonly _tag: "Run"
    readonly id: number
    readonly client: number
    readonly job: Job
    /** Report progress. */
    readonly isWatched: boolean
    /** Its fields: see `gate`. */
    readonly gate: Int32Array<SharedArrayBuffer>
  }
  | { readonly _tag: "Abort"; readonly id: number }
  /** Closes a stream. */
  | { readonly _tag: "Leave"; readonly stream: number }
  | { readonly _tag: "Statistics"; readonly id: number; readonly client: number }
  /** Only the worker knows the credentials of an account. */
  | { readonly _tag: "Redact"; readonly id: number; readonly client: number; readonly text: string }
  | { readonly _tag: "Close"; readonly id: number; readonly client: number }

/** From the worker to the caller. A response is a message only if it does not fit into the memory. */
export type Answer =
  | {
    readonly _tag: "Response"
    readonly id: number
    readonly status: number
    /** As JSON. The values of a repeated one are a list, since joined cookies cannot be separated again. */
    readonly headers: string
    readonly body: Uint8Array
    /** The cost, if the client counts spending. */
    readonly cost?: Cost | undefined
  }
  | { readonly _tag: "Done"; readonly id: number; readonly value: unknown }
  /** Other answers follow. */
  | { readonly _tag: "Progress"; readonly id: number; readonly progress: unknown }
  | { readonly _tag: "Failure"; readonly id: number; readonly error: Encoded }
  /** Nothing of the request was sent. */
  | { readonly _tag: "Unsent"; readonly id: number; readonly reason: string }
  | { readonly _tag: "Defect"; readonly id: number; readonly message: string }
  | { readonly _tag: "Statistics"; readonly id: number; readonly statistics: Readonly<Record<string, Statistics>> }
  | { readonly _tag: "Redacted"; readonly id: number; readonly text: string }
  | { readonly _tag: "Closed"; readonly id: number }

/** Texts of a client's bill that changed. It has no id, since it answers no request. */
export interface BillChange {
  readonly _tag: "BillChange"
  readonly client: number
  readonly texts: ReadonlyMap<string, string>
}

/** A response. Its body may be in the shared memory, where the next answer may overwrite it. */
export type Received = Extract<Answer, { readonly _tag: "Response" }>
