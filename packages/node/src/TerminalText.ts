/**
 * Texts of others, for a terminal: without what steers it, and with what it would hide.
 *
 * @stability experimental
 */

/**
 * Control characters, marks of text direction, and characters that show nothing. Kept are those that others need: a joiner after a
 * letter or sign that is not ASCII, one selector of a variant after a sign, and the tags of a flag.
 */
const hidden = new RegExp(
  [
    "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ufff9-\\ufffb]",
    "(?![\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0020}-\\u{e007f}\\u{e0100}-\\u{e01ef}])\\p{Default_Ignorable_Code_Point}",
    "(?<=^|[\\0-\\x7f\\u200c\\u200d])[\\u200c\\u200d]",
    "(?<=^|[\\sA-Za-z\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]",
    "(?<!\\u{1f3f4}[\\u{e0020}-\\u{e007f}]{0,5})[\\u{e0020}-\\u{e007f}]"
  ].join("|"),
  "gu"
)

/** The text with a sign in place of each hidden character. */
export const plain = (text: string): string => text.replace(hidden, "\ufffd")

/** Equivalent JSON without hidden characters. */
export const plainJson = (json: string): string =>
  json.replace(
    hidden,
    (character) =>
      Array.from(
        { length: character.length },
        (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`
      )
        .join("")
  )

/** The text on one line, with a sign in place of each hidden character. */
export const oneLine = (text: string): string => plain(text.replace(/\s+/g, " ").trim())
