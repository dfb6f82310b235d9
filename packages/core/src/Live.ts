/** Streams: connections that are kept up, and what they bring. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Client } from "./Client.ts"
import type { Definition } from "./Definition.ts"
import type { AnyError } from "./Errors.ts"
import * as LiveConnection from "./internal/LiveConnection.ts"
import { type Entry, isItem } from "./internal/LiveDecoding.ts"
import type { LiveEvent } from "./LiveEvents.ts"
import type { AnyItem } from "./LiveItem.ts"
import type { LiveOptions } from "./LiveOptions.ts"
import type { StreamError } from "./StreamErrors.ts"

/** What a stream can fail with. */
export type LiveError = AnyError | StreamError

/** Everything that happens on a stream, in its order; it goes on until it fails for good or is ended. */
export const run = (
  definition: Definition,
  parameters: unknown,
  _options: LiveOptions = {}
): Stream.Stream<LiveEvent<AnyItem>, LiveError, Client> =>
  Stream.unwrap(
    Effect.map(LiveConnection.open(definition, parameters), ({ entries }) =>
      Stream.mapArrayEffect(entries, (entries) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const at = new Date(now)
          return Arr.map(entries, (entry) =>
            eventOf(entry, at))
        })))
  )

/** What a stream delivers. */
export const items = (
  definition: Definition,
  parameters: unknown,
  options?: LiveOptions
): Stream.Stream<AnyItem, LiveError, Client> =>
  Stream.filterMap(
    run(definition, parameters, options),
    (event) => event._tag === "Delivered" ? Result.succeed(event.item) : Result.fail(event)
  )

const eventOf = (entry: Entry, at: Date): LiveEvent<AnyItem> => {
  if (isItem(entry)) return { _tag: "Delivered", at, item: entry }
  if (entry._tag === "Problems") return { _tag: "Trouble", at, problems: entry.problems }
  return { ...entry, at }
}
