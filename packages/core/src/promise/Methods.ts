/**
 * The methods of a client that make many calls: uploads, posts with files, threads, lists, conversations, rules, webhooks, compliance. This
 * table has their types and docstrings for every kind of client, and what the clients need to run them; `Workflows` has the
 * Effects.
 */
import * as Predicate from "effect/Predicate"
import type * as CallErrors from "../client/CallErrors.ts"
import type { Arguments, ItemOf, Operation, SelectionOf } from "../client/Operation.ts"
import type * as KeptWebhook from "../events/KeptWebhook.ts"
import type * as Upload from "../media/Upload.ts"
import type { getPosts } from "../operations/Posts.ts"
import type { getUsers } from "../operations/Users.ts"
import type * as Article from "../publishing/Article.ts"
import type * as Publish from "../publishing/Publish.ts"
import type * as Thread from "../publishing/Thread.ts"
import type { Id } from "../schema/Codecs.ts"
import type { ComplianceJob } from "../schema/models/ComplianceJob.ts"
import type { Included, Selection } from "../schema/Selection.ts"
import type * as StreamRules from "../streams/rules/StreamRules.ts"
import type * as ComplianceCheck from "../workflows/Compliance.ts"
import type * as Conversation from "../workflows/Conversation.ts"
import type * as Hydrate from "../workflows/Hydrate.ts"
import type * as ListMembers from "../workflows/ListMembers.ts"

/** A kind of client: how its methods return results, and which options and ids they accept. */
export interface Kind {
  /** The result that `one` and `many` are the return types of. */
  readonly value: unknown
  readonly one: unknown
  readonly many: unknown
  /** The options that every method has besides its own. */
  readonly options: unknown
  /** Any number of ids. */
  readonly ids: unknown
}

/** The return type of a method with one result. */
export type One<K extends Kind, A> = (K & { readonly value: A })["one"]

/** The return type of a method with many results. */
export type Many<K extends Kind, A> = (K & { readonly value: A })["many"]

/** The options of an upload, where `I` is the type of a file. */
export interface UploadOptions<in out I> extends Omit<Upload.UploadOptions, "subtitles"> {
  /** Of a video, in several languages. */
  readonly subtitles?: Publish.Media<I>["subtitles"]
  /**
   * A key of 1 to 128 characters, under which the journal records the progress of the upload. The next upload with the same key
   * continues where this one stopped, or returns its media for as long as they can be used. Another file with the key starts over.
   */
  readonly resume?: string | undefined
}

/** Uploads media. */
export interface UploadMethod<in out I, K extends Kind> {
  /**
   * Checks a file, uploads it, waits until the service has processed it, and returns its media id, for the `media_ids` of a post or
   * for a direct message.
   */
  (input: I, options?: UploadOptions<I> & K["options"]): One<K, Upload.UploadedMedia>
  /**
   * Uploads a file and iterates over the progress; the last step has the media. Leaving the loop cancels the upload.
   */
  readonly events: (
    input: I,
    options?: Omit<UploadOptions<I>, "onProgress"> & K["options"]
  ) => Many<K, Upload.Progress | Upload.Uploaded>
}

/** Reads conversations. */
export interface GetConversation<K extends Kind> {
  /** The conversation that a post belongs to, as a tree: its first post, all replies that can be read, and what is missing. */
  (id: Id, options?: Conversation.Options & K["options"]): One<K, Conversation.Conversation>
  /** The parts of the conversation: the first post, then the newest. Pages are fetched as they are needed. */
  readonly parts: (id: Id, options?: Conversation.Options & K["options"]) => Many<K, Conversation.Part>
}

/** Checks which of the posts or users that an app has stored were deleted, hidden or changed since. */
export interface Compliance<in out I, K extends Kind> {
  /** Sends the ids of a job to its `upload_url`, and returns how many there were. */
  readonly upload: (job: ComplianceCheck.Job, ids: K["ids"] | I, options?: K["options"]) => One<K, number>
  /** Waits until a job is complete, with pauses that grow from one second to half a minute. */
  readonly wait: (
    job: Pick<ComplianceCheck.Job, "id">,
    options?: ComplianceCheck.WaitOptions & K["options"]
  ) => One<K, ComplianceJob>
  /** The results of a complete job. They are streamed, and an interrupted download continues where it stopped. */
  readonly results: (job: ComplianceCheck.Job, options?: K["options"]) => Many<K, ComplianceCheck.Result>
  /**
   * Runs a whole check: creates a job, sends its ids, waits for it and fetches its results; then the next job, if there are more
   * ids than one job can have. An app can have one unfinished job of a type at a time.
   */
  readonly check: (
    options: ComplianceCheck.CheckOptions<K["ids"] | I> & K["options"]
  ) => Many<K, ComplianceCheck.Result>
}

