/** How parameter values are encoded: the types that callers may pass, and the one that is sent. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Multipart from "./Multipart.ts"

/** An id: a decimal string of up to 19 digits, a bigint, or a safe integer. */
export type Id = string | bigint | number

export const idPattern = /^[0-9]{1,19}$/

/** An encoded id. */
export const idText: Schema.Codec<string> = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(idPattern))

/** An id in any accepted type. */
export const id: Schema.Codec<Id, string> = /*#__PURE__*/ Schema.Union([
  idText,
  /*#__PURE__*/ Schema.Int.check(/*#__PURE__*/ Schema.isGreaterThanOrEqualTo(0)),
  Schema.BigInt
]).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    idText,
    /*#__PURE__*/ SchemaTransformation.transform({ decode: (text): Id => text, encode: String })
  )
)

export const segmentPattern = /^[A-Za-z0-9_-]{1,64}$/

/** The name of a file. */
export const fileNamePattern = /^[\w-][\w.-]{0,127}$/

export const mediaKeyPattern = /^([0-9]+)_([0-9]+)$/

export const languagePattern = /^[A-Z]{2}$/

export const usernamePattern = /^[A-Za-z0-9_]{1,15}$/

export const userQueryPattern = /^[A-Za-z0-9_' ]{1,50}$/

export const namePattern = /^[^\s,\u0000-\u001f]{1,100}$/

/** A text with a link. */
export const linkedPattern = /https?:\/\/\S/

/** A whole number of 0 or more, sent as text. */
export const digits: Schema.Codec<number, string> = /*#__PURE__*/ Schema.Int.check(
  /*#__PURE__*/ Schema.isGreaterThanOrEqualTo(0)
).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    idText,
    /*#__PURE__*/ SchemaTransformation.transform({ decode: Number, encode: String })
  )
)

/** A conversation of encrypted chat. Events have a colon between the ids of two users, paths a hyphen. */
export const chatConversation: Schema.Codec<string> = /*#__PURE__*/ Schema.String.check(
  /*#__PURE__*/ Schema.isPattern(/^([0-9]{1,19}|[0-9]{1,19}[:-][0-9]{1,19}|g[0-9]{1,19})$/)
).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    /*#__PURE__*/ Schema.String.check(
      /*#__PURE__*/ Schema.isPattern(/^([0-9]{1,19}|[0-9]{1,19}-[0-9]{1,19}|g[0-9]{1,19})$/)
    ),
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (id: string) => id,
      encode: (id: string) => id.replace(":", "-")
    })
  )
)

/** A list, or one string with commas. Sent as that string. */
export const commaSeparated = <A extends string | number | bigint>(
  item: Schema.Codec<A, string>
): Schema.Codec<ReadonlyArray<A> | string, string> =>
  Schema.Union([Schema.Array(item), Schema.String]).pipe(
    Schema.encodeTo(
      Schema.String,
      SchemaTransformation.transform({
        decode: (value): ReadonlyArray<string> | string => value,
        encode: (value) => typeof value === "string" ? value : value.join(",")
      })
    )
  )

/** The items of a list, or of a string with commas. */
export const items = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : String(value).split(",")

/** Refuses an empty list, and one with an item that does not match the pattern. */
export const everyItem = (pattern: RegExp) =>
  Schema.makeFilter((value: ReadonlyArray<unknown> | string) => {
    const all = items(value)
    return all.length > 0 && all.every((item) => pattern.test(String(item)))
  })

/** A name that no list contains, passed on purpose. As text it is marked. */
export interface Unlisted<Name extends string = string> {
  readonly unlisted: Name
}

/** Marks an unlisted name once it is text. No name contains this character, so no text of a program is marked. */
export const unlistedMark = "\u0000"

const nameText: Schema.Codec<string> = /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(namePattern))

