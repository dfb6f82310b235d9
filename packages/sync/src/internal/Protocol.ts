/** What the two sides of the bridge say to each other. */
import type { Prepared } from "@postwire/core/Executor"
import type { Form } from "@postwire/core/Operation"
import type { Statistics } from "@postwire/node/UndiciHttpClient"
import type { MessagePort } from "node:worker_threads"
import type { Settings } from "../SyncClient.ts"

/** Places in the shared memory. */
export const place = {
  /** Rises with every answer; the caller sleeps on it. */
  answers: 0,
  /** Rises ten times a second while the worker's event loop turns. */
  heartbeat: 1,
  /** 0 until the worker has loaded, then 1; 2 once it is gone. */
  state: 2
} as const

/** What the worker starts with. The name tells it from every other worker. */
export interface WorkerData {
  readonly postwire: { readonly memory: SharedArrayBuffer; readonly port: MessagePort }
}

/** Tells the caller that something is new. */
export const wake = (shared: Int32Array): void => {
  Atomics.add(shared, place.answers, 1)
  Atomics.notify(shared, place.answers)
}

/** Tells the caller that the worker is gone. */
export const leave = (shared: Int32Array): void => {
  Atomics.store(shared, place.state, 2)
  wake(shared)
}

/** From the caller to the worker. */
export type Request =
  | { readonly _tag: "Open"; readonly client: number; readonly settings: Settings<Form> }
  | { readonly _tag: "Send"; readonly id: number; readonly client: number; readonly prepared: Prepared }
  | { readonly _tag: "Abort"; readonly id: number }
  | { readonly _tag: "Statistics"; readonly id: number; readonly client: number }
  | { readonly _tag: "Close"; readonly id: number; readonly client: number }

/** From the worker to the caller. */
export type Answer =
  | {
    readonly _tag: "Response"
    readonly id: number
    readonly status: number
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly bytes: Uint8Array<ArrayBuffer>
  }
  /** `error` is encoded by the schema of all errors. */
  | { readonly _tag: "Failure"; readonly id: number; readonly error: unknown }
  | { readonly _tag: "Defect"; readonly id: number; readonly message: string }
  | { readonly _tag: "Statistics"; readonly id: number; readonly statistics: Readonly<Record<string, Statistics>> }
  | { readonly _tag: "Closed"; readonly id: number }
