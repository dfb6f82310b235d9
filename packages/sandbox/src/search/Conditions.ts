/** Translates query terms to conditions on the words and facts in the index. */
import type * as Query from "@postwire/core/query/Query"
import * as Terms from "../text/Terms.ts"

/** A phrase in a column of the index, or an encoded fact. */
export type Condition =
  | { readonly in: "text" | "urls"; readonly words: ReadonlyArray<string> }
  | { readonly in: "facts"; readonly fact: string }

/** The condition of a term; undefined if the index does not support it. */
export const of = (term: Query.Term): Condition | undefined => {
  switch (term._tag) {
    case "Text":
      return term.within === undefined ? { in: "text", words: Terms.words(term.text) } : undefined
    case "Hashtag":
      return fact("tag", term.name)
    case "Cashtag":
      return fact("cashtag", term.name)
    case "Mention":
      return fact("mention", term.name)
  }
  switch (term.name) {
    case "from":
    case "to":
    case "lang":
      return fact(term.name, term.value)
    case "is":
      return fact("is", term.value)
    case "has":
      return fact("has", term.value)
    case "conversation_id":
      return fact("conversation", term.value)
    case "reposts_of":
      return fact("reposts", term.value)
    case "reposts_of_post_id":
      return fact("reposted", term.value)
    case "quotes_of_post_id":
      return fact("quoted", term.value)
    case "in_reply_to_post_id":
      return fact("answered", term.value)
    case "url":
      return { in: "urls", words: Terms.words(term.value) }
    default:
      return undefined
  }
}

const fact = (...fact: Terms.Fact): Condition => ({ in: "facts", fact: Terms.spell(fact) })
