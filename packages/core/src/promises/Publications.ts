/**
 * What uploading, publishing and all that is made of many calls does with Promises, apart from the methods: every client has
 * those, and the bundled entries load this when one is called first.
 */
import * as Effect from "effect/Effect"
import * as Conversation from "../Conversation.ts"
import { invalidParameter } from "../Errors.ts"
import * as Journal from "../Journal.ts"
import * as ListMembers from "../ListMembers.ts"
import * as Publish from "../Publish.ts"
import type * as Source from "../Source.ts"
import * as Thread from "../Thread.ts"
import * as Upload from "../Upload.ts"
import type { JournalFailure } from "../UploadErrors.ts"
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
  getConversation: (id: string | number | bigint, options?: Conversation.Options) =>
    Conversation.getConversation(id, options),
  openConversation: Conversation.open,
  conversationParts: Conversation.partsAt
})
