/**
 * How posts and queries are cut into words, and how the facts of a post are spelled in the index. Both sides use this
 * module, so the index holds nothing but words of letters, digits, `_` and pictographs, separated by blanks, and a
 * query can say nothing else.
 */
import type * as QueryOperators from "@postwire/core/query/QueryOperators"

/** The words of a text, folded: case and width do not matter, punctuation separates. */
export const words = (text: string): ReadonlyArray<string> => text.normalize("NFKC").toLowerCase().match(word) ?? []

/** A fact about posts, as one word of the index. */
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
    // The user whom a repost is of, and the posts that a repost, a quote and a reply are of.
    | "reposts"
    | "reposted"
    | "quoted"
    | "answered"
    | "seen",
    value: string
  ]

/** The word that stands for a fact. */
export const spell = ([kind, value]: Fact): string =>
  `${kind}_${value.normalize("NFKC").toLowerCase().replace(foreign, "_")}`

// Scripts written without blanks: every character counts as a word, and a run of them as a phrase.
const scripts = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
const unspaced = `[[${scripts.map((script) => `\\p{Script=${script}}`).join("")}]&&\\p{L}]`

// What is longer than any query is cut: the engine has a stack for each character of a run that could be shorter.
const word = new RegExp(
  String.raw`\p{Extended_Pictographic}|${unspaced}\p{M}{0,1024}|[[\p{L}\p{M}\p{N}_]--${unspaced}]{1,1024}`,
  "gv"
)

const foreign = /[^\p{L}\p{M}\p{N}_]/gu
