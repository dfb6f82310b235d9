/**
 * Parses the language of searches and of rules of the filtered stream: words, "phrases", `OR`, groups, negation and operators. Each
 * node of the tree has its position. A space means AND and binds more tightly than `OR`.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { closestMatch } from "leven"
import type { Dialect, Span } from "./QueryOperators.ts"
import * as Operators from "./QueryOperators.ts"

export type { Box, Circle, Context, Dialect, Range, Span } from "./QueryOperators.ts"

/** A parsed query. */
export interface Query {
  readonly source: string
  readonly dialect: Dialect
  readonly node: Node
}

/** A part of a query. */
export type Node = Term | Not | All | Any

/** A conjunction. */
export interface All extends Span {
  readonly _tag: "All"
  readonly nodes: ReadonlyArray<Node>
}

/** A disjunction. */
export interface Any extends Span {
  readonly _tag: "Any"
  readonly nodes: ReadonlyArray<Node>
}

/** A negation. */
export interface Not extends Span {
  readonly _tag: "Not"
  readonly node: Node
}

/** A leaf of the tree. */
export type Term = Text | Sign | Operation

/** Consecutive words: one word, a word with punctuation in it, or a phrase in quotes. */
export interface Text extends Span {
  readonly _tag: "Text"
  readonly text: string
  readonly isQuoted: boolean
  /** The words may be in any order, with at most this many others between them: `"social media"~5`. */
  readonly within?: number | undefined
}

/** A hashtag, cashtag or mention, without its prefix. */
export interface Sign extends Span {
  readonly _tag: "Hashtag" | "Cashtag" | "Mention"
  readonly name: string
}

/** An operator with its value. The name is Postwire's. */
export type Operation = Exclude<ReturnType<(typeof Operators.operators)[number]["read"]>, string>

/** All terms of a node in the order of the source, including negated ones. */
export const terms = (node: Node): ReadonlyArray<Term> =>
  node._tag === "Not" ? terms(node.node) : "nodes" in node ? node.nodes.flatMap(terms) : [node]

/**
 * The normal form of a node as a string. It is equal for nodes that differ only in spaces, redundant groups, the case of letters or
 * aliases of operators. Other equivalent queries may have different normal forms.
 */
export const meaningOf = (node: Node): string => {
  switch (node._tag) {
    case "All":
    case "Any":
      return `${node._tag}(${node.nodes.map(meaningOf).join(" ")})`
    case "Not":
      return `-${meaningOf(node.node)}`
    case "Text":
      return `${JSON.stringify(node.text.toLowerCase())}${node.isQuoted ? "!" : ""}${node.within ?? ""}`
    case "Operation":
      return `${node.name}:${JSON.stringify(node.value).toLowerCase()}`
    default:
      return `${node._tag}:${node.name.toLowerCase()}`
  }
}

/** A query or a rule has a syntax error. Nothing was sent. */
export class QuerySyntaxError extends Data.TaggedError("QuerySyntaxError")<{
  readonly source: string
  /** The error and what is expected, in a sentence without a full stop. */
  readonly message: string
  /** The start of the error, in UTF-16 units of the source. */
  readonly position: number
  readonly end: number
}> {}

/** Options of parsing. */
export interface Options {
  readonly dialect: Dialect
}

/** The maximum nesting of groups and negations. */
export const maximumDepth = 32

/**
 * Parses a query. It does not apply the service's further rules, which `check` does, and does not limit the length.
 */
export const parse = (source: string, { dialect }: Options): Result.Result<Query, QuerySyntaxError> => {
  try {
    return Result.succeed({ source, dialect, node: new Parser(source, dialect).parse() })
  } catch (error) {
    if (error instanceof QuerySyntaxError) return Result.fail(error)
    throw error
  }
}

/** Options of a check. */
export interface CheckOptions extends Options {
  /** The maximum length in characters. Default: that of the highest access level, 4,096 for searches and 2,048 for rules. */
  readonly maximumLength?: number | undefined
}

