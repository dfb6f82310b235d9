/**
 * Translates queries to full-text expressions. Every word is produced by `Terms`, so no query can inject syntax of SQL or
 * of the index.
 */
import * as Language from "@postwire/core/query/Query"
import * as Result from "effect/Result"
import * as Terms from "../text/Terms.ts"
import * as Conditions from "./Conditions.ts"

/** A parsed query. Its posts match all of the wanted full-text expressions and none of the unwanted ones. */
export interface Query {
  readonly source: string
  readonly wanted: ReadonlyArray<string>
  readonly unwanted: ReadonlyArray<string>
}

/**
 * Parses a query. The caller limits its length. Without `keywordReposts`, one that looks for words finds no reposts, as on the live
 * service since May 2026.
 */
export const parse = (source: string, keywordReposts = true): Result.Result<Query, Language.QuerySyntaxError> =>
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
    const { unwanted, wanted } = split(node._tag === "All" ? node.nodes : [node])
    const isWithoutReposts = !keywordReposts && hasKeyword(node)
    return Result.succeed({
      source,
      wanted,
      unwanted: isWithoutReposts ? [...unwanted, having("is", "repost")] : unwanted
    })
  })

/** Checks whether a query looks for words of the text. */
const hasKeyword = (node: Language.Node): boolean =>
  node._tag === "Text" || ("nodes" in node && node.nodes.some(hasKeyword))

const toMatch = (node: Language.Node): string => {
  switch (node._tag) {
    case "Any":
      return `(${node.nodes.map(toMatch).join(" OR ")})`
    case "All":
      return match(split(node.nodes))
    case "Not":
      return match(split([node]))
    default:
      return termMatch(node)
  }
}

// The index supports exclusion only as a difference, so a query without positive terms is subtracted from all posts.
const split = (nodes: ReadonlyArray<Language.Node>): Omit<Query, "source"> => {
  const wanted = nodes.flatMap((node) => node._tag === "Not" ? [] : [toMatch(node)])
  return {
    wanted: wanted.length === 0 ? [having("is", "post")] : wanted,
    unwanted: nodes.flatMap((node) => node._tag === "Not" ? [toMatch(node.node)] : [])
  }
}

/**
 * The full-text expression of a query. The index would read all wanted expressions beside each other: a group with an
 * alternative that no post has makes it look for the later ones in posts that match the earlier ones only. Groups are few,
 * because the index limits their depth.
 */
export const match = ({ unwanted, wanted }: Omit<Query, "source">): string => {
  const [first = "", ...others] = wanted
  const few = others.slice(0, 3).reduce(
    (few, next, i) => i === 0 ? `(${few} AND ${next})` : `((${few} OR ${never}) AND ${next})`,
    first
  )
  const found = [few, ...others.slice(3)].join(" AND ")
  return unwanted.length === 0 ? `(${found})` : `((${found}) NOT (${unwanted.join(" OR ")}))`
}

const termMatch = (term: Language.Term): string => {
  const condition = Conditions.of(term)
  if (condition === undefined) throw new Error(`The index does not know ${term._tag}`)
  return condition.in === "facts" ? `facts : "${condition.fact}"` : `${condition.in} : "${condition.words.join(" ")}"`
}

/** The expression that matches posts with a fact. */
export const having = (...fact: Terms.Fact): string => `facts : "${Terms.spell(fact)}"`

// The words of facts have an underscore.
const never = "facts : \"never\""
