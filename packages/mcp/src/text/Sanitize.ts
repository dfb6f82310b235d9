/** Removes characters that a reader does not see, in which texts of strangers can hide instructions. */

/**
 * Control, format (bidi, zero-width, tags), private-use and unpaired code units, separators, letters that show nothing; then marks
 * that show nothing, and selectors of variants, which can carry bytes.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\u115F\u1160\u2800\u3164\uFFA0\u{E0000}-\u{E0FFF}]|[\u17B4\u17B5]|[\u180B-\u180F]|\u034F|[\uFE00-\uFE0F]/gu

/** The text without hidden characters, on one line: `\n` stands for the end of a line, and one space for any. */
export const sanitize = (text: string): string =>
  text.replace(/\r\n?|[\n\u2028\u2029]/g, "\\n").replace(
    hidden,
    (character) => /[\t\p{Zs}]/u.test(character) ? " " : ""
  )

/** The same text with hidden characters as escapes such as `\u{202e}`, where a user must see all of it. */
export const reveal = (text: string): string =>
  text.replace(/\r\n?|[\n\u2028\u2029]/g, "\\n").replace(
    hidden,
    (character) => character === " " ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`
  )
