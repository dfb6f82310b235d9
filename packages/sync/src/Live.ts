/** Streams of the service as iterables: the worker keeps the connection, and the loop blocks until an item arrives. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import * as Callback from "@postwire/core/runtime/Callback"
import type { Definition, Form } from "@postwire/core/schema/Definition"
import { show } from "@postwire/core/schema/Show"
import type { AnyItem } from "@postwire/core/schema/StreamItem"
import type { StreamNotice } from "@postwire/core/streams/StreamEvents"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Calls from "./internal/calls.ts"
import * as Jobs from "./internal/jobs.ts"
import * as LiveBatch from "./internal/liveBatch.ts"
import type * as Protocol from "./internal/protocol.ts"
import * as Streams from "./internal/streams.ts"

/** The method of a streaming operation. `onEvent` is called in order on the thread that the loop blocks. */
export const method = (context: Calls.Context, definition: Definition, form: Form) => {
  const itemOf = (item: AnyItem): unknown => form === "response" ? item : item.body
  const items = (batch: LiveBatch.LiveBatch) => LiveBatch.itemsOf(definition, batch).map(itemOf)
  const events = (batch: LiveBatch.LiveBatch) =>
    LiveBatch.eventsOf(definition, batch).map((event) =>
      event._tag === "Delivered" ? { ...event, item: itemOf(event.item) } : event
    )
  const reporting = (onEvent: (event: StreamNotice) => void) =>
    function*(batch: LiveBatch.LiveBatch) {
      for (const event of LiveBatch.eventsOf(definition, batch)) {
        if (event._tag === "Delivered") yield itemOf(event.item)
        else Callback.call(onEvent, event)
      }
    }
  return Object.assign(
    iterable(context, definition, ({ onEvent }) => onEvent === undefined ? [false, items] : [true, reporting(onEvent)]),
    { events: iterable(context, definition, () => [true, events]) }
  )
}

/** Includes events if `isWhole`; `of` makes the values of the loop from a batch. */
type Reading = readonly [isWhole: boolean, of: (batch: LiveBatch.LiveBatch) => Iterable<unknown>]

const iterable = (context: Calls.Context, definition: Definition, readingOf: (options: StreamOptions) => Reading) => {
  function* run(given: ReturnType<typeof RequestEncoder.ownProperties>, options: StreamOptions) {
    const parameters = Calls.orThrow(given, run)
    const { connection, redact, settings, wire } = context
    // Checked on this thread, so that the stack of an error leads to the loop. The worker encodes the same request.
    Calls.orThrow(RequestEncoder.encode(definition, parameters, wire, settings, redact), run)
    const { onEvent, ...rest } = options
    if (onEvent !== undefined && typeof onEvent !== "function") {
      Calls.orThrow(Jobs.invalid({ call: definition }, "onEvent", "must be a function", show(onEvent)), run)
    }
    const [isWhole, of] = readingOf(options)
    const opening = { type: "openLive", operation: definition.name, parameters, options: rest, isWhole } as const
    const open = (stream: number) => runJob(context, definition, run, { ...opening, stream })
    const next = (stream: number) => runJob(context, definition, run, { type: "next", stream })
    for (const batch of Streams.batches(connection, open, next)) {
      for (const one of of(batch)) {
        yield one
        if (connection.isClosed) Calls.orThrow(CallErrors.closed(definition), run)
      }
    }
  }
  return (parameters: object = {}, options: StreamOptions = {}): Iterable<unknown> => {
    // The caller may change the objects before the next loop.
    const [own, chosen] = [RequestEncoder.ownProperties(definition, parameters), { ...options }]
    return { [Symbol.iterator]: () => run(own, chosen) }
  }
}

function runJob(
  context: Calls.Context,
  call: Definition,
  caller: Calls.Caller,
  job: Protocol.Job
): LiveBatch.LiveBatch | undefined
// The declaration above states what the worker returns: nothing when it opens a stream.
function runJob(context: Calls.Context, call: Definition, caller: Calls.Caller, job: Protocol.Job): unknown {
  return Jobs.run(context, { call, parameter: "options", onProgress: undefined, isEndless: true, caller }, () => job)
}
