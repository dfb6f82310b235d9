/**
 * Splits posts and queries into words, and encodes facts of posts for the index. Both use this module, so the index
 * contains only words of letters, digits, `_` and pictographs, separated by spaces, and a query cannot express anything
 * else.
 */
import type * as QueryOperators from "@postwire/core/query/QueryOperators"

/** The words of a text, folded by case and width and separated by punctuation. */
export const words = (text: string): ReadonlyArray<string> => text.normalize("NFKC").toLowerCase().match(word) ?? []

/** A fact about posts, encoded as one word of the index. */
export type Fact =
  | readonly ["is", "post" | (typeof QueryOperators.kinds)[number]]
  | readonly ["has", (typeof QueryOperators.contents)[number]]
  | readonly [
    | "from"
    | "to"
    | "mention"
    | "tag"
    | "cashtag"
    | "lang"
    | "conversation"
    // The author of a reposted post, and the targets of a repost, a quote and a reply.
    | "reposts"
    | "reposted"
    | "quoted"
    | "answered"
    | "seen",
    value: string
  ]

/** The word that encodes a fact. */
export const spell = ([kind, value]: Fact): string =>
  `${kind}_${value.normalize("NFKC").toLowerCase().replace(foreign, "_")}`

// In scripts without spaces, every character is a word, and a sequence of them a phrase.
const scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
const unspaced = `[[${scripts.map((script) => `\\p{Script=${script}}`).join("")}]&&\\p{L}]`

// Limited to the maximum query length: the regular expression engine needs stack for each character of a long run.
const word = new RegExp(
  String.raw`\p{Extended_Pictographic}|${unspaced}\p{M}{0,1024}|[[\p{L}\p{M}\p{N}_]--${unspaced}]{1,1024}`,
  "gv"
)

const foreign = /[^\p{L}\p{M}\p{N}_]/gu
