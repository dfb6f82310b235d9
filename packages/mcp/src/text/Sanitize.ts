/** Removes characters that a reader does not see, in which texts of strangers can hide instructions. */

/** Control, format, private-use and unpaired code units, separators, and whatever else shows nothing, such as selectors of variants. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** The text without hidden characters, on one line: `\n` stands for the end of a line, and one space for any. */
export const sanitize = (text: string): string =>
  text.replace(/\r\n?|[\n\u2028\u2029]/g, "\\n").replace(
    hidden,
    (character) => /[\t\p{Zs}]/u.test(character) ? " " : ""
  )

/**
 * The text on one line with escapes such as `\u{202e}` for hidden characters and those of a fence, where a user must see all of it. Two
 * texts that differ have two forms, since a backslash is an escape as well.
 */
export const reveal = (text: string): string =>
  text.replace(
    escaped,
    (character) =>
      character === "\\" ? "\\\\" : character === "\n" ? "\\n" : `\\u{${character.codePointAt(0)?.toString(16)}}`
  )

/** Hidden characters but for the space, and those that have a meaning in the form. */
const escaped = new RegExp(`(?! )${hidden.source}|[\\\\«»]`, "gu")
