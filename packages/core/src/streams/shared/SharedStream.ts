/**
 * Shares one connection among many processes: one of them holds the connection and writes the items to a `StreamLog`. Any number of
 * consumers read them there, each from its cursor. When the process with the connection dies, another one takes over and continues
 * where the log ends.
 *
 * ```ts
 * const cats = Effect.gen(function*() {
 *   const shared = yield* SharedStream.open("animals", streamPosts, { post_fields: ["author_id"] })
 *   yield* Stream.runForEach(shared.consume({ consumer: "cats", tags: ["cats"] }), ({ item }) => Console.log(item.post.text))
 * })
 * ```
 *
 * @stability experimental
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import type { Arguments, SelectionOf } from "../../client/Operation.ts"
import * as Callback from "../../runtime/Callback.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { Selection } from "../../schema/Selection.ts"
import type { AnyItem, ItemOf } from "../../schema/StreamItem.ts"
import type { AnyStreamError } from "../internal/buffer.ts"
import type { StreamEvent, StreamNotice } from "../StreamEvents.ts"
import * as Streaming from "../Streaming.ts"
import type { StreamOperation } from "../StreamOperation.ts"
import type { StreamOptions } from "../StreamOptions.ts"
import * as Leader from "./internal/leader.ts"
import * as LogConsumer from "./internal/logConsumer.ts"
import type { Missed } from "./internal/logEntry.ts"
import * as StreamLog from "./StreamLog.ts"

export type { SharedItem } from "./internal/logConsumer.ts"
export type { Missed } from "./internal/logEntry.ts"

/** This process now holds the connection. */
export interface Holding {
  readonly _tag: "Holding"
  readonly at: Date
  /** The time up to which the log is complete, by the service's clock; `undefined` for a new log. */
  readonly until: Date | undefined
}

/** This process no longer holds the connection: it or the log was silent for too long. */
export interface LineLost {
  readonly _tag: "LineLost"
  readonly at: Date
}

/** The log does not respond. Requests are retried until it does. Reported once for consecutive failures. */
export interface LogAway {
  readonly _tag: "LogAway"
  readonly at: Date
  readonly reason: string
}

/** An event in this process. Events of the connection are only reported in the process that holds it. */
export type SharedNotice = StreamNotice | Holding | LineLost | LogAway

/** How a stream is shared, and the options of the connection. */
export interface SharedOptions extends Omit<StreamOptions, "onEvent" | "tags"> {
  /** Lets this process hold the connection; default true. A process that only consumes needs no credential. */
  readonly holds?: boolean | undefined
  /**
   * Milliseconds of silence after which a process loses its place, as holder or as consumer; default 4,000. It renews its lease
   * four times in this period. A process that ends in good order releases its place immediately.
   */
  readonly lease?: number | undefined
  /**
   * The limits of the log. Items that all known consumers have read are deleted after two minutes. Unread items that are deleted
   * are reported as a `Gap` to the consumers that have not read them.
   */
  readonly keep?: {
    /** The age in milliseconds; default 86,400,000, a day. */
    readonly age?: number | undefined
    /** The number of items; default 100,000. */
    readonly items?: number | undefined
  } | undefined
  /** Called with all events except deliveries. Its errors are ignored. */
  readonly onEvent?: ((event: SharedNotice) => void) | undefined
}

/** The options of a consumer. */
export interface ConsumeOptions {
  /**
   * Its name, under which the log stores its cursor. One process at a time reads under a name. Others wait, and take over when it
   * dies.
   */
  readonly consumer: string
  /** Delivers only items that match a rule with one of these tags. */
  readonly tags?: ReadonlyArray<string> | undefined
  /**
   * Where to start. `oldest` (the default) and `newest` apply to a new name, and start with the oldest item in the log or with the
   * next new item; a known name continues at its cursor. A number starts after this `position`, regardless of the cursor.
   */
  readonly from?: "oldest" | "newest" | number | undefined
  /**
   * Whether an item is done when the next one is requested; default true. With `false` only `commit` moves the cursor. The cursor
   * is written once a second and whenever everything was read, so that after a crash some items are delivered again.
   */
  readonly acknowledges?: boolean | undefined
  /** Called with gaps, also filled ones, and other items that may be missing, in their order between the items. */
  readonly onMissed?: ((missed: Missed) => void) | undefined
}

