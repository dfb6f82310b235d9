/** What the text of a post is counted by: links, emoji, and characters with their marks. */
import * as Links from "../Links.ts"

const linkWeight = 23

const emojiWeight = 2

/** No link has more units for what it weighs, be they not composed. */
export const unitsPerWeight = 1000

/** Most texts need no closer look: this is what a text weighs at most. */
export const mostOf = (text: string): number =>
  // Of Latin-1 every character weighs 1. Of others a code unit weighs 3 at most, as normalizing can make three of one.
  text.length + 2 * (text.match(/[^\0-\xff]/g)?.length ?? 0) + linkWeight * (text.split(".").length - 1)

// Composed and ordered, which takes quadratic time: so never more than a few at once.
const marks = String.raw`[\p{M}\u1160-\u11FF]`
const someMarks = /*#__PURE__*/ new RegExp(`${marks}{1,20}`, "uy")
const manyMarks = /*#__PURE__*/ new RegExp(`${marks}{21}`, "u")
const character = /*#__PURE__*/ new RegExp(`[^]${marks}{0,20}`, "gu")

/** A text in normalization form C, save that of more than 20 marks in a row each 20 are normalized. */
export const normalize = (text: string): string =>
  /[\u0300-\uffff]{21}/.test(text) && manyMarks.test(text)
    ? text.replace(character, (part) => part.normalize("NFC"))
    : text.normalize("NFC")

/** Goes through the units of a text from left to right, with what each weighs, for as long as `step` wants more. */
export const each = (text: string, step: (end: number, weight: number) => boolean): void => {
  const isNormal = normalize(text) === text
  const weightOf = (unit: string) => weightOfCharacters(isNormal ? unit : unit.normalize("NFC"))
  let at = 0
  for (const link of [...Links.find(text), { start: text.length, end: text.length }]) {
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

/** The length of a text, or more than `enough`: a text may have millions of units. */
export const length = (text: string, enough = Infinity): number => {
  let sum = 0
  each(normalize(text), (_, weight) => (sum += weight) <= enough)
  return sum
}

/** Whether a code unit can be the second of an emoji: a joiner, a keycap, a selector, a colour or flag, a tag. */
const joins = (unit: number): boolean =>
  unit === 0x200d || unit === 0x20e3 || unit === 0xfe0f || unit === 0xd83c || unit === 0xdb40

const weightOfCharacters = (text: string): number => {
  let weight = 0
  for (const character of text) weight += weightOfCharacter(character.codePointAt(0) ?? 0)
  return weight
}

const weightOfCharacter = (code: number): number =>
  code <= 4351 || code >= 8192 && code <= 8205 || code >= 8208 && code <= 8223 || code >= 8242 && code <= 8247 ? 1 : 2

// An emoji, or several that are joined: at most four are.
const candidate =
  /\p{RI}\p{RI}|[#*0-9]\uFE0F?\u20E3|\p{Emoji}(?:\p{EMod}|\uFE0F|[\u{E0020}-\u{E007E}]{1,6}\u{E007F})?(?:\u200D\p{Emoji}(?:\p{EMod}|\uFE0F)?){0,3}/uy

// By what they are made of. Of flags, and of what is joined, only those are emoji that are listed.
const simple =
  /^(?:[#*0-9]\uFE0F?\u20E3|\p{Emoji_Modifier_Base}\p{EMod}|(?![#*0-9])(?=\p{Emoji})\P{Emoji_Presentation}\uFE0F)$/u

const composed = /\u200D|\p{RI}|\u{E007F}/u

let listed: RegExp | undefined

// As a literal it would be read with this module, and would keep a Node that is too old from being told so. Reading it takes
// some 30 ms.
const isListed = (text: string): boolean => (listed ??= new RegExp(String.raw`^\p{RGI_Emoji}$`, "v")).test(text)

/** Where an emoji of several characters ends that begins at a position, if one does. */
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
