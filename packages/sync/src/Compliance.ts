/** Checks of what is stored, as blocking methods: results are fetched by the worker, as the loop gets to them. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import * as Shared from "@postwire/core/promise/Compliance"
import type { ComplianceJob } from "@postwire/core/schema/models/ComplianceJob"
import type * as Core from "@postwire/core/workflows/Compliance"
import type * as Calls from "./internal/calls.ts"
import { orThrow } from "./internal/calls.ts"
import * as Handing from "./internal/handing.ts"
import type * as Protocol from "./internal/protocol.ts"
import * as Streams from "./internal/streams.ts"

/** Ids, or a text of them with one on a line: a file by its path or its `file:` URL, bytes, or a Blob that is in memory. */
export type Ids = Iterable<string | number | bigint> | Handing.Input

/** What is checked, and how. */
export interface CheckOptions extends Core.CheckOptions<Ids> {}

/** Which of the posts or users that an app has stored are gone, hidden or changed since. `onProgress` is called on the thread that it blocks. */
export interface Compliance {
  /** Sends the ids of a job to its `upload_url`, and returns how many there were. */
  readonly upload: (job: Core.Job, ids: Ids) => number
  /** Waits until a job is complete, with pauses that grow from one second to half a minute. */
  readonly wait: (job: Pick<Core.Job, "id">, options?: Core.WaitOptions) => ComplianceJob
  /** The results of a complete job. Little of them is in memory at a time, and what is cut goes on where it was. */
  readonly results: (job: Core.Job) => Iterable<Core.Result>
  /**
   * Checks ids from the beginning to the end: creates a job, sends its ids, waits for it and fetches its results; then the next
   * one, where there are more ids than a job has. Ids of an iterable are all in memory first; those of a file are not. An app has
   * one unfinished job of a type at a time.
   */
  readonly check: (options: CheckOptions) => Iterable<Core.Result>
}

/** The methods of a client. */
export const make = (context: Calls.Context): Compliance => {
  const upload: Compliance["upload"] = (job, ids) =>
    call<number, never>(context, "upload", upload, undefined, (crossing) => ({
      call: "uploadComplianceIds",
      job,
      ids: crossing(ids)
    }))
  const wait: Compliance["wait"] = (job, options = {}) =>
    call<ComplianceJob, never>(context, "wait", wait, undefined, () => ({ call: "waitForCompliance", job, options }))
  return {
    upload,
    wait,
    results: (job) => ({
      [Symbol.iterator]: () =>
        iterate(context, "results", undefined, (_crossing, stream) => ({ call: "openComplianceResults", stream, job }))
    }),
    check: ({ ids, onProgress, ...options }) => ({
      [Symbol.iterator]: () =>
        iterate(context, "check", onProgress, (crossing, stream) => ({
          call: "openComplianceCheck",
          stream,
          options: { ...options, ids: crossing(ids) }
        }))
    })
  }
}

type Name = keyof Compliance

type OnProgress = Core.CheckOptions["onProgress"]

/** Nothing at the end. */
type Next = ReadonlyArray<Core.Result> | undefined

type Crossing = (ids: Ids) => Protocol.Ids

function* iterate(
  context: Calls.Context,
  name: "results" | "check",
  onProgress: OnProgress,
  openingOf: (crossing: Crossing, stream: number) => Protocol.Publishing
): Generator<Core.Result> {
  const { connection } = context
  const open = (stream: number) =>
    call<void, Core.Progress>(context, name, iterate, onProgress, (crossing) => openingOf(crossing, stream))
  const next = (stream: number) =>
    call<Next, Core.Progress>(context, name, iterate, onProgress, () => ({ call: "next", stream }))
  for (const some of Streams.batches(connection, open, next)) {
    for (const result of some) {
      yield result
      if (connection.isClosed) orThrow(CallErrors.closed(Shared.calls[name]), iterate)
    }
  }
}

function call<A, P>(
  context: Calls.Context,
  name: Name,
  caller: Calls.Caller,
  onProgress: ((progress: P) => void) | undefined,
  publishingOf: (crossing: Crossing) => Protocol.Publishing
): A
// What the worker answers to each call is stated where it is made.
function call(
  context: Calls.Context,
  name: Name,
  caller: Calls.Caller,
  onProgress: Handing.Handing["onProgress"],
  publishingOf: (crossing: Crossing) => Protocol.Publishing
): unknown {
  const told = Shared.calls[name]
  return Handing.hand(context, { told, parameter: "ids", onProgress, caller }, (crossing) =>
    publishingOf((ids) => {
      if (Symbol.asyncIterator in Object(ids)) {
        throw Handing.invalid(
          { told },
          "ids",
          "cannot be asynchronous, which stands still while this thread is blocked"
        )
      }
      return isIterable(ids) ? [...ids] : crossing(ids)
    }))
}

const isIterable = (ids: Ids): ids is Iterable<string | number | bigint> =>
  typeof ids === "object" && ids !== null && !ArrayBuffer.isView(ids) && Symbol.iterator in ids
