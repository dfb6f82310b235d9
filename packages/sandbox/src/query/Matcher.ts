/**
 * Which rules a post matches, told from the post alone: what a search for the same would find, but that the text of a quoted post
 * counts too. Rules are compiled once, and found again by a word or fact that a post must have to match them, so that of a thousand
 * rules a post is asked about the few that could match.
 */
import type * as Query from "@postwire/core/Query"
import type * as Attachments from "../store/Attachments.ts"
import type { Indexed } from "../store/PostIndex.ts"
import type * as Users from "../store/Users.ts"

/** A rule of the filtered stream. */
export interface Rule {
  readonly id: string
  readonly query: Query.Query
}

/** A post as rules see it: what the index was given of it, and what is looked up only for rules that ask for it. */
export interface Subject {
  readonly id: string
  readonly indexed: Indexed
  /** The post that it quotes, unless that is gone or not public. */
  readonly quoted?: (() => Pick<Indexed, "post" | "entities"> | undefined) | undefined
  readonly author?: (() => Users.User | undefined) | undefined
  readonly place?: (() => Attachments.Place | undefined) | undefined
}

/** The ids of the rules that a post matches, in the order of the rules. */
export type Matcher = (post: Subject) => ReadonlyArray<string>
