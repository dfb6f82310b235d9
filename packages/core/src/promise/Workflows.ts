/**
 * What uploading, publishing, streaming and all that is made of many calls does with Promises, apart from the methods: every client has
 * those, and the bundled entries load this when one is called first.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { invalidParameter, InvalidSettings } from "../errors/Errors.ts"
import type { JournalFailure } from "../errors/UploadErrors.ts"
import type * as Source from "../media/Source.ts"
import * as Upload from "../media/Upload.ts"
import * as Publish from "../publishing/Publish.ts"
import * as Thread from "../publishing/Thread.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Journal from "../storage/Journal.ts"
import * as StreamRules from "../streams/rules/StreamRules.ts"
import * as SharedStream from "../streams/shared/SharedStream.ts"
import * as StreamLog from "../streams/shared/StreamLog.ts"
import * as Streaming from "../streams/Streaming.ts"
import type { StreamOptions } from "../streams/StreamOptions.ts"
import * as Compliance from "../workflows/Compliance.ts"
import * as Conversation from "../workflows/Conversation.ts"
import * as ListMembers from "../workflows/ListMembers.ts"
import type { Provided } from "./Calls.ts"
import * as Inputs from "./Inputs.ts"

/** What a platform takes for a file, as the core takes it. What is none is left as it is, for the core to refuse. */
export type InputOf<I> = (input: I) => Source.Input

/** What an upload may be told, besides its file. */
export interface UploadOptions<in out I> extends Omit<Upload.UploadOptions, "subtitles"> {
  /** Of a video, in several languages. */
  readonly subtitles?: Publish.Media<I>["subtitles"]
  /**
   * A key of 1 to 128 characters, by which the journal notes how far the upload is: the next one with it goes on where this one
   * stopped, and gives the media that it made for as long as they can be used. Another file with the key begins anew.
   */
  readonly resume?: string | undefined
}

/** What comes next of a stream; `undefined` at its end. */
export type Next<A, E> = Effect.Effect<ReadonlyArray<A> | undefined, E, Provided>

/** Opens a stream for whoever asks for what comes next. */
const opened = <A, E>(
  stream: Stream.Stream<A, E, Provided>
): Effect.Effect<Next<A, E>, never, Scope.Scope | Provided> =>
  Effect.map(Stream.toPull(stream), (pull) =>
    Pull.matchEffect(pull, {
      onSuccess: (some) => Effect.succeed<ReadonlyArray<A> | undefined>(some),
      onFailure: Effect.failCause,
      onDone: () => Effect.undefined
    }))

/** What names a file on some platforms, and is never a list of ids. */
const isName = <I>(ids: I | Compliance.Ids): ids is I => typeof ids === "string" || ids instanceof URL

/** For what a platform takes for a file. */
export const on = <I>(inputOf: InputOf<I>) => ({
  upload: (
    input: I,
    { resume, ...options }: UploadOptions<I>
  ): Effect.Effect<Upload.UploadedMedia, Upload.UploadError | JournalFailure, Provided> => {
    const own = Inputs.ofUpload(options, inputOf)
    if (resume === undefined) return Upload.upload(inputOf(input), own)
    return Journal.isKey(resume)
      ? Upload.upload.resumable(resume, inputOf(input), own)
      : Effect.fail(invalidParameter("upload", "resume", Journal.keyRule, resume))
  },
  publish: (post: Publish.Post<I>, options: Publish.PublishOptions) =>
    Publish.publish(Inputs.ofPost(post, inputOf), options),
  publishThread: (posts: ReadonlyArray<Publish.Post<I>>, options: Thread.ThreadOptions) =>
    Thread.publishThread(Inputs.ofPosts(posts, inputOf), options),
  planListMembers: ListMembers.planListMembers,
  syncListMembers: ListMembers.syncListMembers,
  planRules: StreamRules.planRules,
  syncRules: StreamRules.syncRules,
  getConversation: (id: string | number | bigint, options?: Conversation.Options) =>
    Conversation.getConversation(id, options),
  openConversation: (id: string | number | bigint, options?: Conversation.Options) =>
    opened(Conversation.getConversation.parts(id, options)),
  uploadComplianceIds: (job: Compliance.Job, ids: I | Compliance.Ids) =>
    Compliance.upload(job, isName(ids) ? inputOf(ids) : ids),
  waitForCompliance: Compliance.wait,
  openComplianceResults: (job: Compliance.Job) => opened(Compliance.results(job)),
  openComplianceCheck: ({ ids, ...options }: Compliance.CheckOptions<I | Compliance.Ids>) =>
    opened(Compliance.check({ ...options, ids: isName(ids) ? inputOf(ids) : ids })),
  openLive: (definition: Definition, parameters: unknown, options?: StreamOptions) =>
    opened(Streaming.items(definition, parameters, options)),
  openLiveEvents: (definition: Definition, parameters: unknown, options?: StreamOptions) =>
    opened(Streaming.run(definition, parameters, options)),
  openShared: Effect.fnUntraced(function*(
    name: string,
    definition: Definition,
    parameters: object,
    options?: SharedStream.SharedOptions
  ) {
    const log = yield* Effect.serviceOption(StreamLog.StreamLog)
    if (Option.isNone(log)) {
      return yield* new InvalidSettings({
        setting: "streamLog",
        rule: "must say where processes keep the stream that they share"
      })
    }
    const events = (options: StreamOptions) => Streaming.run(definition, parameters, options)
    return yield* Effect.provideService(
      SharedStream.share(name, definition, events, options),
      StreamLog.StreamLog,
      log.value
    )
  }),
  openConsumer: <Item, E>(shared: SharedStream.SharedStream<Item, E>, options: SharedStream.ConsumeOptions) =>
    opened(shared.consume(options))
})
