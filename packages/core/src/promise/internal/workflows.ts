/** The Effects of the methods that make many calls, and of streams, for `Workflows`, which loads this module. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { invalidParameter, InvalidSettings } from "../../errors/Errors.ts"
import * as KeptWebhook from "../../events/KeptWebhook.ts"
import type * as Source from "../../media/Source.ts"
import * as Upload from "../../media/Upload.ts"
import * as Article from "../../publishing/Article.ts"
import * as Publish from "../../publishing/Publish.ts"
import * as Thread from "../../publishing/Thread.ts"
import type { Definition } from "../../schema/Definition.ts"
import * as Journal from "../../storage/Journal.ts"
import * as StreamRules from "../../streams/rules/StreamRules.ts"
import * as SharedStream from "../../streams/shared/SharedStream.ts"
import * as StreamLog from "../../streams/shared/StreamLog.ts"
import type { StreamOptions } from "../../streams/StreamOptions.ts"
import * as StreamRunner from "../../streams/StreamRunner.ts"
import * as Compliance from "../../workflows/Compliance.ts"
import * as Conversation from "../../workflows/Conversation.ts"
import * as ListMembers from "../../workflows/ListMembers.ts"
import type { Provided } from "../Calls.ts"
import { type ByName, type Kind, mapInputs, type Name, type UploadOptions } from "../Methods.ts"
import type { InputOf, Next, Opening } from "../Workflows.ts"

/** Methods that return Effects, and open streams. */
interface Effects extends Kind {
  readonly one: Effect.Effect<this["value"], Error, Provided>
  readonly many: Opening<this["value"]>
  readonly ids: Compliance.Ids
}

const opened = <A, E>(
  stream: Stream.Stream<A, E, Provided>
): Effect.Effect<Next<A, E>, never, Scope.Scope | Provided> =>
  Effect.map(Stream.toPull(stream), (pull) =>
    Pull.matchEffect(pull, {
      onSuccess: (some) => Effect.succeed<ReadonlyArray<A> | undefined>(some),
      onFailure: Effect.failCause,
      onDone: () => Effect.undefined
    }))

const upload = (input: Source.Input, { resume, ...options }: UploadOptions<Source.Input> = {}) => {
  if (resume === undefined) return Upload.upload(input, options)
  return Journal.isKey(resume)
    ? Upload.upload.resumable(resume, input, options)
    : Effect.fail(invalidParameter("upload", "resume", Journal.keyRule, resume))
}

const effects: ByName<Source.Input, Effects> = {
  upload,
  "upload.events": (input, options) =>
    opened(Upload.eventsOf((onProgress) => upload(input, { ...options, onProgress }))),
  publish: Publish.publish,
  // The core rejects the empty key of a call without options.
  publishThread: (posts, options = { key: "" }) => Thread.publishThread(posts, options),
  createArticle: (article, options = { key: "" }) => Article.createArticle(article, options),
  planListMembers: ListMembers.planListMembers,
  syncListMembers: ListMembers.syncListMembers,
  getConversation: Conversation.getConversation,
  "getConversation.parts": (id, options) => opened(Conversation.getConversation.parts(id, options)),
  planRules: StreamRules.planRules,
  syncRules: StreamRules.syncRules,
  planWebhook: KeptWebhook.planWebhook,
  keepWebhook: KeptWebhook.keepWebhook,
  "compliance.upload": Compliance.upload,
  "compliance.wait": Compliance.wait,
  "compliance.results": (job) => opened(Compliance.results(job)),
  "compliance.check": (options) => opened(Compliance.check(options))
}

/** Opens a stream: its items. */
export const openLive = (definition: Definition, parameters: unknown, options?: StreamOptions) =>
  opened(StreamRunner.items(definition, parameters, options))

/** Opens a stream: its events. */
export const openLiveEvents = (definition: Definition, parameters: unknown, options?: StreamOptions) =>
  opened(StreamRunner.run(definition, parameters, options))

/** Joins a stream that processes share. */
export const openShared = Effect.fnUntraced(function*(
  name: string,
  definition: Definition,
  parameters: object,
  options?: SharedStream.SharedOptions
) {
  const log = yield* Effect.serviceOption(StreamLog.StreamLog)
  if (Option.isNone(log)) {
    return yield* new InvalidSettings({
      setting: "streamLog",
      rule: "is missing: a shared stream needs a log that all its processes use"
    })
  }
  const events = (options: StreamOptions) => StreamRunner.run(definition, parameters, options)
  return yield* Effect.provideService(
    SharedStream.share(name, definition, events, options),
    StreamLog.StreamLog,
    log.value
  )
})

/** Opens the items of a shared stream. */
export const openConsumer = <Item, E>(
  shared: SharedStream.SharedStream<Item, E>,
  options: SharedStream.ConsumeOptions
) => opened(shared.consume(options))

/** The Effect of a method on a platform. */
export function effectOf<I>(
  name: Name,
  inputOf: InputOf<I>,
  args: ReadonlyArray<unknown>
): Effect.Effect<unknown, Error, Scope.Scope | Provided>
// `effects` is checked against the table of methods, and the arguments by the types of a client.
export function effectOf(name: Name, inputOf: (input: unknown) => unknown, args: ReadonlyArray<unknown>): unknown {
  return Reflect.apply(effects[name], undefined, mapInputs(name, args, inputOf))
}
