/**
 * The parameters of operations. A parameter is a Schema from the values that callers pass to the value that is sent, plus the
 * rule in words: the client encodes with it, the sandbox decodes with it, documentation and commands read it.
 *
 * In a path or a query every value is text; `toText` and `fromText` convert it.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Codecs from "./Codecs.ts"
import type { Bytes } from "./Multipart.ts"

export { type BytesInput, type Id, idText, type Timestamp, type Unlisted } from "./Codecs.ts"

/** An encoded value: a JSON value, or bytes. */
export type EncodedValue =
  | string
  | number
  | boolean
  | ReadonlyArray<string>
  | Schema.JsonObject
  | ReadonlyArray<Schema.JsonObject>
  | Bytes

/** How a parameter is read: decides its text form, its flag on a command line and its JSON Schema. */
export type Kind = "id" | "text" | "token" | "integer" | "boolean" | "timestamp" | "list" | "choice" | "json" | "bytes"

/** The bounds of a parameter, inclusive: of its value, its number of items or characters, or its time. */
export type Bounds =
  | {
    readonly of: "value" | "items" | "characters"
    readonly minimum: number
    readonly maximum: number
    /** The maximum for a project with standard access, where it is smaller. */
    readonly standard?: number
    /** For items that are texts: the maximum of characters of each; the minimum is one. */
    readonly each?: number
  }
  | { readonly of: "time"; readonly earliest: string }

/** The access level of a project: `standard` has shorter queries, `research` longer ones. */
export type AccessLevel = "standard" | "research"

/** One parameter of an operation, with `In` the type that callers may pass. */
export interface Parameter<in out In, out Required extends boolean = false> {
  readonly kind: Kind
  readonly required: Required
  /** From the values that callers pass to the value that is sent. */
  readonly schema: Schema.Codec<In, EncodedValue>
  /** True where members that the schema does not have are refused. They are omitted elsewhere. */
  readonly isExact?: boolean
  /** The rule of its type in words; `describe` adds the bounds. */
  readonly rule: string
  /** Enforced unless the client leaves them to the service (`checks: "identifiers"`). */
  readonly bounds?: Bounds
  /** Known values; where it is `open`, others are accepted if passed on purpose. */
  readonly values?: ReadonlyArray<string>
  readonly open?: boolean
  /** The service's default for an absent parameter; never sent. */
  readonly default?: number | string
}

/** Any parameter, where its type does not matter. */
// oxlint-disable-next-line no-explicit-any -- the one position that must accept every parameter type
export type AnyParameter = Parameter<any, boolean>

/** Parameters by name. */
export type Parameters = Readonly<Record<string, AnyParameter>>

/** A list of ids, or one string of ids separated by commas with no spaces. */
export type Ids = ReadonlyArray<Codecs.Id> | string

/** A known value, or one that this version does not list, passed on purpose: `{ unlisted: "brand_new" }`. */
export type Open<Known extends string> = Known | Codecs.Unlisted

/** A list of names, or one string of known names separated by commas with no spaces. */
export type List<Known extends string> = ReadonlyArray<Open<Known>> | Known | `${Known},${string}`

/** A list of texts, or one string of them separated by commas with no spaces. */
export type Texts = ReadonlyArray<string> | string

/** The same parameter, required. */
export const required = <In>(self: Parameter<In>): Parameter<In, true> => ({ ...self, required: true })

/** A decimal id of 1 to 19 digits. Numbers beyond 2^53 - 1 are refused because they have already lost digits. */
export const id: Parameter<Codecs.Id> = {
  kind: "id",
  required: false,
  schema: Codecs.id,
  rule: "must be an id of 1 to 19 digits, as a string, a bigint or a safe integer"
}

const matching = (kind: Kind, pattern: RegExp, rule: string): Parameter<string> => ({
  kind,
  required: false,
  schema: Schema.String.check(Schema.isPattern(pattern)),
  rule
})

