/** How long the text of a post is as the service counts it, and how it is made to fit. */
import { cutter } from "./internal/truncate.ts"
import * as Weight from "./internal/weight.ts"
import { forbidden } from "./Links.ts"

/** The most that a text may have, as the service counts it, unless its author has longer posts. */
export const maximumWeight = 280

/**
 * The length of a text as the service counts it: 1 for a letter of the Latin, Greek, Cyrillic and neighbouring scripts and
 * for usual punctuation, 2 for every other character and for an emoji of however many, 23 for a link, with or without
 * `https://`. What is counted is the text in normalization form C.
 */
export const length = (text: string): number => Weight.length(text)

/** Whether a text is no longer than `maximum`. An empty one fits. */
export const fits = (text: string, maximum = maximumWeight): boolean =>
  text.length <= maximum && Weight.mostOf(text) <= maximum ||
  text.length <= maximum * Weight.unitsPerWeight && Weight.length(text, maximum) <= maximum

/** Why the service would refuse a text: it is too long, or has a character that none may have. Otherwise undefined. */
export const faultOf = (text: string, maximum = maximumWeight): string | undefined => {
  const at = text.search(forbiddenCharacter)
  if (at !== -1) return `must not have the character U+${text.charCodeAt(at).toString(16).toUpperCase()}, at ${at}`
  return fits(text, maximum) ? undefined : `must have a length of ${maximum} at most, and has ${length(text)}`
}

/** How many UTF-16 units of a text fit: up to the first character that is too much, or that no text may have. */
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
 * The longest beginning of a text that is no longer than `maximum` and ends with a word. In a word longer than that, it ends
 * with a grapheme.
 */
export const truncate = (text: string, maximum = maximumWeight): string => {
  if (fits(text, maximum)) return text
  const beginning = cutter(text, 2 * maximum)(0, maximum, false).text
  return fits(beginning, maximum) ? beginning : ""
}

/** The least that {@link split} makes parts of: the longest mention of a list, and a number, have room in it. */
export const minimumPart = 70

export interface SplitOptions {
  /** Whether each part ends with its number: `1/5`. It is counted. A text that is one part has none. */
  readonly numbered?: boolean
  /** The most that a part may have, at least 70 (default 280). */
  readonly maximum?: number
}

/**
 * Splits a text into parts that fit: after a paragraph, where that fills half of a part, else between words. Links,
 * mentions, hashtags, cashtags and emoji stay whole. A word longer than a part is cut between graphemes, or, in scripts
 * without spaces, between words. Spaces around parts are omitted; a text of nothing else has no parts.
 *
 * Throws a `RangeError` when `maximum` is less than 70.
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
  // How many there are is known when they are; until then, how many digits that has.
  for (let digits = 1;; digits++) {
    const found = parts((number) => maximum - ` ${number}/`.length - digits)
    if (String(found.length).length <= digits) return found.map((part, k) => `${part} ${k + 1}/${found.length}`)
  }
}
