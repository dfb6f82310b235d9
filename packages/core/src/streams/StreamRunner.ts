/** Runs streams: keeps a connection up and delivers its items or events. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Client } from "../client/Client.ts"
import * as Callback from "../runtime/Callback.ts"
import type { Definition } from "../schema/Definition.ts"
import type { AnyItem } from "../schema/StreamItem.ts"
import { type AnyStreamError, type Entries, type Entry, isItem } from "./internal/buffer.ts"
import * as CheckOptions from "./internal/checkOptions.ts"
import * as ConnectionPool from "./internal/connectionPool.ts"
import type { Consumer } from "./internal/consumer.ts"
import { timeOf } from "./internal/gaps.ts"
import { Spill } from "./Spill.ts"
import type { Lag, StreamEvent, StreamNotice } from "./StreamEvents.ts"
import type { StreamOptions } from "./StreamOptions.ts"

/** All events of a stream, in order. The stream runs until it fails permanently or is interrupted. */
export const run = (
  definition: Definition,
  parameters: unknown,
  options: StreamOptions = {}
): Stream.Stream<StreamEvent<AnyItem>, AnyStreamError, Client> =>
  consume(definition, parameters, options, true, (pull, { clock }) =>
    Effect.map(pull, (entries) => {
      const at = clock.date()
      return Arr.map(entries, (item): StreamEvent<AnyItem> => isItem(item) ? { _tag: "Delivered", at, item } : item)
    }))

/** The items of a stream. */
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

/** The shortest time between two `Lag` events. */
const lagMillis = 1_000

const consume = <A>(
  definition: Definition,
  parameters: unknown,
  options: StreamOptions,
  isOfEvents: boolean,
  project: (
    pull: Pull.Pull<Entries, AnyStreamError>,
    consumer: Consumer
  ) => Pull.Pull<Arr.NonEmptyReadonlyArray<A>, AnyStreamError>
): Stream.Stream<A, AnyStreamError, Client> =>
  Stream.unwrap(Effect.gen(function*() {
    const spill = yield* Spill
    const terms = CheckOptions.check(definition, parameters, options, spill !== undefined)
    if (terms instanceof Error) return Stream.fail(terms)
    const { bufferSize = CheckOptions.defaultBufferSize, onEvent, resumeFrom, slowConsumer = "fail", tags } = options
    const consumer = yield* ConnectionPool.join(terms, {
      operation: definition.name,
      bufferSize,
      slowConsumer,
      queue: slowConsumer === "spill" && spill !== undefined ? yield* spill.open : undefined,
      tags: tags === undefined ? undefined : new Set(tags),
      wantsEvents: isOfEvents || onEvent !== undefined
    }, resumeFrom)
    const pull = isOfEvents || onEvent !== undefined ? observed(consumer, onEvent) : consumer.buffer.take
    return Stream.fromPull(Effect.succeed(project(pull, consumer)))
  }))

/** Adds `Lag` events, and calls `onEvent` with each event once the items before it are processed. */
const observed = (consumer: Consumer, onEvent: StreamOptions["onEvent"]): Pull.Pull<Entries, AnyStreamError> => {
  let lagAt = -Infinity
  const due: Array<StreamNotice> = []
  const notify = (event: StreamNotice) => onEvent === undefined ? undefined : Callback.call(onEvent, event)
  const taken = Effect.map(consumer.buffer.take, (taken) => {
    const now = consumer.clock.wall()
    const lag = now - lagAt < lagMillis ? undefined : lagOf(consumer, taken, now)
    if (lag !== undefined) lagAt = now
    const entries = lag === undefined ? taken : Arr.append(taken, lag)
    let isAfterItem = false
    for (const entry of entries) {
      if (isItem(entry)) isAfterItem = true
      else if (isAfterItem) due.push(entry)
      else notify(entry)
    }
    return entries
  })
  return Effect.suspend(() => {
    for (const event of due.splice(0)) notify(event)
    return taken
  })
}

/** The lag of a consumer that takes these entries. */
const lagOf = ({ buffer, clock }: Consumer, entries: ReadonlyArray<Entry>, now: number): Lag | undefined => {
  const last = entries.findLast(isItem)
  if (last === undefined) return undefined
  const made = timeOf(last)
  const millis = Math.max(0, made === undefined ? now - buffer.cameAt : clock.service() - made)
  return { _tag: "Lag", at: new Date(now), millis, buffered: buffer.waiting }
}
