/**
 * The operators of searches and of rules of the filtered stream, as data: their values, their dialects, and how to combine them.
 * Names are Postwire's; an `alias` is the service's other name.
 */

/** The use of a query: in a search, or as a rule of the filtered stream. */
export type Dialect = "search" | "rule"

/** A range of the source in UTF-16 units, without `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** An operator with its value. The name is Postwire's. */
export interface Operation<out Name extends string = string, out Value = unknown> extends Span {
  readonly _tag: "Operation"
  readonly name: Name
  readonly value: Value
}

/** An operator. */
export interface Operator<out Name extends string = string, out Value = unknown> {
  readonly name: Name
  readonly alias?: string | undefined
  /** The posts that it finds, for lists of operators. */
  readonly finds: string
  /** The dialects that have it. */
  readonly in: ReadonlyArray<Dialect>
  /** True if a query may consist of it alone. Otherwise it must be combined with a term that may stand alone. */
  readonly standalone: boolean
  /** True if it can be negated with `-`. */
  readonly negatable: boolean
  /** The values with which it must be negated. */
  readonly onlyNegated: ReadonlyArray<string>
  /** Parses a value, or returns the error in a sentence without a full stop. */
  readonly read: (text: string, span: Span) => Operation<Name, Value> | string
}

/** Numbers from `least` to `most`, inclusive. Without `most` there is no upper limit. */
export interface Range {
  readonly least: number
  readonly most: number | undefined
}

/** A circle on the earth. */
export interface Circle {
  readonly longitude: number
  readonly latitude: number
  readonly kilometres: number
}

/** A box on the earth, by its south-western and north-eastern corners. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** A topic that the service assigns to posts. Without `entity`, any topic of the domain. */
export interface Context {
  readonly domain: string
  readonly entity: string | undefined
}

/** Parses a value, or returns the error. */
type Format<Value> = (text: string, name: string) => { readonly value: Value } | string

const format = <Value>(noun: string, read: (text: string) => Value | undefined): Format<Value> => (text) => {
  const value = read(text)
  return value === undefined ? `${text} is not a ${noun}` : { value }
}

/** True if a text contains a letter, a digit, `_` or a pictograph. */
export const hasWords = (text: string): boolean =>
  /[\p{L}\p{M}\p{N}_\p{Extended_Pictographic}]/u.test(text.normalize("NFKC"))

const words: Format<string> = (value) => hasWords(value) ? { value } : nothing

export const nothing = "Nothing to search for"

const literal: Format<string> = (value) => ({ value })

const matching = (noun: string, pattern: RegExp): Format<string> =>
  format(noun, (text) => pattern.test(text) ? text : undefined)

const username = format("username", (text) => {
  const name = text.replace(/^@/, "")
  return /^([A-Za-z0-9_]{1,15}|[0-9]{1,19})$/.test(name) ? name : undefined
})

const id = (noun: string) => format(noun, (text) => /^[0-9]{1,19}$/.test(text) ? String(BigInt(text)) : undefined)

const post = id("post id")

const language = matching("language code", /^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$/)

const number = (noun: string, least: number, most: number, pattern: RegExp) =>
  format(noun, (text) => {
    const value = pattern.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : undefined
  })

const whole = /^[0-9]{1,15}$/
const count = number("whole number", 0, Infinity, whole)
const percent = number("whole number from 1 to 100", 1, 100, whole)
const similarity = number("number from 0 to 1", 0, 1, /^([0-9]+(\.[0-9]*)?|\.[0-9]+)$/)

const range = format("number or a range such as 10..100", (text): Range | undefined => {
  const [, from, dots, to] = /^([0-9]{1,15})(?:(\.\.)([0-9]{1,15}))?$/.exec(text) ?? []
  if (from === undefined) return undefined
  const [least, most] = [Number(from), dots === undefined ? undefined : Number(to)]
  return most === undefined || least <= most ? { least, most } : undefined
})

const country = matching("two-letter country code", /^[A-Za-z]{2}$/)

const context = format("context such as 10.799022225751871488 or 47.*", (text): Context | undefined => {
  const [, domain, entity] = /^([0-9]{1,19})\.([0-9]{1,19}|\*)$/.exec(text) ?? []
  return domain === undefined ? undefined : { domain, entity: entity === "*" ? undefined : entity }
})

const numbersIn = (text: string): ReadonlyArray<number> => {
  const within = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1).trim() : ""
  return within.split(/[\s,]+/).map((part) => part === "" ? Number.NaN : Number(part))
}

const isPlace = (longitude: number, latitude: number): boolean => Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90

const circle = format("circle such as [2.355128 48.861118 16km]", (text): Circle | undefined => {
  const [, unit] = /(km|mi)\s*\]$/i.exec(text) ?? []
  const [longitude = Number.NaN, latitude = Number.NaN, radius = Number.NaN, ...rest] = numbersIn(
    text.replace(/(km|mi)\s*\]$/i, "]")
  )
  if (unit === undefined || rest.length > 0 || !isPlace(longitude, latitude) || !(radius > 0)) return undefined
  const kilometres = unit.toLowerCase() === "mi" ? radius * 1.609344 : radius
  return kilometres <= widest ? { longitude, latitude, kilometres } : undefined
})

