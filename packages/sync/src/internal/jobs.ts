/** Runs jobs of many calls in the worker: this thread waits for them, and calls their `onProgress`. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import { InvalidParameters } from "@postwire/core/errors/Errors"
import type { CallDescription } from "@postwire/core/promise/Methods"
import * as Callback from "@postwire/core/runtime/Callback"
import { show } from "@postwire/core/schema/Show"
import { fileURLToPath } from "node:url"
import * as Calls from "./calls.ts"
import type * as Protocol from "./protocol.ts"

/** A job before its arguments are prepared for the worker. */
export interface Run {
  readonly call: CallDescription
  /** The name of files and ids in errors. */
  readonly parameter: string
  readonly onProgress: unknown
  /** One of many waits: Ctrl-C is handled from the start of each. */
  readonly isEndless?: boolean
  readonly caller: Calls.Caller
}

/** Prepares a file or ids for the worker. Values of another type stay, for the core to reject. */
export type Transferable = (input: unknown) => unknown

/** Runs a job and returns its result. */
export const run = (
  context: Calls.Context,
  given: Run,
  jobOf: (transferable: Transferable) => Protocol.Job
): unknown => {
  const begun = Calls.orThrow(begin(context, given, jobOf), given.caller)
  return Calls.orThrow(Calls.receiveResult(callOf(given), begun, given.isEndless), given.caller)
}

/** The error of a parameter. */
export const invalid = ({ call: { name } }: Pick<Run, "call">, parameter: string, rule: string, value?: string) =>
  new InvalidParameters({ operation: name, parameter, rule, value })

const callOf = ({ call }: Run) => ({ confirmWith: undefined, ...call, operation: call.name })

const isCallback = (value: unknown): value is (progress: unknown) => void => typeof value === "function"

const begin = (
  { connection, settings }: Calls.Context,
  given: Run,
  jobOf: (transferable: Transferable) => Protocol.Job
): ReturnType<typeof connection.run> | Error => {
  const { call, onProgress, parameter } = given
  if (connection.isClosed) return CallErrors.closed(call)
  if (onProgress !== undefined && !isCallback(onProgress)) {
    return invalid(given, "onProgress", "must be a function", show(onProgress))
  }
  const refused = Calls.refusedHere(settings, callOf(given))
  if (refused !== undefined) return refused
  try {
    const job = jobOf((input) => transferableOf(given, input))
    return connection.run(job, onProgress && ((progress) => Callback.call(onProgress, progress)))
  } catch (error) {
    if (error instanceof InvalidParameters) return error
    if (isUncloneable(error)) {
      return invalid(given, parameter, `cannot be handed to a worker: pass a path or bytes (${error.message})`)
    }
    throw error
  }
}

const transferableOf = (given: Run, input: unknown): unknown => {
  const { parameter } = given
  if (typeof input !== "object" || input === null || input instanceof Blob) return input
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength).slice()
  if (input instanceof URL) {
    if (input.protocol !== "file:") {
      throw invalid(given, parameter, "must be a path or a file: URL", show(input.protocol))
    }
    try {
      return fileURLToPath(input)
    } catch (error) {
      throw invalid(given, parameter, `must be the address of a file of this machine (${String(error)})`, show(input))
    }
  }
  if ("stream" in input) {
    throw invalid(
      given,
      parameter,
      "cannot be a stream, which cannot be read while this thread is blocked: pass a path or bytes"
    )
  }
  if (Symbol.asyncIterator in input) {
    throw invalid(given, parameter, "cannot be asynchronous: nothing else runs while this thread is blocked")
  }
  return isIterable(input) ? [...input] : input
}

/** True for iterable objects except bytes. */
export const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && Symbol.iterator in value

/** True for the errors of cloning a function, or a Blob that reads from a file. */
const isUncloneable = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === "DataCloneError" || ("code" in error && error.code === "ERR_INVALID_STATE"))
