/** Uploads, posts with files, threads, and what else is made of many calls: handed to the worker, and waited for on this thread, which is told how they go on. */
import type { UploadedMedia } from "@postwire/core/media/Upload"
import * as Composites from "@postwire/core/promise/Composites"
import * as Inputs from "@postwire/core/promise/Inputs"
import * as Published from "@postwire/core/promise/Publishing"
import type * as Shared from "@postwire/core/promise/Workflows"
import type { Post, PublishedPost, PublishOptions } from "@postwire/core/publishing/Publish"
import type { PublishedThread, ThreadOptions } from "@postwire/core/publishing/Thread"
import type * as StreamRules from "@postwire/core/streams/rules/StreamRules"
import type { Conversation, Options as ConversationOptions } from "@postwire/core/workflows/Conversation"
import type { MembersPlan, PlanOptions, SyncedMembers, SyncOptions, Wanted } from "@postwire/core/workflows/ListMembers"
import type * as Calls from "./internal/calls.ts"
import * as Handing from "./internal/handing.ts"
import type { Input } from "./internal/handing.ts"
import type * as Protocol from "./internal/protocol.ts"

export type { Input } from "./internal/handing.ts"

/** What an upload may be told, besides its file. */
export type UploadOptions = Shared.UploadOptions<Input>

/** Uploads, posts with files, threads, members of lists and conversations, as blocking methods. `onProgress` is called on the thread that they block. */
export interface Publishing {
  /**
   * Checks a file and sends it, waits until the service has processed it, and describes it. What it makes is for the
   * `media_ids` of a post, or for a direct message.
   */
  readonly upload: (input: Input, options?: UploadOptions) => UploadedMedia
  /**
   * Publishes a post with its files and its poll: everything is checked, then uploaded, then posted. A failed upload posts
   * nothing, and `OutcomeUnknown` is of the post alone.
   */
  readonly publish: (post: Post<Input>, options?: PublishOptions) => PublishedPost
  /**
   * Publishes posts, each in reply to the one before. Their files are uploaded before the first is posted. What was sent is
   * noted in the journal by the `key`: the same call goes on where another one was interrupted, and posts no part twice.
   */
  readonly publishThread: (posts: ReadonlyArray<Post<Input>>, options: ThreadOptions) => PublishedThread
  /**
   * Tells what it takes to make the members of a list those that are wished for: ids or usernames. Changes nothing. Reads the
   * members, and looks up usernames that are not among them.
   */
  readonly planListMembers: (
    list: string | number | bigint,
    desired: Iterable<Wanted>,
    options?: PlanOptions
  ) => MembersPlan
  /**
   * Makes the members of a list those that are wished for: ids or usernames. Removes who is not, adds who is missing, one request
   * each, and tells what became of each. What is done is noted in the journal: the same call goes on where another one was
   * interrupted. Blocks for hours where thousands are to be changed.
   */
  readonly syncListMembers: (
    list: string | number | bigint,
    desired: Iterable<Wanted>,
    options?: SyncOptions
  ) => SyncedMembers
  /** The conversation that a post belongs to, as a tree: its first post and all replies that can be read, and what is missing. */
  readonly getConversation: (id: string | number | bigint, options?: ConversationOptions) => Conversation
  /**
   * Tells what it takes to make the rules of the filtered stream those that are wished for, and changes nothing. Reads the rules, and
   * asks the service whether it would take the new ones.
   */
  readonly planRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: StreamRules.PlanOptions
  ) => StreamRules.RulesPlan
  /**
   * Makes the rules of the filtered stream those that are wished for: adds what is missing, and then deletes what is not wished for.
   * Nothing is changed before the client and the service find all of it right. Safe to repeat, and to run in several processes.
   */
  readonly syncRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: StreamRules.SyncOptions
  ) => StreamRules.SyncedRules
}

type Name = keyof Publishing

const calls = { ...Published.calls, ...Composites.calls }

/** The methods of a client. */
export const make = (context: Calls.Context): Publishing => {
  const upload: Publishing["upload"] = (input, options = {}) =>
    call(context, "upload", options, upload, (options, crossing) => ({
      call: "upload",
      input: crossing(input),
      options: Inputs.ofUpload(options, crossing)
    }))
  const publish: Publishing["publish"] = (post, options = {}) =>
    call(context, "publish", options, publish, (options, crossing) => ({
      call: "publish",
      post: Inputs.ofPost(post, crossing),
      options
    }))
  // Without a key, which no thread has, it is refused as any other one.
  const publishThread: Publishing["publishThread"] = (posts, options = { key: "" }) =>
    call(context, "publishThread", options, publishThread, (options, crossing) => ({
      call: "publishThread",
      posts: Inputs.ofPosts(posts, crossing),
      options
    }))
  const planListMembers: Publishing["planListMembers"] = (list, desired, options = {}) =>
    call(context, "planListMembers", options, planListMembers, (options) => ({
      call: "planListMembers",
      list,
      desired: [...desired],
      options
    }))
  const syncListMembers: Publishing["syncListMembers"] = (list, desired, options = {}) =>
    call(context, "syncListMembers", options, syncListMembers, (options) => ({
      call: "syncListMembers",
      list,
      desired: [...desired],
      options
    }))
  const getConversation: Publishing["getConversation"] = (post, options = {}) =>
    call(context, "getConversation", options, getConversation, (options) => ({
      call: "getConversation",
      post,
      options
    }))
  const planRules: Publishing["planRules"] = (desired, options = {}) =>
    call(context, "planRules", options, planRules, (options) => ({ call: "planRules", desired: [...desired], options }))
  const syncRules: Publishing["syncRules"] = (desired, options = {}) =>
    call(context, "syncRules", options, syncRules, (options) => ({ call: "syncRules", desired: [...desired], options }))
  return { upload, publish, publishThread, planListMembers, syncListMembers, getConversation, planRules, syncRules }
}

interface Watched {
  readonly onProgress?: ((progress: unknown) => void) | undefined
}

function call<N extends Name, O extends object>(
  context: Calls.Context,
  name: N,
  options: O,
  caller: Calls.Caller,
  publishingOf: (options: Omit<O, "onProgress">, crossing: Handing.Crossing) => Protocol.Publishing
): ReturnType<Publishing[N]>
// The declaration above is the only source of the types.
function call(
  context: Calls.Context,
  name: Name,
  { onProgress, ...options }: Watched,
  caller: Calls.Caller,
  publishingOf: (options: object, crossing: Handing.Crossing) => Protocol.Publishing
): unknown {
  return Handing.hand(
    context,
    { told: calls[name], parameter: "file", onProgress, caller },
    (crossing) => publishingOf(options, crossing)
  )
}
