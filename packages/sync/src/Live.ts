/** Streams of the service as iterables: the worker keeps them up, and the loop blocks until something comes. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import type { Arguments, SelectionOf } from "@postwire/core/client/Operation"
import * as Callback from "@postwire/core/runtime/Callback"
import type { Definition, Form } from "@postwire/core/schema/Definition"
import type { Selection } from "@postwire/core/schema/Selection"
import { show } from "@postwire/core/schema/Show"
import type { AnyItem, FormOf } from "@postwire/core/schema/StreamItem"
import type { StreamEvent, StreamNotice } from "@postwire/core/streams/StreamEvents"
import type { StreamOptions } from "@postwire/core/streams/StreamOptions"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Calls from "./internal/calls.ts"
import * as Jobs from "./internal/jobs.ts"
import * as LiveBatch from "./internal/liveBatch.ts"
import type * as Protocol from "./internal/protocol.ts"
import * as Streams from "./internal/streams.ts"

/**
 * An operation that answers until somebody ends it, as a blocking method. It connects when a loop begins, stays connected, and
 * ends with the loop. `onEvent` is called on the thread that the loop blocks, in the order of what happens. In forms other than
 * `response`, an item is its line as a plain dictionary.
 */
export interface SyncLive<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<P, R, Sel>>(...args: Arguments<P, R, Sel, S, StreamOptions>): Iterable<FormOf<F, R, S>>
  /** Everything that happens, in its order: what it brings (`Delivered`), connections, gaps and what fills them. */
  readonly events: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, StreamOptions>
  ) => Iterable<StreamEvent<FormOf<F, R, S>>>
}

/** An operation on a client. */
export const method = (context: Calls.Context, definition: Definition, form: Form) => {
  const itemOf = (item: AnyItem): unknown => form === "response" ? item : item.body
  const items = (batch: LiveBatch.LiveBatch) => LiveBatch.itemsOf(definition, batch).map(itemOf)
  const events = (batch: LiveBatch.LiveBatch) =>
    LiveBatch.eventsOf(definition, batch).map((event) =>
      event._tag === "Delivered" ? { ...event, item: itemOf(event.item) } : event
    )
  const telling = (onEvent: (event: StreamNotice) => void) =>
    function*(batch: LiveBatch.LiveBatch) {
      for (const event of LiveBatch.eventsOf(definition, batch)) {
        if (event._tag === "Delivered") yield itemOf(event.item)
        else Callback.call(onEvent, event)
      }
    }
  return Object.assign(
    iterable(context, definition, ({ onEvent }) => onEvent === undefined ? [false, items] : [true, telling(onEvent)]),
    { events: iterable(context, definition, () => [true, events]) }
  )
}

/** Whether a stream is of everything that happens, and what is made of a batch of it. */
type Reading = readonly [isWhole: boolean, of: (batch: LiveBatch.LiveBatch) => Iterable<unknown>]

const iterable = (context: Calls.Context, definition: Definition, readingOf: (options: StreamOptions) => Reading) => {
  function* run(given: ReturnType<typeof RequestEncoder.ownProperties>, options: StreamOptions) {
    const parameters = Calls.orThrow(given, run)
    const { connection, redact, settings, wire } = context
    // Here, where the stack leads to the loop. What the worker makes of them is the same.
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
