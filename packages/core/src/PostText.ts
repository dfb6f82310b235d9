/** How long the text of a post is as the service counts it. */

/** The most that a text may weigh, unless its author has longer posts. */
export const maximumWeight = 280

/**
 * The weight of a text: 1 for a letter of the Latin, Greek, Cyrillic and neighbouring scripts and for usual punctuation,
 * 2 for every other character and for an emoji of however many, 23 for a link. Links are those that begin with `http://`
 * or `https://`.
 */
export const weightOf = (text: string): number => weigh(text, Infinity)

// Goes no further than the first unit beyond `enough`: a text may have millions.
const weigh = (text: string, enough: number): number => {
  let weight = 0
  for (const { 0: unit, groups } of text.normalize("NFC").matchAll(units())) {
    weight += groups?.link !== undefined ? linkWeight : groups?.emoji !== undefined || !isLight(unit) ? 2 : 1
    if (weight > enough) break
  }
  return weight
}

/** Whether a text weighs more than {@link maximumWeight}. */
export const isLong = (text: string): boolean =>
  (text.length > maximumWeight || mostOf(text) > maximumWeight) && weigh(text, maximumWeight) > maximumWeight

// Most texts need no closer look: of Latin-1 every character weighs 1, of others a code unit at most 3, as normalizing
// can make three of one; and a link of a few characters weighs more than they do.
const mostOf = (text: string): number =>
  text.length + 2 * (text.match(beyondLatin1)?.length ?? 0) + linkWeight * (text.split("://").length - 1)

/** The longest beginning of a text that weighs no more than `maximum` and ends where a word does. */
export const truncate = (text: string, maximum = maximumWeight): string => {
  let weight = 0
  let end = 0
  let word = 0
  for (const { 0: unit, groups, index } of text.matchAll(units())) {
    weight += weightOf(unit)
    if (weight > maximum) return text.slice(0, word === 0 ? end : word)
    end = index + unit.length
    if (groups?.link !== undefined || /\s/.test(text.charAt(end))) word = end
  }
  return text
}

const linkWeight = 23

const beyondLatin1 = /[^\0-\xff]/g

const source = String
  .raw`(?<link>https?:\/\/[^\s"<>\(\)\/?#.]+\.[^\s"<>\(\)]*[^\s"<>\(\).,;:!?'…])|(?<emoji>\p{RGI_Emoji})|[\s\S]`

let pattern: RegExp | undefined

// Reading it takes some 30 ms, which hardly a program needs. As a literal it would be read with this module, and would keep
// a Node that is too old from being told so.
const units = (): RegExp => pattern ??= new RegExp(source, "giv")

/** Ranges of code points, ends included. */
const light = [[0, 4351], [8192, 8205], [8208, 8223], [8242, 8247]] as const

const isLight = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0
  return light.some(([first, last]) => code >= first && code <= last)
}