/** An id that is not numeric (conversations, spaces): 1 to 64 letters, digits, `-` and `_`. */
export const segment: Parameter<string> = /*#__PURE__*/ matching(
  "id",
  Codecs.segmentPattern,
  "must be 1 to 64 letters, digits, hyphens or underscores"
)

/** A conversation of encrypted chat: its id, with `-` or `:` between two users, or the id of the other user. */
export const chatConversation: Parameter<string> = {
  kind: "id",
  required: false,
  schema: Codecs.chatConversation,
  rule: "must be a user's id, two of them with - between them, or g and the id of a group"
}

/** The name of a file in a URL: 1 to 128 letters, digits, `-`, `_` and `.`, the first no dot. */
export const fileName: Parameter<string> = /*#__PURE__*/ matching(
  "id",
  Codecs.fileNamePattern,
  "must be 1 to 128 letters, digits, hyphens, underscores or dots, the first no dot"
)

/** The key of a photo, video or animated GIF: two numbers with `_` between them. */
export const mediaKey: Parameter<string> = /*#__PURE__*/ matching(
  "id",
  Codecs.mediaKeyPattern,
  "must be a media key such as 3_1460323737035677698"
)

/** A handle without the `@`: 1 to 15 letters, digits and underscores. */
export const username: Parameter<string> = /*#__PURE__*/ matching(
  "text",
  Codecs.usernamePattern,
  "must be a handle of 1 to 15 letters, digits or underscores, without @"
)

/** A search for users: 1 to 50 letters, digits, underscores, apostrophes and spaces. */
export const userQuery: Parameter<string> = /*#__PURE__*/ matching(
  "text",
  Codecs.userQueryPattern,
  "must be 1 to 50 letters, digits, underscores, apostrophes or spaces"
)

/** A list of at most `maximum` ids, or one string of ids separated by commas with no spaces. Sent as one value. */
export const ids = (maximum?: number): Parameter<Ids> => ({
  kind: "list",
  required: false,
  ...(maximum === undefined ? {} : { bounds: { of: "items", minimum: 1, maximum } }),
  rule: "must be ids of 1 to 19 digits, as a list or as one string with commas and no spaces",
  schema: Codecs.commaSeparated(Codecs.id).check(Codecs.everyItem(Codecs.idPattern))
})

const texts = (items: string, pattern: RegExp, maximum: number): Parameter<Texts> => ({
  kind: "list",
  required: false,
  bounds: { of: "items", minimum: 1, maximum },
  rule: `must be ${items}, as a list or as one string with commas and no spaces`,
  schema: Codecs.commaSeparated(Schema.String).check(Codecs.everyItem(pattern))
})

/** A list of at most `maximum` handles, or one string of them separated by commas with no spaces. Sent as one value. */
export const usernames = (maximum: number): Parameter<Texts> =>
  texts("handles of 1 to 15 letters, digits or underscores", Codecs.usernamePattern, maximum)

/** A list of at most `maximum` ids that are not numeric, or one string of them. Sent as one value. */
export const segments = (maximum: number): Parameter<Texts> =>
  texts("ids of 1 to 64 letters, digits, hyphens or underscores", Codecs.segmentPattern, maximum)

/** A list of at most `maximum` media keys, or one string of them. Sent as one value. */
export const mediaKeys = (maximum: number): Parameter<Texts> =>
  texts("media keys such as 3_1460323737035677698", Codecs.mediaKeyPattern, maximum)

/** A list of `minimum` to `maximum` ids, sent as a JSON array of strings. */
export const idArray = (maximum?: number, minimum: 0 | 1 = 1): Parameter<ReadonlyArray<Codecs.Id>> => ({
  kind: "list",
  required: false,
  ...(maximum === undefined ? {} : { bounds: { of: "items", minimum, maximum } }),
  rule: `must be a list of ${minimum === 1 ? "one or more " : ""}ids of 1 to 19 digits`,
  schema: Schema.Array(Codecs.id).check(Schema.isMinLength(minimum))
})