/** Hydrates ids of one kind: the results are in the order of the ids, each with its outcome. */
export interface HydrateMethod<out R, Sel extends keyof Selection, K extends Kind> {
  <const S extends SelectionOf<Hydrate.Parameters, R, Sel>>(
    ids: K["ids"],
    ...args: Arguments<Hydrate.Parameters, R, Sel, S, Hydrate.Options & K["options"]>
  ): Many<K, Hydrate.Hydrated<ItemOf<R, S>, Included<S>>>
}

type HydrateBy<O, K extends Kind> = O extends Operation<infer _P, infer R, infer Sel, infer _E, infer _F>
  ? HydrateMethod<R, Sel, K>
  : never

/** Hydrates posts; `users` and `usernames` hydrate users. */
export interface HydrateMethods<K extends Kind> extends HydrateBy<typeof getPosts, K> {
  readonly users: HydrateBy<typeof getUsers, K>
  readonly usernames: HydrateBy<typeof getUsers, K>
}

/** The methods of a kind of client that make many calls, where `I` is the type of a file. */
export interface Methods<in out I, K extends Kind> {
  readonly upload: UploadMethod<I, K>
  /**
   * Publishes a post with its files and its poll. Everything is checked first, then uploaded, then posted. If an upload fails,
   * nothing is posted, and `OutcomeUnknown` concerns the post alone.
   */
  readonly publish: (
    post: Publish.Post<I>,
    options?: Publish.PublishOptions & K["options"]
  ) => One<K, Publish.PublishedPost>
  /**
   * Publishes posts, each in reply to the one before. Their files are uploaded before the first is posted. The journal records
   * under the `key` what was sent: the same call continues where another one was interrupted, and posts no part twice.
   */
  readonly publishThread: (
    posts: ReadonlyArray<Publish.Post<I>>,
    options: Thread.ThreadOptions & K["options"]
  ) => One<K, Thread.PublishedThread>
  /**
   * Uploads the pictures of an article, creates its draft, and publishes it if `publish` is set. The journal remembers the draft
   * under the `key`, since no operation reads it: the same call continues, and never creates a second draft by itself.
   */
  readonly createArticle: (
    article: Article.Article<I>,
    options: Article.ArticleOptions & K["options"]
  ) => One<K, Article.CreatedArticle>
  /**
   * Plans the changes that make the members of a list the desired ones, given as ids or usernames, and changes nothing. Reads the
   * members, and looks up usernames that are not among them.
   */
  readonly planListMembers: (
    list: Id,
    desired: Iterable<ListMembers.Wanted>,
    options?: ListMembers.PlanOptions & K["options"]
  ) => One<K, ListMembers.MembersPlan>
  /**
   * Makes the members of a list the desired ones, given as ids or usernames: removes the others, adds those who are missing, one
   * request each, and reports the outcome of each. The journal records the progress: the same call continues where another one was
   * interrupted. Thousands of changes take hours.
   */
  readonly syncListMembers: (
    list: Id,
    desired: Iterable<ListMembers.Wanted>,
    options?: ListMembers.SyncOptions & K["options"]
  ) => One<K, ListMembers.SyncedMembers>
  readonly getConversation: GetConversation<K>
  /**
   * Plans the changes that make the rules of the filtered stream the desired ones, and changes nothing. Reads the rules, and has
   * the service validate the new ones.
   */
  readonly planRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: StreamRules.PlanOptions & K["options"]
  ) => One<K, StreamRules.RulesPlan>
  /**
   * Makes the rules of the filtered stream the desired ones: adds the missing rules, then deletes the others. Nothing is changed
   * before the client and the service have validated all of them. Safe to repeat, and to run in several processes.
   */
  readonly syncRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: StreamRules.SyncOptions & K["options"]
  ) => One<K, StreamRules.SyncedRules>
  /** Plans the changes that make a webhook and its subscriptions to events the desired ones, and changes nothing. */
  readonly planWebhook: (
    desired: KeptWebhook.WantedWebhook,
    options?: KeptWebhook.PlanOptions & K["options"]
  ) => One<K, KeptWebhook.WebhookPlan>
  /**
   * Registers a webhook, whose program must be running, validates it if the service has marked it invalid, and makes its
   * subscriptions the desired ones: adds the missing ones, then deletes the others. Safe to repeat, and to run in several processes.
   */
  readonly keepWebhook: (
    desired: KeptWebhook.WantedWebhook,
    options?: KeptWebhook.KeepOptions & K["options"]
  ) => One<K, KeptWebhook.KeptWebhook>
  /** Checks which of the posts or users that an app has stored were deleted, hidden or changed since. */
  readonly compliance: Compliance<I, K>
  /** Looks up posts by their ids, a hundred per request, several requests at a time, and returns the outcome of every id. */
  readonly hydrate: HydrateMethods<K>
}

/** A call as errors describe it. */
export type CallDescription = Omit<CallErrors.CallInfo, "result">