/** The maximum radius of a circle in kilometres: 25 miles. */
const widest = 40.2336

const box = format("box such as [-105.301758 39.964069 -105.178505 40.09455]", (text): Box | undefined => {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN, ...rest] = numbersIn(text)
  const stands = rest.length === 0 && isPlace(west, south) && isPlace(east, north) && west <= east && south <= north
  return stands ? { west, south, east, north } : undefined
})

/** One of several words or their aliases. */
const choice =
  <const Value extends string>(values: ReadonlyArray<Value>, aliases: Readonly<Record<string, Value>>): Format<Value> =>
  (text, name) => {
    const asked = text.toLowerCase()
    const value = values.find((known) => known === asked) ??
      (Object.hasOwn(aliases, asked) ? aliases[asked] : undefined)
    const known = [...values, ...Object.keys(aliases)].join(", ")
    return value === undefined ? `${name}: must be one of ${known}, not ${text}` : { value }
  }

/** The values of `is:`. */
export const kinds = ["reply", "repost", "quote", "verified", "nullcast"] as const

/** The values of `has:`. */
export const contents = ["media", "images", "videos", "links", "hashtags", "cashtags", "mentions", "geo"] as const

interface Standing {
  readonly alias?: string
  readonly in?: Dialect
  readonly standalone?: boolean
  readonly negatable?: boolean
  readonly onlyNegated?: ReadonlyArray<string>
}

const operator = <const Name extends string, Value>(
  name: Name,
  format: Format<Value>,
  finds: string,
  { alias, in: only, negatable = true, onlyNegated = [], standalone = true }: Standing = {}
): Operator<Name, Value> => ({
  name,
  alias,
  finds,
  in: only === undefined ? ["search", "rule"] : [only],
  standalone,
  negatable,
  onlyNegated,
  read: (text, { end, start }) => {
    const said = format(text, name)
    return typeof said === "string" ? said : { _tag: "Operation", name, value: said.value, start, end }
  }
})

const rule = { in: "rule" } as const
const search = { in: "search" } as const
const beside = { standalone: false } as const

/** All operators of the form `name:value`. */
export const operators = [
  operator("from", username, "posts of a user"),
  operator("to", username, "replies to a user"),
  operator("reposts_of", username, "reposts of a user's posts", { alias: "retweets_of" }),
  operator("from_affiliate_of", username, "posts of affiliates of a user", rule),
  operator("to_affiliate_of", username, "replies to affiliates of a user", rule),
  operator("url", words, "links by words of their address"),
  operator("url_title", words, "links by words of the page's title", rule),
  operator("url_description", words, "links by words of the page's description", rule),
  operator("url_contains", literal, "links by a part of their address", rule),
  operator("context", context, "posts on a subject"),
  operator("entity", words, "posts on a subject, by its name"),
  operator("conversation_id", post, "posts of a conversation"),
  operator("in_reply_to_post_id", post, "replies to a post", { alias: "in_reply_to_tweet_id" }),
  operator("reposts_of_post_id", post, "reposts of a post", { alias: "retweets_of_tweet_id" }),
  operator("quotes_of_post_id", post, "quotes of a post", { ...search, alias: "quotes_of_tweet_id" }),
  operator("list", id("list id"), "posts of the members of a list", search),
  operator("bio", words, "posts by words of the author's description", rule),
  operator("bio_name", words, "posts by words of the author's name", rule),
  operator("bio_location", words, "posts by words of the author's stated location", rule),
  operator("place", words, "posts from a place, by its name or id"),
  operator("place_country", country, "posts from a country"),
  operator("point_radius", circle, "posts from within a circle"),
  operator("bounding_box", box, "posts from within a box"),
  operator("min_likes", count, "posts with at least this many likes", search),
  operator("min_replies", count, "posts with at least this many replies", search),
  operator("min_reposts", count, "posts with at least this many reposts", search),
  operator("min_followers", count, "posts of users with at least this many followers", rule),
  operator("followers_count", range, "posts by the author's number of followers", rule),
  operator("following_count", range, "posts by the number of users that the author follows", rule),
  operator("posts_count", range, "posts by the author's number of posts", { ...rule, alias: "tweets_count" }),
  operator("listed_count", range, "posts by the number of lists with the author", rule),
  operator("source", literal, "posts by the program that created them", rule),
  operator("is", choice(kinds, { retweet: "repost" }), "posts by their kind", { ...beside, onlyNegated: ["nullcast"] }),
  operator("has", choice(contents, { video_link: "videos" }), "posts by their content", beside),
  operator("lang", language, "posts in a language", beside),
  operator("sample", percent, "a percentage of posts", { ...rule, ...beside, negatable: false }),
  operator("embedding", words, "posts with a similar meaning", { ...rule, negatable: false }),
  operator("embedding_threshold", similarity, "the minimum similarity", { ...rule, ...beside })
] as const
