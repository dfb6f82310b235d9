/** A post before it is sent: checked against every known rule, with its files opened and checked. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { closestMatch } from "leven"
import * as CallOptions from "../../client/CallOptions.ts"
import { Client } from "../../client/Client.ts"
import * as OptionRules from "../../client/OptionRules.ts"
import {
  type ConflictingIdentifiers,
  invalidParameter,
  InvalidParameters,
  OutcomeUnknown
} from "../../errors/Errors.ts"
import type { SourceFailure } from "../../errors/UploadErrors.ts"
import * as MediaRules from "../../media/MediaRules.ts"
import * as Source from "../../media/Source.ts"
import * as Upload from "../../media/Upload.ts"
import { createPost } from "../../operations/Posts.ts"
import * as Callback from "../../runtime/Callback.ts"
import type { Definition } from "../../schema/Definition.ts"
import { ownProperties } from "../../schema/Parameters.ts"
import * as PostText from "../../text/PostText.ts"
import type { CreatePost, Media, Post, Progress, PublishOptions } from "../PublishOptions.ts"

/** The position of a post in the parameters of a call. */
export interface Place {
  readonly operation: "publish" | "publishThread" | "createArticle"
  /** The prefix of its parameter names, as `posts[2].` */
  readonly prefix: string
  /** Counts from 1. */
  readonly part: number
  readonly parts: number
}

/** A post that obeys every rule that does not concern its files. */
export interface Draft {
  readonly place: Place
  /** The parameters of the request, without the ids of the files. */
  readonly parameters: CreatePost
  readonly files: ReadonlyArray<Media>
}

/** Checks the options and returns the first error. */
export const checkOptions = (
  operation: Place["operation"],
  options: object,
  names: ReadonlyArray<string> = []
): InvalidParameters | undefined => {
  const known = [...CallOptions.requestOptionNames, "maxWeight", "onProgress", "user_auth", ...names]
  const invalid = CallOptions.checkOptions({ name: operation }, options, known)
  return invalid ?? OptionRules.check(operation, options, optionRules)
}

const optionRules = { maxWeight: /*#__PURE__*/ OptionRules.whole(1), onProgress: OptionRules.callback }

/** The names of `createPost` parameters in a post. */
const names = new Map([
  ["poll_options", "poll.options"],
  ["poll_duration_minutes", "poll.duration_minutes"],
  ["poll_reply_settings", "poll.reply_settings"]
])

/** The properties of a post. */
const postNames = ["media", "poll", "user_auth", ...Object.keys(createPost.definition.body ?? {})]

const pollNames = ["options", "duration_minutes", "reply_settings"]

/** Properties of which a post has at most one. */
const alone = ["card_uri", "media", "poll", "quote_post_id"] as const

/** Checks a post, but not its files. */
export const check = Effect.fnUntraced(function*(
  post: Post,
  place: Place,
  { maxWeight = PostText.maximumWeight, user_auth }: PublishOptions
): Effect.fn.Return<Draft, InvalidParameters, Client> {
  const client = yield* Client
  const { operation, prefix } = place
  const invalid = (parameter: string, rule: string, value?: unknown) =>
    invalidParameter(operation, prefix + parameter, rule, value)
  const given = ownProperties(post)
  if (given === undefined) {
    return yield* invalidParameter(
      operation,
      prefix.slice(0, -1) || "post",
      `must be an object, such as { text: "Hello" }`,
      post
    )
  }
  const stranger = Object.keys(given).find((name) => !postNames.includes(name))
  if (stranger !== undefined) {
    const meant = closestMatch(stranger, postNames, { maxDistance: 3 })
    return yield* invalid(stranger, `is not part of a post${meant === undefined ? "" : ` (did you mean ${meant}?)`}`)
  }
  const { media = [], poll, ...rest } = post
  const { text = "" } = rest
  const mediaIds = rest.media_ids ?? []

  const fault = typeof text === "string" ? PostText.faultOf(text, maxWeight) : undefined
  if (fault !== undefined) return yield* invalid("text", fault)
  if (!Array.isArray(media)) return yield* invalid("media", "must be a list of files", media)
  if (!Array.isArray(mediaIds)) return yield* invalid("media_ids", "must be a list of ids", mediaIds)
  if (poll !== undefined && ownProperties(poll) === undefined) return yield* invalid("poll", "must be an object", poll)
  const other = Object.keys(poll ?? {}).find((name) => !pollNames.includes(name))
  if (other !== undefined) return yield* invalid(`poll.${other}`, "is not part of a poll")
  const files = Array.from(media, mediaOf)
  const notOne = files.findIndex(({ file }) => Source.from(file) === undefined)
  if (notOne >= 0) return yield* invalid(`media[${notOne}].file`, Source.rule)

  const hasMedia = files.length > 0 || mediaIds.length > 0
  const [first, second] = alone.filter((name) => name === "media" ? hasMedia : post[name] !== undefined)
  if (second !== undefined) return yield* invalid(second, `cannot be given together with ${first}`)
  const most = MediaRules.limits.perPost.image
  if (files.length > 0 && files.length + mediaIds.length > most) {
    return yield* invalid("media", `must be at most ${most} files, those of media_ids included`)
  }

  const parameters: CreatePost = {
    ...rest,
    ...(user_auth === undefined ? {} : { user_auth }),
    ...(poll === undefined
      ? {}
      : {
        poll_options: poll.options,
        poll_duration_minutes: poll.duration_minutes,
        poll_reply_settings: poll.reply_settings
      })
  }
  // Each file will get an id.
  yield* Effect.mapError(
    client.check(createPost.definition, withMedia(parameters, files.map(() => "1"))),
    (error) => renamed(error, place)
  )
  if (!hasMedia && typeof text === "string" && text.trim() === "") {
    return yield* invalid("text", "must not be empty without media")
  }
  return { place, parameters, files }
})