/** A method at runtime: how errors describe it, and how clients pass its arguments on. */
export interface Method extends CallDescription {
  /** The index of the options among the arguments. */
  readonly options: number
  /** Whether it returns many results. */
  readonly isStream?: true
}

/** The methods by their paths, but for `hydrate`, whose requests each client sends itself. */
export const methods = {
  upload: { name: "upload", effect: "toggle", options: 1 },
  "upload.events": { name: "upload", effect: "toggle", options: 1, isStream: true },
  publish: { name: "publish", effect: "create", confirmWith: "getUsersPosts", options: 1 },
  // Repeating these six continues or completes what an earlier call began.
  publishThread: { name: "publishThread", effect: "toggle", options: 1 },
  createArticle: { name: "createArticle", effect: "toggle", options: 1 },
  syncListMembers: { name: "syncListMembers", effect: "toggle", options: 2 },
  syncRules: { name: "syncRules", effect: "toggle", options: 1 },
  keepWebhook: { name: "keepWebhook", effect: "toggle", options: 1 },
  "compliance.upload": { name: "Compliance.upload", effect: "toggle", options: 2 },
  planListMembers: { name: "planListMembers", effect: "read", options: 2 },
  getConversation: { name: "getConversation", effect: "read", options: 1 },
  "getConversation.parts": { name: "getConversation", effect: "read", options: 1, isStream: true },
  planRules: { name: "planRules", effect: "read", options: 1 },
  planWebhook: { name: "planWebhook", effect: "read", options: 1 },
  "compliance.wait": { name: "Compliance.wait", effect: "read", options: 1 },
  "compliance.results": { name: "Compliance.results", effect: "read", options: 1, isStream: true },
  "compliance.check": { name: "Compliance.check", effect: "toggle", options: 0, isStream: true }
} as const satisfies Readonly<Record<string, Method>>

/** The path of a method. */
export type Name = keyof typeof methods

/** The path of a method with many results. */
export type StreamName = { [N in Name]: (typeof methods)[N] extends { readonly isStream: true } ? N : never }[Name]

/** Whether a method has many results. */
export const isStream = (name: Name): name is StreamName => "isStream" in methods[name]

type MethodAt<M, Path extends string> = Path extends `${infer First extends keyof M & string}.${infer Rest}`
  ? MethodAt<M[First], Rest>
  : Path extends keyof M ? M[Path] extends (...args: infer A) => infer R ? (...args: A) => R : never
  : never

/** The methods as functions by their paths. */
export type ByName<I, K extends Kind> = { readonly [N in Name]: MethodAt<Methods<I, K>, N> }

/** The methods of a client, made of functions by their paths: `getConversation.parts` is a member of `getConversation`. */
export function build<I, K extends Kind>(functionOf: (name: Name) => object): Omit<Methods<I, K>, "hydrate">
// The table above is the only source of the types.
export function build(functionOf: (name: Name) => object): object {
  const built: Record<string, object> = { compliance: {} }
  for (const path of Object.keys(methods) as Array<Name>) {
    const [name = path, member] = path.split(".")
    if (member === undefined) built[name] = functionOf(path)
    else Object.assign(built[name] ?? {}, { [member]: functionOf(path) })
  }
  return built
}

type Replace = (value: unknown) => unknown

const same: Replace = (value) => value

const each = (replace: Replace): Replace => (list) => Array.isArray(list) ? list.map(replace) : list

/** Replaces members of an object. */
const members = (replacements: Readonly<Record<string, Replace>>): Replace => (value) => {
  if (!Predicate.isObject(value)) return value
  const replaced = { ...value }
  for (const [name, replace] of Object.entries(replacements)) {
    if (Predicate.hasProperty(value, name) && value[name] !== undefined) {
      Object.assign(replaced, { [name]: replace(value[name]) })
    }
  }
  return replaced
}

/** Replaces the files and ids among the arguments of a method. Values of another type stay, for the core to reject. */
export const mapInputs = (name: Name, args: ReadonlyArray<unknown>, input: Replace): ReadonlyArray<unknown> => {
  const subtitles = each(members({ file: input }))
  const media = members({ file: input, subtitles })
  const file: Replace = (one) => Predicate.hasProperty(one, "file") ? media(one) : input(one)
  const post = members({ media: each(file) })
  const images: Replace = (named) =>
    Predicate.isObject(named)
      ? Object.fromEntries(Object.entries(named).map(([name, one]) => [name, file(one)]))
      : named
  const upload = [input, members({ subtitles })]
  const replacements: { readonly [N in Name]?: ReadonlyArray<Replace> } = {
    upload,
    "upload.events": upload,
    publish: [post],
    publishThread: [each(post)],
    createArticle: [members({ images, cover: file })],
    "compliance.upload": [same, input],
    "compliance.check": [members({ ids: input })]
  }
  const own = replacements[name] ?? []
  return args.map((arg, index) => (own[index] ?? same)(arg))
}
