/** Removes characters that a reader does not see, in which texts of strangers can hide instructions. */

/**
 * Control, format (bidi, zero-width, tags), private-use and unpaired code units; separators of lines and paragraphs; letters that
 * show nothing; and selectors of variants, which can carry bytes.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{034F}\u{115F}\u{1160}\u{17B4}\u{17B5}\u{180B}-\u{180F}\u{2800}\u{3164}\u{FFA0}\u{FE00}-\u{FE0F}\u{E0000}-\u{E0FFF}]/gu

/** The text without hidden characters, on one line: `\n` stands for the end of a line. */
export const sanitize = (text: string): string =>
  text.replace(/\r\n?|[\n\u2028\u2029]/g, "\\n").replaceAll("\t", " ").replace(hidden, "")
