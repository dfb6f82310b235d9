/**
 * Translates queries to full-text expressions. Every word is produced by `Terms`, so no query can inject syntax of SQL or
 * of the index.
 */
import * as Language from "@postwire/core/query/Query"
import * as Result from "effect/Result"
import * as Terms from "../text/Terms.ts"
import * as Conditions from "./Conditions.ts"

/** A parsed query. */
export interface Query {
  readonly source: string
  /** The full-text expression that matches its posts. */
  readonly match: string
  /** The expression that matches those of its posts that have a fact. */
  readonly matchWith: (...fact: Terms.Fact) => string
}

/** Parses a query. The caller limits its length. */
export const parse = (source: string): Result.Result<Query, Language.QuerySyntaxError> =>
  Result.flatMap(Language.parse(source, { dialect: "search" }), ({ node }) => {
    const unknown = Language.terms(node).find((term) => Conditions.of(term) === undefined)
    if (unknown !== undefined) {
      return Result.fail(
        new Language.QuerySyntaxError({
          source,
          message: `Searches of the sandbox do not know ${source.slice(unknown.start, unknown.end)}`,
          position: unknown.start,
          end: unknown.end
        })
      )
    }
    const nodes = node._tag === "All" ? node.nodes : [node]
    return Result.succeed({
      source,
      match: toMatch(node),
      // Combined with the other terms first, so that the index evaluates the exclusion for few posts.
      matchWith: (...fact) => all([having(fact)], nodes)
    })
  })

const toMatch = (node: Language.Node): string => {
  switch (node._tag) {
    case "Any":
      return `(${node.nodes.map(toMatch).join(" OR ")})`
    case "All":
      return all([], node.nodes)
    case "Not":
      return all([], [node])
    default:
      return termMatch(node)
  }
}

// The index supports exclusion only as a difference, so a query without positive terms is subtracted from all posts.
const all = (besides: ReadonlyArray<string>, nodes: ReadonlyArray<Language.Node>): string => {
  const wanted = [...besides, ...nodes.filter((node) => node._tag !== "Not").map(toMatch)]
  const unwanted = nodes.flatMap((node) => node._tag === "Not" ? [toMatch(node.node)] : [])
  const found = wanted.length === 0 ? having(["is", "post"]) : `(${wanted.join(" AND ")})`
  return unwanted.length === 0 ? found : `(${found} NOT (${unwanted.join(" OR ")}))`
}

const termMatch = (term: Language.Term): string => {
  const condition = Conditions.of(term)
  if (condition === undefined) throw new Error(`The index does not know ${term._tag}`)
  return condition.in === "facts" ? `facts : "${condition.fact}"` : `${condition.in} : "${condition.words.join(" ")}"`
}

const having = (fact: Terms.Fact): string => `facts : "${Terms.spell(fact)}"`
