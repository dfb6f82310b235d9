/** Streams: connections that are kept up, and what they bring. Operations are made of these, for programs to call. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Client } from "../client/Client.ts"
import * as Callback from "../runtime/Callback.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Definition } from "../schema/Definition.ts"
import type { AnyItem } from "../schema/StreamItem.ts"
import { type AnyStreamError, ConsumerBuffer, type Entries, type Entry, isItem } from "./internal/buffer.ts"
import * as CheckOptions from "./internal/checkOptions.ts"
import * as ConnectionPool from "./internal/connectionPool.ts"
import { Consumer } from "./internal/consumer.ts"
import { timeOf } from "./internal/serviceTime.ts"
import type { SharedConnection } from "./internal/sharedConnection.ts"
import { Spill } from "./Spill.ts"
import type { Lag, StreamEvent, StreamNotice } from "./StreamEvents.ts"
import type { StreamOptions } from "./StreamOptions.ts"

export type { AnyStreamError } from "./internal/buffer.ts"
export { idOf } from "./internal/deduplicator.ts"
export { timeOf } from "./internal/serviceTime.ts"

export {
  /** The names of the options. */
  streamOptionNames
} from "./internal/checkOptions.ts"

/** Everything that happens on a stream, in its order; it goes on until it fails for good or is ended. */
export const run = (
  definition: Definition,
  parameters: unknown,
  options: StreamOptions = {}
): Stream.Stream<StreamEvent<AnyItem>, AnyStreamError, Client> =>
  consume(definition, parameters, options, true, (pull, clock) =>
    Effect.map(pull, (entries) => {
      const at = new Date(clock.currentTimeMillisUnsafe())
      return Arr.map(entries, (item): StreamEvent<AnyItem> => isItem(item) ? { _tag: "Delivered", at, item } : item)
    }))

/** What a stream delivers. */
export const items = (
  definition: Definition,
  parameters: unknown,
  options: StreamOptions = {}
): Stream.Stream<AnyItem, AnyStreamError, Client> =>
  consume(definition, parameters, options, false, (pull) => {
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<AnyItem>, AnyStreamError> = Effect.flatMap(pull, (entries) => {
      if (areItems(entries)) return Effect.succeed(entries)
      const items = entries.filter(isItem)
      return Arr.isReadonlyArrayNonEmpty(items) ? Effect.succeed(items) : next
    })
    return next
  })

const areItems = (entries: Entries): entries is Arr.NonEmptyReadonlyArray<AnyItem> => entries.every(isItem)

/** The shortest time between two reports of how far behind a consumer is. */
const lagMillis = 1_000

const consume = <A>(
  definition: Definition,
  parameters: unknown,
  options: StreamOptions,
  isOfEvents: boolean,
  project: (
    pull: Pull.Pull<Entries, AnyStreamError>,
    clock: Clock.Clock
  ) => Pull.Pull<Arr.NonEmptyReadonlyArray<A>, AnyStreamError>
): Stream.Stream<A, AnyStreamError, Client> =>
  Stream.unwrap(Effect.gen(function*() {
    const spill = yield* Spill
    const terms = CheckOptions.check(definition, parameters, options, spill !== undefined)
    if (terms instanceof Error) return Stream.fail(terms)
    const { bufferSize = CheckOptions.defaultBufferSize, onEvent, resumeFrom, slowConsumer = "fail", tags } = options
    const clock = yield* Clock.Clock
    const buffer = new ConsumerBuffer({
      size: bufferSize,
      policy: slowConsumer,
      queue: slowConsumer === "spill" && spill !== undefined ? yield* spill.open : undefined,
      now: () => clock.currentTimeMillisUnsafe()
    })
    const wantsEvents = isOfEvents || onEvent !== undefined
    const consumer = new Consumer({
      buffer,
      bufferSize,
      operation: definition.name,
      tags: tags === undefined ? undefined : new Set(tags),
      wantsEvents,
      millis: () => Monotonic.millisUnsafe(clock)
    })
    const hub = yield* ConnectionPool.join(terms, consumer, resumeFrom)
    if (!wantsEvents) return Stream.fromPull(Effect.succeed(project(buffer.take, clock)))
    let lagAt = -Infinity
    const due: Array<StreamNotice> = []
    const tell = (event: StreamNotice) => onEvent === undefined ? undefined : Callback.tell(onEvent, event)
    const taken = Effect.map(buffer.take, (taken) => {
      const now = clock.currentTimeMillisUnsafe()
      const lag = now - lagAt < lagMillis ? undefined : lagOf(hub, buffer, taken, now)
      if (lag !== undefined) lagAt = now
      const entries = lag === undefined ? taken : Arr.append(taken, lag)
      // The loop has not done the items yet that come before an event.
      let isAfter = false
      for (const entry of entries) {
        if (isItem(entry)) isAfter = true
        else if (isAfter) due.push(entry)
        else tell(entry)
      }
      return entries
    })
    const pull = Effect.suspend(() => {
      for (const event of due.splice(0)) tell(event)
      return taken
    })
    return Stream.fromPull(Effect.succeed(project(pull, clock)))
  }))

/** How far behind the consumer is that takes these. */
const lagOf = (
  hub: SharedConnection,
  { cameAt, waiting: buffered }: ConsumerBuffer,
  entries: ReadonlyArray<Entry>,
  now: number
): Lag | undefined => {
  const last = entries.findLast(isItem)
  if (last === undefined) return undefined
  const made = timeOf(last)
  const millis = Math.max(0, made === undefined ? now - cameAt : hub.serviceNow() - made)
  return { _tag: "Lag", at: new Date(now), millis, buffered }
}