/** A file with its options. */
export const mediaOf = (given: Source.Input | Media): Media => isMedia(given) ? given : { file: given }

const isMedia = (given: Source.Input | Media): given is Media => Predicate.hasProperty(given, "file")

const withMedia = (parameters: CreatePost, ids: ReadonlyArray<string>): CreatePost =>
  ids.length === 0 ? parameters : { ...parameters, media_ids: [...parameters.media_ids ?? [], ...ids] }

/** The error with the name that a parameter has in a post. */
export const renamed = (
  error: InvalidParameters | ConflictingIdentifiers,
  { operation, prefix }: Pick<Place, "operation" | "prefix">
): InvalidParameters =>
  error._tag === "InvalidParameters"
    ? new InvalidParameters({
      operation,
      parameter: prefix + (names.get(error.parameter) ?? error.parameter),
      rule: error.rule,
      value: error.value
    })
    : new InvalidParameters({ operation, parameter: prefix + error.parameters.join(), rule: error.rule })

/** Opens and checks the files of a post. Sends nothing. */
export const open = Effect.fnUntraced(function*(
  { files, parameters, place: { operation, part, parts, prefix } }: Draft,
  options: PublishOptions
): Effect.fn.Return<ReadonlyArray<Upload.Prepared>, InvalidParameters | SourceFailure, Scope.Scope> {
  const opened: Array<Upload.Prepared> = []
  for (const [i, { file, ...rest }] of files.entries()) {
    opened.push(
      yield* Upload.prepare(file, {
        ...rest,
        user_auth: options.user_auth,
        onProgress: (progress) => report(options, { ...progress, part, parts, file: i + 1 })
      }, { operation, prefix: `${prefix}media[${i}].` })
    )
  }
  // Media that are uploaded already are unknown; they may be images.
  const categories = opened.map(({ category }) => category)
  const fault = categories.length === 0
    ? undefined
    : MediaRules.faultOfPost([...(parameters.media_ids ?? []).map(() => categories[0] ?? "tweet_image"), ...categories])
  return fault === undefined
    ? opened
    : yield* new InvalidParameters({ operation, parameter: `${prefix}media`, rule: fault.rule, value: fault.value })
})

/** The number of files sent at a time: those of one post. Each needs the memory of a segment. */
export const filesAtOnce = 4

/** Sends a post once, with the ids of its files. */
export const post = (
  { parameters }: Draft,
  media: ReadonlyArray<Upload.UploadedMedia>,
  { retries, timeout }: PublishOptions
) =>
  Effect.flatMap(
    createPost(withMedia(parameters, media.map(({ id }) => id)), { retries, timeout }),
    ({ data }) => created(createPost.definition, data, "post")
  )

/** The data of a create. */
export const created = <A>(
  { confirmWith, name, status = 201 }: Pick<Definition, "confirmWith" | "name"> & { readonly status?: number },
  data: A | undefined,
  noun: string
): Effect.Effect<A, OutcomeUnknown> =>
  data === undefined
    // Accepted, but the response has only errors.
    ? Effect.fail(new OutcomeUnknown({ operation: name, status, reason: `it names no ${noun}`, confirmWith }))
    : Effect.succeed(data)

/** Reports progress. */
export const report = ({ onProgress }: PublishOptions, progress: Progress): void => {
  if (onProgress !== undefined) Callback.call(onProgress, progress)
}