/** A list of texts, sent as a JSON array; each has 1 to `each` characters if that is given. */
export const textArray = (
  options?: { readonly minimum: number; readonly maximum: number; readonly each?: number }
): Parameter<ReadonlyArray<string>> => ({
  kind: "list",
  required: false,
  ...(options === undefined ? {} : { bounds: { of: "items", ...options } }),
  rule: "must be a list of strings",
  schema: Schema.Array(Schema.String).check(Schema.isMinLength(1))
})

/** A list of names or one comma-separated string; names outside `values` are accepted only if passed on purpose. */
export const list = <const Known extends string>(values: ReadonlyArray<Known>): Parameter<List<Known>> => ({
  kind: "list",
  required: false,
  values,
  open: true,
  rule: "must be a list of names, or one string of names separated by commas with no spaces",
  // Known names are checked separately, so that a refusal can suggest the nearest.
  schema: Codecs.names as Schema.Codec<List<Known>, string>
})

/** A list of names, sent as a JSON array; empty if none applies. */
export const choices = <const Known extends string>(
  values: ReadonlyArray<Known>
): Parameter<ReadonlyArray<Known>> => ({
  kind: "list",
  required: false,
  values,
  rule: `must be a list of names, each one of ${values.join(", ")}`,
  schema: Schema.Array(Schema.Literals(values))
})

/** Text; of 1 to `maximum` characters, counted as Unicode code points, if a maximum is given. */
export const text = (maximum?: number, standard?: number): Parameter<string> => ({
  kind: "text",
  required: false,
  ...(maximum === undefined
    ? {}
    : { bounds: { of: "characters", minimum: 1, maximum, ...(standard === undefined ? {} : { standard }) } }),
  rule: "must be text",
  schema: Schema.String
})

/** Text that is not empty. */
export const filled: Parameter<string> = {
  kind: "text",
  required: false,
  rule: "must be text, and not empty",
  schema: /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isMinLength(1))
}

/** Text of up to `maximum` characters, counted as Unicode code points; an empty text clears the value. */
export const emptiable = (maximum: number): Parameter<string> => ({
  ...text(),
  bounds: { of: "characters", minimum: 0, maximum }
})

/** A language as two capital letters. */
export const language: Parameter<string> = /*#__PURE__*/ matching(
  "text",
  Codecs.languagePattern,
  "must be a language as two capital letters, such as EN"
)

const jsonObject = /*#__PURE__*/ Schema.Record(Schema.String, Schema.Json)

/** Bytes as base64 text, which the chat's library makes. */
export const base64: Parameter<string> = /*#__PURE__*/ matching("text", /^[A-Za-z0-9+/=_-]+$/, "must be base64 text")

/** Text with a link. */
export const linked = (maximum: number): Parameter<string> => ({
  ...matching("text", Codecs.linkedPattern, "must be text with a link that begins with https:// or http://"),
  bounds: { of: "characters", minimum: 1, maximum }
})

/** A JSON object. Its contents are validated by the service. */
export const object: Parameter<Schema.JsonObject> = {
  kind: "json",
  required: false,
  schema: jsonObject,
  rule: "must be a JSON object"
}

/** A JSON value of a schema, which the rule describes. Members that the schema does not have are refused. */
export const structure = <A>(
  schema: Schema.Codec<A, Schema.JsonObject | ReadonlyArray<Schema.JsonObject>>,
  rule: string
): Parameter<A> => ({ kind: "json", required: false, schema, isExact: true, rule })

/** A list of JSON objects. */
export const objectArray: Parameter<ReadonlyArray<Schema.JsonObject>> = {
  kind: "json",
  required: false,
  schema: /*#__PURE__*/ Schema.Array(jsonObject),
  rule: "must be a list of JSON objects"
}