/** The maximum length of a query at the highest access level, by dialect. */
export const maximumLength: Readonly<Record<Dialect, number>> = { search: 4_096, rule: 2_048 }

/**
 * Parses a query and checks the service's further rules: it must contain a term that may stand alone, no group or operator may be
 * negated that cannot be, and its length is limited.
 *
 * ```ts
 * Query.check("cat has:images", { dialect: "rule" })
 * ```
 */
export const check = (
  source: string,
  { dialect, maximumLength: most = maximumLength[dialect] }: CheckOptions
): Result.Result<Query, QuerySyntaxError> => {
  const length = Array.from(source).length
  if (length > most) {
    const start = Array.from(source).slice(0, most).join("").length
    return Result.fail(
      new QuerySyntaxError({
        source,
        message: `A ${nouns[dialect]} has at most ${most.toLocaleString("en")} characters, not ${
          length.toLocaleString("en")
        }`,
        position: start,
        end: source.length
      })
    )
  }
  return Result.flatMap(parse(source, { dialect }), (query) => {
    const problem = refusal(query)
    return problem === undefined ? Result.succeed(query) : Result.fail(problem)
  })
}

const nouns: Readonly<Record<Dialect, string>> = { search: "query", rule: "rule" }

/** The violation of the service's rules in a parsed query, if any. */
const refusal = ({ dialect, node, source }: Query): QuerySyntaxError | undefined => {
  const wrong = misplaced(node, false)
  if (wrong !== undefined) return problemIn(source)(...wrong)
  if (holdsAlone(node)) return undefined
  const noun = nouns[dialect]
  return problemIn(source)(
    firstWanted(node) ?? node,
    `This matches too much for a ${noun}: combine it with a word, a user or a hashtag`
  )
}

/** A node that is negated but cannot be, or that must be negated but is not. */
const misplaced = (node: Node, isNegated: boolean): readonly [Span, string] | undefined => {
  switch (node._tag) {
    case "Not":
      return node.node._tag === "All" || node.node._tag === "Any" || node.node._tag === "Not"
        ? [node, "A group cannot be negated: put a - before each of its parts"]
        : misplaced(node.node, true)
    case "All":
    case "Any":
      return firstOf(node.nodes, (child) => misplaced(child, false))
    case "Operation": {
      const operator = declarations.get(node.name)
      if (isNegated && operator?.negatable === false) return [node, `${node.name}: cannot be negated`]
      return !isNegated && operator?.onlyNegated.includes(String(node.value)) === true
        ? [node, `${node.name}:${String(node.value)} must be negated: -${node.name}:${String(node.value)}`]
        : undefined
    }
    default:
      return undefined
  }
}

const firstOf = <A, B>(values: ReadonlyArray<A>, of: (value: A) => B | undefined): B | undefined => {
  for (const value of values) {
    const found = of(value)
    if (found !== undefined) return found
  }
  return undefined
}

const holdsAlone = (node: Node): boolean => {
  switch (node._tag) {
    case "Not":
      return false
    case "All":
    case "Any":
      return node.nodes.some(holdsAlone)
    case "Operation":
      return declarations.get(node.name)?.standalone === true
    default:
      return true
  }
}

const firstWanted = (node: Node): Term | undefined =>
  node._tag === "Not" ? undefined : "nodes" in node ? firstOf(node.nodes, firstWanted) : node

const declarations: ReadonlyMap<string, (typeof Operators.operators)[number]> = new Map(
  Operators.operators.flatMap((operator) =>
    [operator.name, operator.alias ?? operator.name].map((name) => [name, operator] as const)
  )
)

type Fail = (span: Span, message: string) => QuerySyntaxError

const problemIn = (source: string): Fail => ({ end, start }, message) =>
  new QuerySyntaxError({ source, message, position: start, end })

