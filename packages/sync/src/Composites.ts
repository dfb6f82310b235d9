/** The methods that make many calls: the worker runs them, and this thread waits. `onProgress` is called on the blocked thread. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import * as Methods from "@postwire/core/promise/Methods"
import type { CheckOptions } from "@postwire/core/workflows/Compliance"
import * as Predicate from "effect/Predicate"
import type { Blocking, Input } from "./internal/blocking.ts"
import * as Calls from "./internal/calls.ts"
import * as Hydrating from "./internal/hydrating.ts"
import * as Jobs from "./internal/jobs.ts"
import * as Streams from "./internal/streams.ts"

export type { Input } from "./internal/blocking.ts"

/** The methods of a client. */
export interface Composites extends Methods.Methods<Input, Blocking> {}

/** Checks which of the posts or users that an app has stored were deleted, hidden or changed since. */
export interface Compliance extends Methods.Compliance<Input, Blocking> {}

/** Ids to check, or a text with one on each line: a file by its path or its `file:` URL, bytes, or a Blob in memory. */
export type ComplianceIds = Blocking["ids"] | Input

/** The options of a compliance check. */
export interface ComplianceCheckOptions extends CheckOptions<ComplianceIds> {}

/** The options of an upload. */
export type UploadOptions = Methods.UploadOptions<Input>

/** The methods of a client. */
export const make = (context: Calls.Context): Composites => ({
  ...Methods.build<Input, Blocking>((path) => {
    if (Methods.isStream(path)) {
      return (...args: ReadonlyArray<unknown>) => ({ [Symbol.iterator]: () => iterate(context, path, args) })
    }
    const call = (...args: ReadonlyArray<unknown>) => {
      const { argsOf, run } = prepare(path, args, call)
      return Jobs.run(context, run, (transferable) => ({ type: "call", method: path, args: argsOf(transferable) }))
    }
    return call
  }),
  hydrate: Hydrating.make(context)
})

/** Takes `onProgress` out of the options, and makes the other arguments transferable. */
const prepare = (path: Methods.Name, args: ReadonlyArray<unknown>, caller: Calls.Caller) => {
  const call: Methods.Method = Methods.methods[path]
  const options = args[call.options]
  const { onProgress, ...rest } = Predicate.isObject(options)
    ? { onProgress: undefined, ...options }
    : { onProgress: undefined }
  const before = Array.from({ length: call.options }, (_, index) => args[index])
  return {
    run: { call, parameter: path.startsWith("compliance.") ? "ids" : "file", onProgress, caller },
    argsOf: (transferable: Jobs.Transferable) =>
      Methods.mapInputs(
        path,
        [...before.map((arg) => Jobs.isIterable(arg) ? [...arg] : arg), Predicate.isObject(options) ? rest : options],
        transferable
      )
  }
}

function* iterate(context: Calls.Context, path: Methods.StreamName, args: ReadonlyArray<unknown>): Generator<unknown> {
  const { connection } = context
  const { argsOf, run } = prepare(path, args, iterate)
  const open = (stream: number) =>
    void Jobs.run(context, run, (transferable) => ({ type: "open", stream, method: path, args: argsOf(transferable) }))
  const next = (stream: number) => Jobs.run(context, run, () => ({ type: "next", stream }))
  for (const batch of Streams.batches(connection, open, next)) {
    for (const one of Array.isArray(batch) ? batch : []) {
      yield one
      if (connection.isClosed) Calls.orThrow(CallErrors.closed(run.call), iterate)
    }
  }
}