/** A rule to add to the filtered stream. */
export interface RuleInput {
  /** The query that selects posts, in the query language of the service. */
  readonly value: string
  /** A label that is delivered with matching posts. */
  readonly tag?: string
}

/** A list of rules of the filtered stream. */
export const streamRules: Parameter<ReadonlyArray<RuleInput>> = {
  kind: "json",
  required: false,
  schema: /*#__PURE__*/ Schema.Array(
    /*#__PURE__*/ Schema.Struct({
      value: /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isMinLength(1)),
      tag: /*#__PURE__*/ Schema.optionalKey(Schema.String)
    })
  ).check(/*#__PURE__*/ Schema.isMinLength(1)),
  rule: "must be a list of rules, each an object with a value and optionally a tag"
}

/** Selects events by the account that they are about or, for news, by a keyword. */
export interface ActivityFilter {
  readonly user_id?: Codecs.Id
  readonly keyword?: string
  readonly direction?: "inbound" | "outbound"
}

/** A filter of events. */
export const activityFilter: Parameter<ActivityFilter> = {
  kind: "json",
  required: false,
  schema: /*#__PURE__*/ Schema.Struct({
    user_id: /*#__PURE__*/ Schema.optionalKey(Codecs.id),
    keyword: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    direction: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Literals(["inbound", "outbound"]))
  }),
  rule: "must be an object with user_id, keyword or direction (inbound or outbound)"
}

/** Bytes: in memory, where they must not change before the call ends, or of a `Blob`, which is read while it is sent. */
export const bytes: Parameter<Codecs.BytesInput> = {
  kind: "bytes",
  required: false,
  schema: Codecs.bytes,
  rule: "must be a Uint8Array, an ArrayBuffer or a Blob, of at least one byte"
}

/** An opaque token, passed back exactly as the service returned it. */
export const token: Parameter<string> = {
  kind: "token",
  required: false,
  schema: /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isMinLength(1)),
  rule: "must be a token as the service returned it"
}

/** A whole number in a range, inclusive. */
export const integer = (
  options: { readonly minimum?: number; readonly maximum?: number; readonly default?: number } = {}
): Parameter<number> => {
  const { maximum, minimum } = options
  return {
    kind: "integer",
    required: false,
    ...(minimum === undefined || maximum === undefined ? {} : { bounds: { of: "value", minimum, maximum } }),
    ...(options.default === undefined ? {} : { default: options.default }),
    rule: "must be a whole number",
    schema: Schema.Int
  }
}

/** A whole number of 0 or more that is sent as text, such as milliseconds since 1970. */
export const digits: Parameter<number> = {
  kind: "integer",
  required: false,
  rule: "must be a whole number of 0 or more",
  schema: Codecs.digits
}

/** True or false. */
export const boolean: Parameter<boolean> = {
  kind: "boolean",
  required: false,
  schema: Schema.Boolean,
  rule: "must be true or false"
}

/** Nothing but true, for the reason that the rule gives. */
export const always = (reason: string): Parameter<true> => ({
  kind: "boolean",
  required: false,
  rule: `must be true: ${reason}`,
  schema: Schema.Literal(true)
})

/** One of a closed set of values. */
export const choice = <const Value extends string>(
  values: ReadonlyArray<Value>,
  options: { readonly default?: Value } = {}
): Parameter<Value> => ({
  kind: "choice",
  required: false,
  values,
  ...options,
  rule: `must be one of ${values.join(", ")}`,
  schema: Schema.Literals(values)
})

/** One value; a value outside `values` is accepted only if passed on purpose. */
export const openChoice = <const Known extends string>(
  values: ReadonlyArray<Known>,
  options: { readonly default?: Known; readonly rule?: string } = {}
): Parameter<Open<Known>> => ({
  kind: "choice",
  required: false,
  values,
  open: true,
  rule: `must be one of ${values.join(", ")}`,
  ...options,
  schema: Codecs.name as Schema.Codec<Open<Known>, string>
})