interface Token extends Span {
  readonly kind: "(" | ")" | "-" | "phrase" | "word" | "end"
  readonly text: string
}

class Parser {
  readonly #dialect: Dialect
  readonly #noun: string
  readonly #problem: Fail
  readonly #tokens: ReadonlyArray<Token>
  #next = 0

  constructor(source: string, dialect: Dialect) {
    this.#dialect = dialect
    this.#noun = nouns[dialect]
    this.#problem = problemIn(source)
    this.#tokens = tokenize(source, this.#problem)
  }

  parse(): Node {
    if (this.#peek().kind === "end") throw this.#problem({ start: 0, end: 0 }, `The ${this.#noun} is empty`)
    const node = this.#any(0)
    const rest = this.#peek()
    if (rest.kind !== "end") throw this.#problem(rest, "This ) has no (")
    if (isPositive(node)) return node
    throw this.#problem(
      { start: 0, end: node.end },
      `The ${this.#noun} only excludes posts; it needs at least one term to search for`
    )
  }

  #any(depth: number): Node {
    const first = this.#all(depth)
    const rest: Array<Node> = []
    while (isWord(this.#peek(), "OR")) {
      this.#next++
      rest.push(this.#all(depth))
    }
    return joined("Any", first, rest)
  }

  #all(depth: number): Node {
    const token = this.#peek()
    if (endsTerms(token)) {
      throw this.#problem(
        token,
        token.kind === ")"
          ? "A term is missing before this )"
          : token.kind === "end"
          ? `The ${this.#noun} ends too early`
          : "A term is missing before this OR"
      )
    }
    const first = this.#one(depth)
    const rest: Array<Node> = []
    while (!endsTerms(this.#peek())) rest.push(this.#one(depth))
    return joined("All", first, rest)
  }

  #one(depth: number): Node {
    const token = this.#take()
    if (depth > maximumDepth) throw this.#problem(token, `Nested more than ${maximumDepth} deep`)
    switch (token.kind) {
      case "-": {
        const { kind, start } = this.#peek()
        const stands = start === token.end && kind !== "-" && kind !== ")" && kind !== "end"
        if (!stands) throw this.#problem(token, "A - must stand directly before the term that it excludes")
        const node = this.#one(depth + 1)
        return { _tag: "Not", node, start: token.start, end: node.end }
      }
      case "(": {
        const node = this.#any(depth + 1)
        const { end, kind } = this.#peek()
        if (kind !== ")") throw this.#problem(token, "This ( has no )")
        this.#next++
        return { ...node, start: token.start, end }
      }
      case "phrase":
        return this.#phrase(token)
      default:
        return this.#term(token)
    }
  }

  #phrase({ end, start, text }: Token): Term {
    const distance = this.#peek()
    if (this.#dialect === "search" || distance.start !== end || !distance.text.startsWith("~")) {
      return this.#text({ text, start, end }, true)
    }
    this.#next++
    const within = Number(/^~([1-6])$/.exec(distance.text)?.[1] ?? Number.NaN)
    if (Number.isNaN(within)) throw this.#problem(distance, "A ~ after a phrase needs a number from 1 to 6")
    return { ...this.#text({ text, start, end: distance.end }, true), within }
  }

