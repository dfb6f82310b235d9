/** What the two sides of the bridge say to each other. */
import type { CallOptions } from "@postwire/core/client/CallOptions"
import type { UploadOptions } from "@postwire/core/promise/Workflows"
import type { Post, PublishOptions } from "@postwire/core/publishing/Publish"
import type { ThreadOptions } from "@postwire/core/publishing/Thread"
import type { Form } from "@postwire/core/schema/Definition"
import type { Cost } from "@postwire/core/schema/Response"
import type * as StreamRules from "@postwire/core/streams/rules/StreamRules"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import type { Prepared } from "@postwire/core/wire/RequestEncoder"
import type * as Compliance from "@postwire/core/workflows/Compliance"
import type { Options as ConversationOptions } from "@postwire/core/workflows/Conversation"
import type { PlanOptions, SyncOptions, Wanted } from "@postwire/core/workflows/ListMembers"
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

/** What can be uploaded, as it crosses threads: the path of a file, bytes, or a Blob that is in memory. */
export type Input = string | Uint8Array | ArrayBuffer | Blob

/** Ids, or a text of them. */
export type Ids = ReadonlyArray<string | number | bigint> | Input

/** An upload, or another thing that is made of many calls. Who is told of their progress stays behind. */
export type Publishing =
  | { readonly call: "upload"; readonly input: Input; readonly options: UploadOptions<Input> }
  | { readonly call: "publish"; readonly post: Post<Input>; readonly options: PublishOptions }
  | {
    readonly call: "publishThread"
    readonly posts: ReadonlyArray<Post<Input>>
    readonly options: ThreadOptions
  }
  | (Listed & { readonly call: "planListMembers"; readonly options: PlanOptions })
  | (Listed & { readonly call: "syncListMembers"; readonly options: SyncOptions })
  | {
    readonly call: "getConversation"
    readonly post: string | number | bigint
    readonly options: ConversationOptions
  }
  | {
    readonly call: "planRules"
    readonly desired: ReadonlyArray<StreamRules.WantedRule>
    readonly options: StreamRules.PlanOptions
  }
  | {
    readonly call: "syncRules"
    readonly desired: ReadonlyArray<StreamRules.WantedRule>
    readonly options: StreamRules.SyncOptions
  }
  | { readonly call: "uploadComplianceIds"; readonly job: Compliance.Job; readonly ids: Ids }
  | {
    readonly call: "waitForCompliance"
    readonly job: Pick<Compliance.Job, "id">
    readonly options: Compliance.WaitOptions
  }
  | { readonly call: "openComplianceResults"; readonly stream: number; readonly job: Compliance.Job }
  | {
    readonly call: "openComplianceCheck"
    readonly stream: number
    readonly options: Omit<Compliance.CheckOptions<Ids>, "onProgress">
  }
  | {
    readonly call: "openLive"
    readonly stream: number
    readonly operation: string
    readonly parameters: Readonly<Record<string, unknown>>
    readonly options: Omit<StreamOptions, "onEvent">
    /** Whether what happens crosses with the items. */
    readonly isWhole: boolean
  }
  /** What comes next of a stream that was opened. */
  | { readonly call: "next"; readonly stream: number }

/** A list and who is to be on it. */
interface Listed {
  readonly list: string | number | bigint
  readonly desired: ReadonlyArray<Wanted>
}

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
    readonly _tag: "Publish"
    readonly id: number
    readonly client: number
    readonly publishing: Publishing
    /** Whether somebody is to be told how it goes on. */
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
  | { readonly _tag: "Published"; readonly id: number; readonly value: unknown }
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
