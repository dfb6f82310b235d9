/** The methods that make many calls, with Promises. */
import type * as Article from "../publishing/Article.ts"
import type * as Publish from "../publishing/Publish.ts"
import type * as Thread from "../publishing/Thread.ts"
import type * as Check from "../workflows/Compliance.ts"
import type * as Hydrate from "../workflows/Hydrate.ts"
import * as Calls from "./Calls.ts"
import type { Promises } from "./Calls.ts"
import * as Hydrating from "./Hydrating.ts"
import * as Iteration from "./internal/iteration.ts"
import * as Methods from "./Methods.ts"
import * as Workflows from "./Workflows.ts"

/** A stream whose size is known. */
export interface SizedStream {
  /** A web stream, or an asynchronous iterable of bytes, such as a stream of Node. It is read once. */
  readonly stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  /** In bytes. */
  readonly size: number
  /** For messages. Default: `the stream`. */
  readonly name?: string | undefined
}

/** A file on every platform. */
export type Input = Uint8Array | ArrayBuffer | Blob | SizedStream

/** The methods of a client, where `I` is the type of a file. */
export interface Composites<in out I = Input> extends Methods.Methods<I, Promises> {}

/** Checks which of the posts or users that an app has stored were deleted, hidden or changed since. */
export interface Compliance<in out I = Input> extends Methods.Compliance<I, Promises> {}

/** Ids to check, or a text with one on each line. */
export type ComplianceIds = Check.Ids

/** The options of a compliance check. */
export interface ComplianceCheckOptions<I = Input> extends Check.CheckOptions<Promises["ids"] | I>, Signal {}

/** The options of an upload. */
export interface UploadOptions<in out I = Input> extends Methods.UploadOptions<I>, Signal {}

/** The options of a post. */
export interface PublishOptions extends Publish.PublishOptions, Signal {}

/** The options of an article. */
export interface ArticleOptions extends Article.ArticleOptions, Signal {}

/** The options of a thread. */
export interface ThreadOptions extends Thread.ThreadOptions, Signal {}

/** The options of hydrating. */
export interface HydrateOptions extends Hydrate.Options, Signal {}

type Signal = Promises["options"]

/** The methods of a client. */
export const make = <I>(context: Calls.Context, inputOf: Workflows.InputOf<I>): Composites<I> => {
  const built = Methods.build<I, Promises>((path) => {
    const method = Methods.methods[path]
    const split = (args: ReadonlyArray<unknown>) => ({
      before: Array.from({ length: method.options }, (_, index) => args[index]),
      options: args[method.options] as Calls.Signalled<object> | undefined
    })
    return Methods.isStream(path)
      ? (...args: ReadonlyArray<unknown>) => {
        const { before, options } = split(args)
        return Iteration.iterable(
          context,
          method,
          options,
          (own) => Workflows.effectOf(path, inputOf, [...before, own])
        )
      }
      : (...args: ReadonlyArray<unknown>) => {
        const { before, options } = split(args)
        return Calls.call(context, method, options, (own) => Workflows.effectOf(path, inputOf, [...before, own]))
      }
  })
  return { ...built, hydrate: hydrate(context) }
}

function hydrate(context: Calls.Context): Methods.HydrateMethods<Promises>
// The declaration above is the only source of the types.
function hydrate(context: Calls.Context): object {
  const by = (kind: Hydrating.Kind) => (...args: Hydrating.Arguments) => Hydrating.hydrate(context, kind, ...args)
  return Object.assign(by("posts"), { users: by("users"), usernames: by("usernames") })
}