  #text({ end, start, text }: Span & { readonly text: string }, isQuoted: boolean): Text {
    if (!Operators.hasWords(text)) throw this.#problem({ start, end }, Operators.nothing)
    return { _tag: "Text", text, isQuoted, start, end }
  }

  #term(token: Token): Term {
    const { end, start, text } = token
    if (text === "AND") throw this.#problem(token, "AND is not an operator: separate terms with spaces")
    if (/^[#＃]/.test(text)) {
      const name = text.slice(1)
      if (!/^[\p{L}\p{M}\p{N}_]+$/u.test(name)) throw this.#problem(token, `${text} is not a hashtag`)
      return { _tag: "Hashtag", name, start, end }
    }
    if (text.startsWith("@")) {
      const name = text.slice(1)
      if (!/^([A-Za-z0-9_]{1,15}|[0-9]{1,19})$/.test(name)) throw this.#problem(token, `${text} is not a username`)
      return { _tag: "Mention", name, start, end }
    }
    if (cashtag.test(text)) return { _tag: "Cashtag", name: text.slice(1), start, end }
    const [, name, written] = /^([A-Za-z_]+):(.*)$/s.exec(text) ?? []
    return name === undefined || written === undefined
      ? this.#text(token, false)
      : this.#operation(token, name, written)
  }

  #operation({ end, start }: Token, name: string, written: string): Term {
    const sign = { start, end: start + name.length + 1 }
    const operator = declarations.get(name.toLowerCase())
    if (operator === undefined) throw this.#problem(sign, unknown(name, this.#dialect))
    if (!operator.in.some((dialect) => dialect === this.#dialect)) {
      throw this.#problem(
        sign,
        this.#dialect === "search"
          ? `${name}: is only available in rules of the filtered stream`
          : `${name}: is only available in searches`
      )
    }
    let value: Span & { readonly text: string } = { text: written, start: sign.end, end }
    const quoted = this.#peek()
    if (written === "" && quoted.kind === "phrase" && quoted.start === end) {
      this.#next++
      value = quoted
    }
    if (value.text === "") throw this.#problem(sign, `${name}: needs a value`)
    const term = operator.read(value.text, { start, end: value.end })
    if (typeof term === "string") throw this.#problem(value, term)
    return term
  }

  #take(): Token {
    const token = this.#peek()
    this.#next++
    return token
  }

  #peek(): Token {
    // The last token is the end, and nothing reads past it.
    return this.#tokens[this.#next]!
  }
}

const unknown = (name: string, dialect: Dialect): string => {
  const known = Operators.operators.filter((operator) => operator.in.some((other) => other === dialect))
  const names = known.flatMap(({ alias, name }) => alias === undefined ? [name] : [name, alias])
  const meant = closestMatch(name.toLowerCase(), names, { maxDistance: Math.min(2, Math.max(0, name.length - 2)) })
  return `${name}: is not an operator${meant === undefined ? "" : ` (did you mean ${meant}:?)`}`
}

const tokenize = (source: string, problem: Fail): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (const { 0: text, groups, index: start } of source.matchAll(lexeme)) {
    const span = { start, end: start + text.length }
    if (text === "(" || text === ")" || text === "-") tokens.push({ kind: text, text, ...span })
    else if (groups?.["phrase"] !== undefined) tokens.push({ kind: "phrase", text: groups["phrase"], ...span })
    else if (text === "\"") throw problem({ start, end: source.length }, "This \" has no partner")
    else tokens.push({ kind: "word", text, ...span })
  }
  return [...tokens, { kind: "end", text: "", start: source.length, end: source.length }]
}

// A dash at the start of a term negates it. Inside a word it is punctuation. Values in brackets contain spaces.
const lexeme = /[()-]|"(?<phrase>[^"]*)"|"|[A-Za-z_]+:\[[^\]"()]*\]|[^\s()"-][^\s()"]*/g

const cashtag = /^\$[A-Za-z]{1,6}([._][A-Za-z]{1,2})?$/

const isWord = (token: Token, text: string): boolean => token.kind === "word" && token.text === text

const endsTerms = (token: Token): boolean => token.kind === "end" || token.kind === ")" || isWord(token, "OR")

const joined = (_tag: "All" | "Any", first: Node, rest: ReadonlyArray<Node>): Node => {
  const last = rest.at(-1)
  return last === undefined ? first : { _tag, nodes: [first, ...rest], start: first.start, end: last.end }
}

const isPositive = (node: Node): boolean => {
  switch (node._tag) {
    case "Not":
      return false
    case "All":
    case "Any":
      return node.nodes.some(isPositive)
    default:
      return true
  }
}
