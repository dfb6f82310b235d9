/** What the two sides of the bridge say to each other. */
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

/** What has become of the worker. */
export const State = {
  loading: 0,
  ready: 1,
  /** Gone after it was ready, or before. */
  ended: 2,
  unloadable: 3
} as const

/** Places in the shared memory. */
export const place = {
  /** Rises with every answer; the caller sleeps on it. */
  answers: 0,
  /** Rises ten times a second while the worker's event loop turns. */
  heartbeat: 1,
  /** A `State`. */
  state: 2,
  /** The answer that lies in the memory, 0 for none; its status; the bytes of its headers and of its body. */
  answer: 3,
  status: 4,
  headers: 5,
  body: 6,
  /** The last request that the caller gave up: what has not left by then is not to be sent. */
  withdrawn: 7,
  /** The bytes of what the worker ended with. */
  reason: 8,
  /** The create that may have taken effect, 0 for none. */
  out: 9
} as const

export const placesBytes = 64
/** What the worker ended with is cut to this many bytes. */
export const reasonBytes = 2_048
/** Up to this many bytes a copy is cheaper than a transfer; pages are longer. */
const roomBytes = 32 * 1024

/** The memory of both sides. */
export interface Shared {
  readonly memory: SharedArrayBuffer
  readonly places: Int32Array
  readonly reason: Buffer
  /** Where a small body goes, with its headers before it: cheaper than a message. */
  readonly room: Buffer
}

/** New memory, or that of the other side. */
export const share = (
  memory: SharedArrayBuffer = new SharedArrayBuffer(placesBytes + reasonBytes + roomBytes)
): Shared => ({
  memory,
  places: new Int32Array(memory, 0, placesBytes / Int32Array.BYTES_PER_ELEMENT),
  reason: Buffer.from(memory, placesBytes, reasonBytes),
  room: Buffer.from(memory, placesBytes + reasonBytes)
})

/** The name under which the worker finds what it starts with: a program may give its own workers anything. */
export const ownName = "@postwire/sync"

/** What the worker starts with. */
export interface WorkerData {
  readonly [ownName]: { readonly memory: SharedArrayBuffer; readonly port: MessagePort; readonly url: string }
}

/** Tells the caller that something is new. */
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
    /** Whether events cross with the items. */
    readonly isWhole: boolean
  }
  /** Reads the next items of an open stream. */
  | { readonly type: "next"; readonly stream: number }

/** Places in the memory that a post with files has of its own: other calls may be made while it tells of its progress. */
export const gate = {
  /** 1 once nobody waits for it any more: a post that has not left by then is not to be sent. */
  withdrawn: 0,
  /** 1 while the post may have taken effect. */
  out: 1
} as const

/** From the caller to the worker. */
export type Request =
  | {
    readonly _tag: "Open"
    readonly client: number
    readonly settings: Settings<Form>
    readonly defaults: NetworkDefaults
  }
  | {
    readonly _tag: "Send"
    readonly id: number
    readonly client: number
    readonly prepared: Prepared
    readonly options: CallOptions
    /** Other calls may run before the answer is taken, so it must not lie in the shared memory. */
    readonly ahead: boolean
  }
  | {
    readonly _tag: "Run"
    readonly id: number
    readonly client: number
    readonly job: Job
    /** Whether to report progress. */
    readonly isWatched: boolean
    /** Two places: see `gate`. */
    readonly gate: Int32Array<SharedArrayBuffer>
  }
  | { readonly _tag: "Abort"; readonly id: number }
  /** Nobody asks for more of a stream. */
  | { readonly _tag: "Leave"; readonly stream: number }
  | { readonly _tag: "Statistics"; readonly id: number; readonly client: number }
  /** Credentials of an account are known there only. */
  | { readonly _tag: "Redact"; readonly id: number; readonly client: number; readonly text: string }
  | { readonly _tag: "Close"; readonly id: number; readonly client: number }

/** From the worker to the caller. A response comes as a message only if it does not fit into the memory. */
export type Answer =
  | {
    readonly _tag: "Response"
    readonly id: number
    readonly status: number
    /** Names and values in turn, a line each. */
    readonly headers: string
    readonly body: Uint8Array
    /** Of a client that counts what is spent. */
    readonly cost?: Cost | undefined
  }
  | { readonly _tag: "Done"; readonly id: number; readonly value: unknown }
  /** Others come after it. */
  | { readonly _tag: "Progress"; readonly id: number; readonly progress: unknown }
  | { readonly _tag: "Failure"; readonly id: number; readonly error: Encoded }
  /** Nothing of the request left. */
  | { readonly _tag: "Unsent"; readonly id: number; readonly reason: string }
  | { readonly _tag: "Defect"; readonly id: number; readonly message: string }
  | { readonly _tag: "Statistics"; readonly id: number; readonly statistics: Readonly<Record<string, Statistics>> }
  | { readonly _tag: "Redacted"; readonly id: number; readonly text: string }
  | { readonly _tag: "Closed"; readonly id: number }

/** Its body may lie in the shared memory, where the next answer may take its place. */
export type Received = Extract<Answer, { readonly _tag: "Response" }>
