/** What is made of many calls: handed to the worker and waited for on this thread, which is told how it goes on. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import { InvalidParameters } from "@postwire/core/errors/Errors"
import * as Callback from "@postwire/core/runtime/Callback"
import { show } from "@postwire/core/schema/Show"
import { fileURLToPath } from "node:url"
import * as Calls from "./calls.ts"
import type * as Protocol from "./protocol.ts"

/** What can be uploaded: a file by its path or its `file:` URL, bytes, or a Blob that is in memory. */
export type Input = string | URL | Uint8Array | ArrayBuffer | Blob

/** A file, as it crosses threads. */
export type Crossing = (input: Input) => Protocol.Input

/** What errors tell of it, and who made the call. */
export interface Handing {
  readonly told: Omit<CallErrors.CallInfo, "result">
  /** What files are given as. */
  readonly parameter: string
  readonly onProgress: ((progress: unknown) => void) | undefined
  /** Whether it is waited for again and again, so that Ctrl-C is looked for from the beginning of each wait. */
  readonly isEndless?: boolean
  readonly caller: Calls.Caller
}

/** Hands something over and waits for what it leads to. */
export const hand = (
  context: Calls.Context,
  handing: Handing,
  publishingOf: (crossing: Crossing) => Protocol.Publishing
): unknown => {
  const begun = Calls.orThrow(begin(context, handing, publishingOf), handing.caller)
  return Calls.orThrow(Calls.receivePublished(callOf(handing), begun, handing.isEndless), handing.caller)
}

/** The error of a parameter. */
export const invalid = ({ told: { name } }: Pick<Handing, "told">, parameter: string, rule: string, value?: string) =>
  new InvalidParameters({ operation: name, parameter, rule, value })

const callOf = ({ told }: Handing) => ({ confirmWith: undefined, ...told, operation: told.name })

const begin = (
  { connection, settings }: Calls.Context,
  handing: Handing,
  publishingOf: (crossing: Crossing) => Protocol.Publishing
): ReturnType<typeof connection.publish> | Error => {
  const { onProgress, parameter, told } = handing
  if (connection.isClosed) return CallErrors.closed(told)
  if (onProgress !== undefined && typeof onProgress !== "function") {
    return invalid(handing, "onProgress", "must be a function", show(onProgress))
  }
  const refused = Calls.refusedHere(settings, callOf(handing))
  if (refused !== undefined) return refused
  try {
    const publishing = publishingOf(crossing(handing))
    return connection.publish(publishing, onProgress && ((progress) => Callback.call(onProgress, progress)))
  } catch (error) {
    if (error instanceof InvalidParameters) return error
    if (isUncloneable(error)) {
      return invalid(handing, parameter, `cannot be handed to a worker: give a path, or bytes (${error.message})`)
    }
    throw error
  }
}

const crossing = (handing: Handing): Crossing => (input) => {
  const { parameter } = handing
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength).slice()
  if (input instanceof URL) {
    if (input.protocol !== "file:") {
      throw invalid(handing, parameter, "must be a path or a file: URL", show(input.protocol))
    }
    try {
      return fileURLToPath(input)
    } catch (error) {
      throw invalid(handing, parameter, `must be the address of a file of this machine (${String(error)})`, show(input))
    }
  }
  if (typeof input === "object" && !(input instanceof Blob) && "stream" in input) {
    throw invalid(
      handing,
      parameter,
      "cannot be a stream, which stands still while this thread is blocked: give a path, or bytes"
    )
  }
  return input
}

/** Of a function, or of a Blob that is a file. */
const isUncloneable = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === "DataCloneError" || ("code" in error && error.code === "ERR_INVALID_STATE"))