/** One name. Sent as text; an unlisted name is marked. */
export const name: Schema.Codec<string | Unlisted, string> = /*#__PURE__*/ Schema.Union([
  nameText,
  /*#__PURE__*/ Schema.Struct({ unlisted: nameText })
]).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    Schema.String,
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (name: string): string | Unlisted => name,
      encode: (name: string | Unlisted) => typeof name === "string" ? name : unlistedMark + name.unlisted
    })
  )
)

/** A list of names, or one string of them with commas. Sent as that string. */
export const names: Schema.Codec<ReadonlyArray<string | Unlisted> | string, string> = /*#__PURE__*/ Schema.Union([
  /*#__PURE__*/ Schema.Array(name).check(/*#__PURE__*/ Schema.isMinLength(1)),
  /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ everyItem(namePattern))
]).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    Schema.String,
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (names): ReadonlyArray<string> | string => names,
      encode: (names) => typeof names === "string" ? names : names.join(",")
    })
  )
)

/** An instant: a `Date`, a `DateTime`, or an RFC 3339 string. Sent in UTC, truncated to seconds. */
export type Timestamp = Date | DateTime.DateTime | string

/** An instant within the years 0 to 9999; sent in UTC, truncated to seconds. */
export const timestamp: Schema.Codec<Timestamp, string> = /*#__PURE__*/ Schema.Union([
  Schema.String,
  Schema.Date,
  /*#__PURE__*/ Schema.declare((value): value is DateTime.DateTime => DateTime.isDateTime(value))
]).check(/*#__PURE__*/ Schema.makeFilter((value) => toSeconds(value) !== undefined)).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    Schema.String,
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (value: string): Timestamp => value,
      // The check above has refused values without such a form.
      encode: (value: Timestamp) => toSeconds(value) ?? ""
    })
  )
)

/** An instant within the years 0 to 9999; sent in UTC as `YYYYMMDDHHmm`. */
export const minute: Schema.Codec<Timestamp, string> = /*#__PURE__*/ timestamp.pipe(
  /*#__PURE__*/ Schema.encodeTo(
    Schema.String,
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (digits: string) => digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3T$4:$5:00Z"),
      encode: (text: string) => text.slice(0, 16).replace(/\D/g, "")
    })
  )
)

const rfc3339 = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i

// Date.parse reads 30 February as 2 March.
const isDay = (day: string): boolean => {
  const millis = Date.parse(day)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(day)
}

// Years outside 0..9999 have another length in ISO form and cannot be sent.
const firstMillis = -62_167_219_200_000
const lastMillis = 253_402_300_799_999

const toSeconds = (value: Timestamp): string | undefined => {
  const millis = typeof value === "string"
    ? rfc3339.test(value) && isDay(value.slice(0, 10)) ? Date.parse(value) : Number.NaN
    : DateTime.isDateTime(value)
    ? DateTime.toEpochMillis(value)
    : value.getTime()
  if (!(millis >= firstMillis && millis <= lastMillis)) return undefined
  return `${new Date(Math.floor(millis / 1000) * 1000).toISOString().slice(0, 19)}Z`
}

/** Bytes in any accepted type. */
export type BytesInput = Uint8Array | ArrayBuffer | Blob

/** Bytes, sent unchanged: a buffer as a view of it, shared memory as a copy. */
export const bytes: Schema.Codec<BytesInput, Multipart.Bytes> = /*#__PURE__*/ Schema.declare((
  value
): value is BytesInput => value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof Blob).pipe(
  /*#__PURE__*/ Schema.encodeTo(
    /*#__PURE__*/ Schema.declare(Multipart.isBytes).check(
      /*#__PURE__*/ Schema.makeFilter((bytes) => Multipart.sizeOf(bytes) > 0)
    ),
    /*#__PURE__*/ SchemaTransformation.transform({
      decode: (bytes): BytesInput => bytes,
      encode: (bytes) => Multipart.isBytes(bytes) ? bytes : new Uint8Array(bytes)
    })
  )
)
