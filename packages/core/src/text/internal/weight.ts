/** The units by which the text of a post is counted: links, emoji, and characters with their marks. */
import * as Links from "../Links.ts"

const linkWeight = 23

const emojiWeight = 2

/** The maximum number of UTF-16 units per weight, even of uncomposed links. */
export const unitsPerWeight = 1000

/** An upper bound of a text's weight, which is enough for most texts. */
export const mostOf = (text: string): number =>
  // A Latin-1 character weighs 1. Any other code unit weighs 3 at most, since normalizing can turn one into three.
  text.length + 2 * (text.match(/[^\0-\xff]/g)?.length ?? 0) + linkWeight * (text.split(".").length - 1)

// Composing and ordering marks takes quadratic time, so that only a few are normalized at a time.
const marks = String.raw`[\p{M}\u1160-\u11FF]`
const someMarks = /*#__PURE__*/ new RegExp(`${marks}{1,20}`, "uy")
const manyMarks = /*#__PURE__*/ new RegExp(`${marks}{21}`, "u")
const character = /*#__PURE__*/ new RegExp(`[^]${marks}{0,20}`, "gu")

/** A text in normalization form C, except that of more than 20 consecutive marks each 20 are normalized separately. */
export const normalize = (text: string): string =>
  /[\u0300-\uffff]{21}/.test(text) && manyMarks.test(text)
    ? text.replace(character, (part) => part.normalize("NFC"))
    : text.normalize("NFC")

/** Iterates the units of a text from left to right, with their weights, until `step` stops it. */
export const each = (text: string, step: (end: number, weight: number) => boolean): void => {
  const isNormal = normalize(text) === text
  const weightOf = (unit: string) => weightOfCharacters(isNormal ? unit : unit.normalize("NFC"))
  const isLink = ({ end, start }: Links.Span): boolean => {
    if (isNormal) return true
    // Composing can end a link within.
    const link = normalize(text.slice(start, end))
    return Links.find(link)[0]?.end === link.length
  }
  let at = 0
  for (const link of [...Links.find(text).filter(isLink), { start: text.length, end: text.length }]) {
    while (at < link.start) {
      const code = text.codePointAt(at) ?? 0
      let end = at + (code > 0xffff ? 2 : 1)
      let weight: number | undefined
      const next = text.charCodeAt(end)
      if (next >= 0x300) {
        const emoji = joins(next) ? emojiEnd(text, at) : undefined
        if (emoji !== undefined) {
          end = emoji
          weight = emojiWeight
        } else {
          someMarks.lastIndex = end
          if (!/\s/.test(text.charAt(at)) && someMarks.test(text)) end = someMarks.lastIndex
        }
      }
      if (end > link.start) {
        end = link.start
        weight = undefined
      }
      weight ??= isNormal && end - at === 1 ? weightOfCharacter(code) : weightOf(text.slice(at, end))
      if (!step(end, weight)) return
      at = end
    }
    at = link.end
    if (link.end > link.start && !step(at, linkWeight)) return
  }
}

/** The length of a text, or any number above `enough`: a text may have millions of units. */
export const length = (text: string, enough = Infinity): number => {
  let sum = 0
  each(normalize(text), (_, weight) => (sum += weight) <= enough)
  return sum
}

/** Tests whether a code unit can be the second of an emoji: a joiner, a keycap, a selector, a colour or flag, a tag. */
const joins = (unit: number): boolean =>
  unit === 0x200d || unit === 0x20e3 || unit === 0xfe0f || unit === 0xd83c || unit === 0xdb40

const weightOfCharacters = (text: string): number => {
  let weight = 0
  for (const character of text) weight += weightOfCharacter(character.codePointAt(0) ?? 0)
  return weight
}

const weightOfCharacter = (code: number): number =>
  code <= 4351 || code >= 8192 && code <= 8205 || code >= 8208 && code <= 8223 || code >= 8242 && code <= 8247 ? 1 : 2

// An emoji, or up to four joined emoji.
const candidate =
  /\p{RI}\p{RI}|[#*0-9]\uFE0F?\u20E3|\p{Emoji}(?:\p{EMod}|\uFE0F|[\u{E0020}-\u{E007E}]{1,6}\u{E007F})?(?:\u200D\p{Emoji}(?:\p{EMod}|\uFE0F)?){0,3}/uy

// Emoji by their components. Flags and joined emoji must also be in the list.
const simple =
  /^(?:[#*0-9]\uFE0F?\u20E3|\p{Emoji_Modifier_Base}\p{EMod}|(?![#*0-9])(?=\p{Emoji})\P{Emoji_Presentation}\uFE0F)$/u

const composed = /\u200D|\p{RI}|\u{E007F}/u

let listed: RegExp | undefined

// As a literal it would be parsed with this module, which takes some 30 ms, and an old Node would fail on it before the version
// check reports that.
const isListed = (text: string): boolean => (listed ??= new RegExp(String.raw`^\p{RGI_Emoji}$`, "v")).test(text)

/** The end of an emoji of several characters at a position, if there is one. */
const emojiEnd = (text: string, at: number): number | undefined => {
  candidate.lastIndex = at
  let emoji = candidate.exec(text)?.[0]
  while (emoji !== undefined) {
    if (simple.test(emoji) || composed.test(emoji) && isListed(emoji)) return at + emoji.length
    const shorter = emoji.replace(last, "")
    emoji = shorter === emoji ? undefined : shorter
  }
  return undefined
}

const last = /(?:\p{EMod}|\uFE0F|\u200D\p{Emoji})$/u
