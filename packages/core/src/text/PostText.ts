/** The length of a post's text as the service counts it, and ways to make it fit. */
import { cutter } from "./internal/truncate.ts"
import * as Weight from "./internal/weight.ts"
import { forbidden } from "./Links.ts"

/** The maximum length of a text, as the service counts it, except for authors with longer posts. */
export const maximumWeight = 280

/**
 * The length of a text as the service counts it: 1 for a letter of the Latin, Greek, Cyrillic and neighbouring scripts and
 * for common punctuation, 2 for every other character and for an emoji of any length, 23 for a link, with or without
 * `https://`. The text is counted in normalization form C.
 */
export const length = (text: string): number => Weight.length(text)

/** Tests whether a text is no longer than `maximum`. An empty one fits. */
export const fits = (text: string, maximum = maximumWeight): boolean =>
  text.length <= maximum && Weight.mostOf(text) <= maximum ||
  text.length <= maximum * Weight.unitsPerWeight && Weight.length(text, maximum) <= maximum

/** The reason why the service would refuse a text: its length, or a forbidden character. `undefined` if it is valid. */
export const faultOf = (text: string, maximum = maximumWeight): string | undefined => {
  const at = text.search(forbiddenCharacter)
  if (at !== -1) return `must not have the character U+${text.charCodeAt(at).toString(16).toUpperCase()}, at ${at}`
  return fits(text, maximum) ? undefined : `must have a length of ${maximum} at most, and has ${length(text)}`
}

/** The number of UTF-16 units of a text that fit: up to the first excess or forbidden character. */
export const fittingUnits = (text: string, maximum = maximumWeight): number => {
  const wrong = text.search(forbiddenCharacter)
  let sum = 0
  let fitting = 0
  Weight.each(wrong === -1 ? text : text.slice(0, wrong), (end, weight) => {
    sum += weight
    if (sum > maximum) return false
    fitting = end
    return true
  })
  return fitting
}

const forbiddenCharacter = /*#__PURE__*/ new RegExp(`[${forbidden}]`)

/**
 * The longest beginning of a text that is no longer than `maximum` and ends with a word. Within a word that is too long, it ends
 * with a grapheme.
 */
export const truncate = (text: string, maximum = maximumWeight): string => {
  if (fits(text, maximum)) return text
  const beginning = cutter(text, 2 * maximum)(0, maximum, false).text
  return fits(beginning, maximum) ? beginning : ""
}

/** The parts of a post that hold its text. */
interface Short {
  readonly text: string
  readonly note_post?: { readonly text?: string } | undefined
}

/** The compiler's advice where a post was read without `note_post`. */
type Whole<P> = "note_post" extends keyof P ? unknown : { readonly note_post: "request note_post in post_fields" }

/**
 * The whole text of a post. The service has the text of a long one in the field `note_post`, and only its beginning in `text`. A
 * post that was read without that field is an error of the compiler.
 *
 * ```ts
 * const { data: post } = await client.getPost({ id, post_fields: ["note_post"] })
 * if (post !== undefined) console.log(PostText.full(post))
 * ```
 */
export const full = <P extends Short>(post: P & Whole<P>): string => {
  const { note_post, text }: Short = post
  return note_post?.text ?? text
}

/** The minimum size of parts for {@link split}: enough for the longest mention of a list, and a number. */
export const minimumPart = 70

export interface SplitOptions {
  /** Ends each part with its number: `1/5`, which counts towards its length. A text that fits in one part gets none. */
  readonly numbered?: boolean
  /** The maximum length of a part, at least 70 (default 280). */
  readonly maximum?: number
}

/**
 * Splits a text into parts that fit: after a paragraph if that fills half of a part, otherwise between words. Links, mentions,
 * hashtags, cashtags and emoji are not split. A word longer than a part is split between graphemes or, in scripts without
 * spaces, between words. Spaces around parts are omitted; a text of nothing but spaces has no parts.
 *
 * Throws a `RangeError` if `maximum` is less than 70.
 *
 * ```ts
 * PostText.split("One. ".repeat(100), { numbered: true }) // ["One. One. ... 1/2", "One. ... 2/2"]
 * ```
 */
export const split = (text: string, options: SplitOptions = {}): ReadonlyArray<string> => {
  const { maximum = maximumWeight, numbered = false } = options
  if (!(maximum >= minimumPart)) throw new RangeError(`maximum must be at least ${minimumPart}, and is ${maximum}`)
  const whole = text.trim()
  if (whole === "") return []
  if (fits(whole, maximum)) return [whole]
  const cut = cutter(whole)
  const parts = (roomOf: (number: number) => number): ReadonlyArray<string> => {
    const parts: Array<string> = []
    for (let at = 0; at < whole.length;) {
      const part = cut(at, roomOf(parts.length + 1), true)
      parts.push(part.text)
      at = part.next
    }
    return parts
  }
  if (!numbered) return parts(() => maximum)
  // The number of parts is known only at the end; until then, only its number of digits is assumed.
  for (let digits = 1;; digits++) {
    const found = parts((number) => maximum - ` ${number}/`.length - digits)
    if (String(found.length).length <= digits) return found.map((part, k) => `${part} ${k + 1}/${found.length}`)
  }
}