/** A stream that is shared among processes. */
export interface SharedStream<out Item, out E> {
  /**
   * The items in the log, from the cursor of this consumer on. It ends when it is interrupted, when the stream fails permanently,
   * or, with `end_time`, when everything up to then was delivered.
   */
  readonly consume: (options: ConsumeOptions) => Stream.Stream<LogConsumer.SharedItem<Item>, E>
  /** Forgets a consumer that will not return, so that the log need not keep its unread items. */
  readonly forget: (consumer: string) => Effect.Effect<void, StreamLog.StreamLogUnavailable>
}

const defaultLeaseMillis = 4_000

const defaultKeep = { age: 86_400_000, items: 100_000 }

/**
 * Joins the shared stream of this name. All processes use the same operation and parameters for it. While the scope is open, this
 * process holds the connection whenever no other does. Fails if the log does not respond now; later failures are retried.
 */
export function open<P, R, Sel extends keyof Selection, E, const S extends SelectionOf<P, R, Sel>>(
  name: string,
  operation: StreamOperation<P, R, Sel, E>,
  ...args: Arguments<P, R, Sel, S, SharedOptions>
): Effect.Effect<
  SharedStream<ItemOf<R, S>, E>,
  StreamLog.StreamLogUnavailable,
  Client | Scope.Scope | StreamLog.StreamLog
>
// The declaration's type is the only source of the signature; running it is untyped.
export function open(
  name: string,
  { definition }: { readonly definition: Definition },
  parameters: unknown = {},
  options?: SharedOptions
): Effect.Effect<unknown, StreamLog.StreamLogUnavailable, Client | Scope.Scope | StreamLog.StreamLog> {
  return share(name, definition, (options) => Streaming.run(definition, parameters, options), options)
}

/** Shares any stream of events whose items have a declared type. */
export const share = Effect.fnUntraced(function*<E extends AnyStreamError, R>(
  name: string,
  { result }: Pick<Definition, "result">,
  events: (options: StreamOptions) => Stream.Stream<StreamEvent<AnyItem>, E, R>,
  { holds = true, keep, lease = defaultLeaseMillis, onEvent, resumeFrom, ...live }: SharedOptions = {}
): Effect.fn.Return<
  SharedStream<AnyItem, E>,
  StreamLog.StreamLogUnavailable,
  R | Scope.Scope | StreamLog.StreamLog
> {
  const log = yield* StreamLog.StreamLog
  const { last: opened } = yield* log.extent(name)
  const isPost = result._tag === "One"
  const notify = (event: SharedNotice) => {
    if (onEvent !== undefined) Callback.call(onEvent, event)
  }
  let isAway = false
  const own = {
    log,
    stream: name,
    opened,
    isPost,
    lease,
    onAway: ({ reason }: StreamLog.StreamLogUnavailable, at: Date) => {
      if (!isAway) notify({ _tag: "LogAway", at, reason })
      isAway = true
    },
    onBack: () => {
      isAway = false
    }
  }
  const failed = yield* Deferred.make<never, E>()
  if (holds) {
    const holding = Leader.hold({
      ...own,
      keep: { age: keep?.age ?? defaultKeep.age, items: keep?.items ?? defaultKeep.items },
      resumeFrom,
      events: (resumeFrom) => events({ ...live, onEvent, resumeFrom }),
      onHolding: (at, until) => notify({ _tag: "Holding", at, until }),
      onLost: (at) => notify({ _tag: "LineLost", at })
    })
    yield* Effect.forkScoped(Deferred.into(Effect.andThen(holding, Effect.never), failed))
  }
  return {
    consume: ({ acknowledges = true, consumer, from = "oldest", onMissed, tags }) =>
      Stream.unwrap(Effect.map(
        LogConsumer.open({
          ...own,
          consumer,
          tags: tags === undefined ? undefined : new Set(tags),
          from,
          acknowledges,
          onMissed: (missed) => {
            if (onMissed !== undefined) Callback.call(onMissed, missed)
          }
        }),
        (next) => Stream.fromPull(Effect.succeed(Effect.raceFirst(Deferred.await(failed), next)))
      )),
    forget: (consumer) => log.forget(name, consumer)
  }
})
