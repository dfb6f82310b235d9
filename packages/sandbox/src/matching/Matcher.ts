/**
 * Matches a single post against rules, like a search with the same query, except that the content of a quoted post counts
 * too. Rules are indexed by a word or fact that matching posts must have, so that a post is tested against few of a
 * thousand rules.
 */
import * as Language from "@postwire/core/query/Query"
import * as Result from "effect/Result"
import * as Conditions from "../search/Conditions.ts"
import type { Indexed } from "../store/PostIndex.ts"
import * as PostView from "./PostView.ts"
import * as Predicates from "./Predicates.ts"

export type { Lookups } from "./PostView.ts"

/** A rule of the filtered stream. */
export interface Rule {
  readonly id: string
  readonly query: Language.Query
}

/** The ids of the rules that a post matches, in the order of the rules. The post is the input of the search index. */
export type Matcher = (id: string, post: Indexed) => ReadonlyArray<string>

/** Parses a rule like the service, and rejects operators that the sandbox does not support. */
export const parse = (
  source: string,
  options: { readonly maximumLength: number }
): Result.Result<Language.Query, Language.QuerySyntaxError> =>
  Result.flatMap(Language.check(source, { dialect: "rule", ...options }), (query) => {
    const unknown = Language.terms(query.node).find((term) => Predicates.ofTerm(term) === undefined)
    return unknown === undefined ? Result.succeed(query) : Result.fail(
      new Language.QuerySyntaxError({
        source,
        message: `The sandbox does not know ${source.slice(unknown.start, unknown.end)}`,
        position: unknown.start,
        end: unknown.end
      })
    )
  })

/** Compiles rules for any number of posts. */
export const compile = (rules: Iterable<Rule>, lookups: PostView.Lookups): Matcher => {
  const byAnchor = new Map<string, Array<Compiled>>()
  const everywhere: Array<Compiled> = []
  let order = 0
  for (const { id, query: { node } } of rules) {
    const rule = { id, order: order++, holds: predicateOf(node) }
    const anchors = anchorsOf(node)
    if (anchors === undefined) everywhere.push(rule)
    for (const anchor of new Set(anchors?.keys)) {
      const rules = byAnchor.get(anchor)
      if (rules === undefined) byAnchor.set(anchor, [rule])
      else rules.push(rule)
    }
  }
  return (id, indexed) => {
    const post = PostView.make(id, indexed, lookups)
    const candidates = new Set(everywhere)
    const consider = (column: Conditions.Condition["in"], values: Iterable<string>) => {
      for (const value of values) {
        for (const rule of byAnchor.get(`${column} ${value}`) ?? []) candidates.add(rule)
      }
    }
    for (const { facts, linkWords, words } of post.contents) {
      consider("text", words)
      consider("urls", linkWords)
      consider("facts", facts)
    }
    return Array.from(candidates).filter(({ holds }) => holds(post)).sort((a, b) => a.order - b.order).map(({ id }) =>
      id
    )
  }
}

interface Compiled {
  readonly id: string
  readonly order: number
  readonly holds: Predicates.Predicate
}

const predicateOf = (node: Language.Node): Predicates.Predicate => {
  switch (node._tag) {
    case "All": {
      const parts = node.nodes.map(predicateOf)
      return (post) => parts.every((holds) => holds(post))
    }
    case "Any": {
      const parts = node.nodes.map(predicateOf)
      return (post) => parts.some((holds) => holds(post))
    }
    case "Not": {
      const holds = predicateOf(node.node)
      return (post) => !holds(post)
    }
    default:
      return Predicates.ofTerm(node) ?? (() => false)
  }
}

/** Words and facts of which every matching post has at least one, and their estimated frequency. */
interface Anchors {
  readonly keys: ReadonlyArray<string>
  readonly commonness: number
}

/** Undefined if a post may match without any. */
const anchorsOf = (node: Language.Node): Anchors | undefined => {
  switch (node._tag) {
    case "Not":
      return undefined
    case "Any": {
      const parts = node.nodes.map(anchorsOf)
      return parts.includes(undefined) ? undefined : {
        keys: parts.flatMap((part) => part?.keys ?? []),
        commonness: parts.reduce((sum, part) => sum + (part?.commonness ?? 0), 0)
      }
    }
    case "All":
      return node.nodes.map(anchorsOf).reduce(rarer, undefined)
    default: {
      const condition = Conditions.of(node)
      if (condition === undefined) return undefined
      return condition.in === "facts"
        ? { keys: [`facts ${condition.fact}`], commonness: /^(is|has|lang)_/.test(condition.fact) ? 1_000 : 1 }
        : condition.words.map((word) => ({ keys: [`${condition.in} ${word}`], commonness: 1 + 50 / word.length }))
          .reduce<Anchors | undefined>(rarer, undefined)
    }
  }
}

const rarer = (a: Anchors | undefined, b: Anchors | undefined): Anchors | undefined =>
  a === undefined || b !== undefined && b.commonness < a.commonness ? b : a
