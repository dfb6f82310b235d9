/**
 * One connection for many processes: one of them holds the line, and writes what comes to a `StreamLog`; any number of
 * consumers read it there, each from where it stood. When the process that holds the line dies, another one takes over, and
 * begins where the log ends.
 *
 * ```ts
 * const cats = Effect.gen(function*() {
 *   const shared = yield* SharedStream.open("animals", streamPosts, { post_fields: ["author_id"] })
 *   yield* Stream.runForEach(shared.consume({ consumer: "cats", tags: ["cats"] }), ({ item }) => Console.log(item.post.text))
 * })
 * ```
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

/** This process holds the line now. */
export interface Holding {
  readonly _tag: "Holding"
  readonly at: Date
  /** Until when the log has everything, by the service's clock; `undefined` of a log that is new. */
  readonly until: Date | undefined
}

/** This process held the line, and has lost it: it was silent for too long, or the log was. */
export interface LineLost {
  readonly _tag: "LineLost"
  readonly at: Date
}

/** The log does not answer. It is asked until it does; told once for each row of failures. */
export interface LogAway {
  readonly _tag: "LogAway"
  readonly at: Date
  readonly reason: string
}

/** What happens in this process. Of the line, only the process that holds it is told. */
export type SharedNotice = StreamNotice | Holding | LineLost | LogAway

/** How a stream is shared, and what the process that holds the line takes besides its parameters. */
export interface SharedOptions extends Omit<StreamOptions, "onEvent" | "tags"> {
  /** Whether this process may hold the line; default true. Consumers alone need no credential. */
  readonly holds?: boolean | undefined
  /**
   * After how many milliseconds without news of it a process has lost its place, as holder or as consumer; default 4,000. It
   * gives news four times in this time. One that ends in good order gives its place back at once.
   */
  readonly lease?: number | undefined
  /**
   * What the log keeps at most. What all known consumers have read goes after two minutes; what goes unread is told to those who
   * have not read it, as a `Gap`.
   */
  readonly keep?: {
    /** For how many milliseconds; default 86,400,000, a day. */
    readonly age?: number | undefined
    /** How many items; default 100,000. */
    readonly items?: number | undefined
  } | undefined
  /** Called with what happens, but deliveries. What it throws is ignored. */
  readonly onEvent?: ((event: SharedNotice) => void) | undefined
}

/** What a consumer wants. */
export interface ConsumeOptions {
  /**
   * Its name, by which the log knows how far it has read. One process at a time reads under a name; others that try wait, and
   * take over when it dies.
   */
  readonly consumer: string
  /** Only what rules with one of these tags match. */
  readonly tags?: ReadonlyArray<string> | undefined
  /**
   * Where it begins. `oldest` (the default) and `newest`: with what the log still has, or with what comes from now on, where
   * nothing has been read under this name; then it goes on. A number: after this `position`, whatever was read.
   */
  readonly from?: "oldest" | "newest" | number | undefined
  /**
   * Whether an item counts as done when the next one is asked for; default true. With `false` only `commit` moves the cursor.
   * It is written once a second, and whenever everything has been read: after a crash some items come again.
   */
  readonly acknowledges?: boolean | undefined
  /** Called with what it may miss, in its place between the items: gaps, also those that were filled. */
  readonly onMissed?: ((missed: Missed) => void) | undefined
}

/** A stream that processes share. */
export interface SharedStream<out Item, out E> {
  /**
   * What the log has, from where this consumer stands. It goes on until it is left, the stream fails for good, or, with
   * `end_time`, everything until then has come.
   */
  readonly consume: (options: ConsumeOptions) => Stream.Stream<LogConsumer.SharedItem<Item>, E>
  /** Forgets a consumer that does not come back, so that the log need not keep what it has not read. */
  readonly forget: (consumer: string) => Effect.Effect<void, StreamLog.StreamLogUnavailable>
}

const defaultLeaseMillis = 4_000

const defaultKeep = { age: 86_400_000, items: 100_000 }

/**
 * Takes part in a stream that all processes share which name it so, with the same operation and parameters. As long as the scope
 * is open, this process follows the stream whenever no other does. Fails when the log does not answer now; later it is waited for.
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

/** Shares what happens on any stream whose items are of a declared form. */
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
  const tell = (event: SharedNotice) => {
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
      if (!isAway) tell({ _tag: "LogAway", at, reason })
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
      onHolding: (at, until) => tell({ _tag: "Holding", at, until }),
      onLost: (at) => tell({ _tag: "LineLost", at })
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
        ({ next }) => Stream.fromPull(Effect.succeed(Effect.raceFirst(Deferred.await(failed), next)))
      )),
    forget: (consumer) => log.forget(name, consumer)
  }
})
