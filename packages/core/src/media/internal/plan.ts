/** Checks an upload before anything is sent: the file, its use, and its description. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as OptionRules from "../../client/OptionRules.ts"
import { InvalidParameters } from "../../errors/Errors.ts"
import type { SourceFailure } from "../../errors/UploadErrors.ts"
import { languagePattern } from "../../schema/Codecs.ts"
import { show } from "../../schema/Show.ts"
import * as MediaFile from "../MediaFile.ts"
import * as MediaRules from "../MediaRules.ts"
import * as Source from "../Source.ts"
import type { Subtitles, UploadOptions } from "../UploadOptions.ts"

/** A file that is ready to be sent. */
export interface Plan {
  /** The name of the source. */
  readonly name: string
  readonly source: Source.Opened
  readonly size: number
  readonly type: MediaFile.MediaType
  readonly category: MediaRules.MediaCategory
  /** Bytes per segment. */
  readonly chunk: number
  /** Longest processing time in milliseconds. */
  readonly maxWait: number
  readonly alt: string | undefined
  readonly subtitles: ReadonlyArray<Omit<Subtitles, "file"> & { readonly plan: Plan }>
}

/** The place of a file in the parameters of an operation, for errors: a prefix as `media[0].` */
export interface Place {
  readonly operation: string
  readonly prefix: string
}

/** Most segments of one upload. */
const mostSegments = 1000

const MiB = 1_048_576

/** At most a hundred segments, unless they would exceed 4 MiB. */
const chunkOf = (size: number): number =>
  Math.max(Math.min(Math.ceil(size / 100 / MiB), 4) * MiB, MiB, leastChunk(size))

/** Fewest bytes per segment that keep within the number of segments. */
export const leastChunk = (size: number): number => Math.ceil(size / mostSegments)

const defaultMaxWaitMillis = 600_000

const optionNames = /*#__PURE__*/ Object.keys(
  {
    purpose: true,
    category: true,
    type: true,
    limits: true,
    alt: true,
    subtitles: true,
    additional_owners: true,
    shared: true,
    chunkBytes: true,
    maxWait: true,
    onProgress: true,
    user_auth: true
  } satisfies { readonly [Name in keyof UploadOptions]-?: true }
)

/** Opens and checks a file. */
export const plan = Effect.fnUntraced(function*(
  input: Source.Input,
  options: UploadOptions,
  place: Place
): Effect.fn.Return<Plan, InvalidParameters | SourceFailure, Scope.Scope> {
  const invalid = (parameter: string, { rule, value }: MediaRules.Fault) =>
    new InvalidParameters({ operation: place.operation, parameter: place.prefix + parameter, rule, value })
  const broken = faultOfOptions(options)
  if (broken !== undefined) return yield* invalid(...broken)
  const { alt, chunkBytes, limits, maxWait = defaultMaxWaitMillis, purpose, subtitles = [] } = options
  const given = Source.from(input)
  if (given === undefined) return yield* invalid("file", { rule: Source.rule })
  const source = yield* given.open
  const { size } = source
  const found = yield* MediaFile.inspect(source)
  const file = options.type === undefined ? found : { ...found, type: options.type }
  const category = options.category ?? MediaRules.categoryFor(file, purpose)
  const fault = category === undefined && size > 0
    ? { rule: unknownRule, value: file.type ?? file.otherwise }
    : MediaRules.faultOf(file, category ?? "tweet_image", limits && MediaRules.changed(limits))
  if (fault !== undefined) return yield* invalid("file", fault)
  if (category === undefined || file.type === undefined) return yield* invalid("file", { rule: unknownRule })
  const chunk = chunkBytes ?? chunkOf(size)
  if (chunk < leastChunk(size)) {
    const rule = `must be at least ${leastChunk(size)}, because an upload has at most ${mostSegments} segments`
    return yield* invalid("chunkBytes", { rule, value: String(chunk) })
  }
  if (subtitles.length > 0 && category !== "tweet_video" && category !== "amplify_video") {
    return yield* invalid("subtitles", { rule: "is allowed for videos of posts only", value: category })
  }
  return {
    name: given.name,
    source,
    size,
    type: file.type,
    category,
    chunk,
    maxWait,
    alt,
    subtitles: yield* Effect.forEach(subtitles, ({ file, language, name }, index) =>
      Effect.map(
        plan(file, { category: "subtitles", limits, maxWait }, {
          ...place,
          prefix: `${place.prefix}subtitles[${index}].`
        }),
        (plan) => ({ language, name, plan })
      ))
  }
})

const unknownRule = "must be an image, a GIF or a video that the service accepts"

const optionRules = {
  purpose: /*#__PURE__*/ OptionRules.either("post", "directMessage"),
  category: [MediaRules.isCategory, "must be a category of the service, as tweet_image"],
  type: [Predicate.isString, "must be a text, as image/png"],
  limits: [Predicate.isObject, "must be an object"],
  chunkBytes: /*#__PURE__*/ OptionRules.whole(1, " of bytes"),
  maxWait: OptionRules.millis,
  onProgress: OptionRules.callback
} as const

/** The first option that breaks a rule, with the rule. */
const faultOfOptions = (options: UploadOptions): readonly [string, MediaRules.Fault] | undefined => {
  const fault = (option: string, rule: string, value?: unknown) =>
    [option, { rule, value: value === undefined ? undefined : show(value) }] as const
  if (!Predicate.isObject(options)) return fault("options", "must be an object", options)
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name)) return fault(name, "is not an option of an upload")
  }
  const { alt, limits, subtitles }: UploadOptions = options
  const broken = OptionRules.broken<UploadOptions>(options, optionRules)
  if (broken !== undefined) return fault(...broken)
  if (alt !== undefined) {
    if (typeof alt !== "string" || alt === "") return fault("alt", "must be a text that is not empty", alt)
    const tooLong = MediaRules.faultOfAltText(alt, limits && MediaRules.changed(limits))
    if (tooLong !== undefined) return ["alt", tooLong]
  }
  return subtitles === undefined ? undefined : faultOfSubtitles(subtitles)
}

const faultOfSubtitles = (subtitles: unknown): readonly [string, MediaRules.Fault] | undefined => {
  if (!Array.isArray(subtitles)) return ["subtitles", { rule: "must be a list", value: show(subtitles) }]
  const languages: ReadonlyArray<unknown> = subtitles.map((each) =>
    Predicate.hasProperty(each, "language") ? each.language : undefined
  )
  for (const [index, language] of languages.entries()) {
    const parameter = `subtitles[${index}].language`
    if (typeof language !== "string" || !languagePattern.test(language)) {
      return [parameter, { rule: "must be two capital letters, as EN", value: show(language) }]
    }
    if (languages.indexOf(language) < index) {
      return [parameter, { rule: "can be given once", value: show(language) }]
    }
    if (!Predicate.hasProperty(subtitles[index], "name") || typeof subtitles[index].name !== "string") {
      return [`subtitles[${index}].name`, { rule: "must be a text" }]
    }
  }
  return undefined
}