const instant = (schema: Schema.Codec<Codecs.Timestamp, string>): Parameter<Codecs.Timestamp> => ({
  kind: "timestamp",
  required: false,
  rule: "must be a Date, a DateTime or an RFC 3339 string such as 2026-01-31T12:00:00Z",
  schema
})

/** An instant, sent as `YYYY-MM-DDTHH:mm:ssZ` in UTC and truncated to seconds. */
export const timestamp: Parameter<Codecs.Timestamp> = /*#__PURE__*/ instant(Codecs.timestamp)

/** An instant, sent as `YYYYMMDDHHmm` in UTC. */
export const minute: Parameter<Codecs.Timestamp> = /*#__PURE__*/ instant(Codecs.minute)

/** An instant not before `earliest` (in the form in which timestamps are sent). */
export const notBefore = (earliest: string): Parameter<Codecs.Timestamp> => ({
  ...timestamp,
  bounds: { of: "time", earliest }
})

/** The query of the recent searches: shorter for projects with standard access. */
export const recentQuery: Parameter<string> = /*#__PURE__*/ text(1024, 512)

/** The rule of a parameter in words, bounds included. */
export const describe = ({ bounds, rule }: AnyParameter, access: AccessLevel = "research"): string => {
  if (bounds === undefined) return rule
  if (bounds.of === "time") return `${rule}, not before ${bounds.earliest}`
  const range = `${bounds.minimum} to ${maximumOf(bounds, access)}`
  if (bounds.of === "value") return `${rule} from ${range}`
  return `${rule}, ${range} ${bounds.of}${bounds.each === undefined ? "" : ` of 1 to ${bounds.each} characters`}`
}

/** Tests whether an encoded value is within the bounds of its parameter. */
export const isWithinBounds = (
  { bounds }: AnyParameter,
  wire: EncodedValue,
  access: AccessLevel = "research"
): boolean => {
  if (bounds === undefined) return true
  // Encoded timestamps have one length, so that their text order is their order in time.
  if (bounds.of === "time") return String(wire) >= bounds.earliest
  const items = bounds.of === "items" ? Codecs.items(wire) : none
  const size = bounds.of === "value" ? Number(wire) : bounds.of === "items" ? items.length : codePoints(String(wire))
  if (!(size >= bounds.minimum && size <= maximumOf(bounds, access))) return false
  const { each } = bounds
  return each === undefined || items.every((item) => item !== "" && codePoints(String(item)) <= each)
}

const none: ReadonlyArray<never> = []

const maximumOf = (bounds: Exclude<Bounds, { readonly of: "time" }>, access: AccessLevel): number =>
  access === "standard" ? bounds.standard ?? bounds.maximum : bounds.maximum

/** The key of a parameter in the query: `post_fields` travels as `post.fields`. */
export const queryKey = (name: string): string =>
  name.endsWith("_fields") ? `${name.slice(0, -"_fields".length)}.fields` : name

/** Tests whether a parameter selects fields or expansions, whose values are translated separately. */
export const isSelector = (name: string): boolean => name === "expansions" || name.endsWith("_fields")

/** The text of an encoded value, for a path or a query. */
export const toText = (wire: EncodedValue): string => typeof wire === "string" ? wire : String(wire)

/** The encoded value of a text in a path or a query. */
export const fromText = (self: AnyParameter, value: string): EncodedValue => {
  if (self.kind === "integer") return /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value
  // Python capitalizes them.
  if (self.kind === "boolean") return /^[Tt]rue$/.test(value) ? true : /^[Ff]alse$/.test(value) ? false : value
  return value
}

const codePoints = (value: string): number => {
  let count = 0
  for (const _ of value) count++
  return count
}

/** A copy of an object's own properties; `undefined` for anything else. */
export const ownProperties = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  Predicate.isObject(value) ? { ...value } : undefined
