/**
 * The search language: words, "phrases", `OR`, groups, negation and operators. A query becomes an expression of the
 * full-text index in which every word is one that `Terms` made, so no query can reach the syntax of SQL or of the
 * index.
 *
 * A blank means and, and binds closer than `OR`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Terms from "./Terms.ts"

/** A query that was understood. */
export interface Query {
  readonly source: string
  /** The expression of the full-text index that finds its posts. */
  readonly match: string
  /** The expression that finds those of its posts that have a fact. */
  readonly matchWith: (...fact: Terms.Fact) => string
}

/** A query that breaks the rules of the language. */
export class QuerySyntaxError
  extends Schema.TaggedError<QuerySyntaxError>("@postwire/sandbox/query/Query/QuerySyntaxError")(
    "QuerySyntaxError",
    {
      message: Schema.String,
      /** Where the trouble starts: characters of the query before it. */
      position: Schema.Int
    }
  )
{}

/** How deep groups and negations may nest. */
export const maximumDepth = 32

/** Reads a query. Its length is for the caller to limit. */
export const parse = (source: string): Result.Result<Query, QuerySyntaxError> => {
  try {
    const node = new Parser(source).parse()
    const nodes = node._tag === "All" ? node.nodes : [node]
    return Result.succeed({
      source,
      match: toMatch(node),
      // Beside the other terms, so that the index tells from few posts whether they are left out.
      matchWith: (...besides) => toMatch({ _tag: "All", nodes: [{ _tag: "Term", match: fact(...besides) }, ...nodes] })
    })
  } catch (error) {
    if (error instanceof QuerySyntaxError) return Result.fail(error)
    throw error
  }
}

type Node =
  | { readonly _tag: "Term"; readonly match: string }
  | { readonly _tag: "All" | "Any"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Not"; readonly node: Node }

interface Token {
  readonly kind: "(" | ")" | "-" | "phrase" | "word" | "end"
  readonly text: string
  readonly position: number
}

class Parser {
  readonly #tokens: ReadonlyArray<Token>
  #next = 0

  constructor(source: string) {
    this.#tokens = tokenize(source)
  }

  parse(): Node {
    if (this.#peek().kind === "end") throw problem(0, "The query is empty")
    const node = this.#any(0)
    const rest = this.#peek()
    if (rest.kind !== "end") throw problem(rest.position, "A ) without its (")
    if (!isPositive(node)) {
      throw problem(0, "The query only says what to leave out; it needs at least one term to look for")
    }
    return node
  }

  #any(depth: number): Node {
    const nodes = [this.#all(depth)]
    while (isWord(this.#peek(), "OR")) {
      this.#next++
      nodes.push(this.#all(depth))
    }
    return nodes.length === 1 ? nodes[0]! : { _tag: "Any", nodes }
  }

  #all(depth: number): Node {
    const nodes: Array<Node> = []
    for (
      let token = this.#peek();
      token.kind !== "end" && token.kind !== ")" && !isWord(token, "OR");
      token = this.#peek()
    ) {
      nodes.push(this.#one(depth))
    }
    if (nodes.length === 0) {
      const { kind, position } = this.#peek()
      throw problem(
        position,
        kind === ")" ? "Nothing before this )" : kind === "end" ? "The query ends too early" : "Nothing before this OR"
      )
    }
    return nodes.length === 1 ? nodes[0]! : { _tag: "All", nodes }
  }

  #one(depth: number): Node {
    const token = this.#peek()
    if (depth > maximumDepth) throw problem(token.position, `Nested more than ${maximumDepth} deep`)
    this.#next++
    switch (token.kind) {
      case "-": {
        const { kind, position } = this.#peek()
        const stands = position === token.position + 1 && kind !== "-" && kind !== ")" && kind !== "end"
        if (!stands) throw problem(token.position, "A - belongs directly before what it excludes")
        return { _tag: "Not", node: this.#one(depth + 1) }
      }
      case "(": {
        const node = this.#any(depth + 1)
        if (this.#peek().kind !== ")") throw problem(token.position, "A ( without its )")
        this.#next++
        return node
      }
      case "phrase":
        return { _tag: "Term", match: phrase("text", token, token.text) }
      default:
        return { _tag: "Term", match: this.#term(token) }
    }
  }

  #term(token: Token): string {
    const { position, text } = token
    if (text === "AND") throw problem(position, "AND is no operator: terms are combined by a blank")
    if (/^[#＃]/.test(text)) {
      const tag = text.slice(1)
      if (!/^[\p{L}\p{M}\p{N}_]+$/u.test(tag)) throw problem(position, `${text} is no hashtag`)
      return fact("tag", tag)
    }
    if (text.startsWith("@")) return fact("mention", username(position, text))
    if (cashtag.test(text)) return fact("cashtag", text.slice(1))
    const [, name, written] = /^([A-Za-z_]+):(.*)$/s.exec(text) ?? []
    if (name === undefined || written === undefined) return phrase("text", token, text)
    const operator = operators[name.toLowerCase()]
    if (operator === undefined) throw problem(position, `There is no operator ${name}:`)
    let value = written
    const quoted = this.#peek()
    if (value === "" && quoted.kind === "phrase" && quoted.position === position + text.length) {
      this.#next++
      value = quoted.text
    }
    if (value === "") throw problem(position, `${name}: needs a value`)
    return operator(value, token)
  }

  #peek(): Token {
    // The last token is the end, and nothing reads past it.
    return this.#tokens[this.#next]!
  }
}

const tokenize = (source: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (const { 0: text, groups, index } of source.matchAll(lexeme)) {
    const position = index
    if (text === "(" || text === ")" || text === "-") tokens.push({ kind: text, text, position })
    else if (groups?.phrase !== undefined) tokens.push({ kind: "phrase", text: groups.phrase, position })
    else if (text === "\"") throw problem(position, "A \" without its partner")
    else tokens.push({ kind: "word", text, position })
  }
  return [...tokens, { kind: "end", text: "", position: source.length }]
}

// A dash where a term may start negates it; inside a word it is punctuation.
const lexeme = /[()-]|"(?<phrase>[^"]*)"|"|[^\s()"-][^\s()"]*/g

const cashtag = /^\$[A-Za-z]{1,6}([._][A-Za-z]{1,2})?$/

const problem = (position: number, message: string) => new QuerySyntaxError({ position, message })

const isWord = (token: Token, text: string): boolean => token.kind === "word" && token.text === text

const isPositive = (node: Node): boolean => {
  switch (node._tag) {
    case "Term":
      return true
    case "Not":
      return false
    default:
      return node.nodes.some(isPositive)
  }
}

const toMatch = (node: Node): string => {
  switch (node._tag) {
    case "Term":
      return node.match
    case "Any":
      return `(${node.nodes.map(toMatch).join(" OR ")})`
    case "Not":
      return without([], [node.node])
    case "All":
      return without(
        node.nodes.filter((child) => child._tag !== "Not"),
        node.nodes.flatMap((child) => child._tag === "Not" ? [child.node] : [])
      )
  }
}

// The index knows exclusion as a difference only, so what has no positive part is taken from all posts.
const without = (wanted: ReadonlyArray<Node>, unwanted: ReadonlyArray<Node>): string => {
  const found = wanted.length === 0 ? fact("is", "post") : `(${wanted.map(toMatch).join(" AND ")})`
  return unwanted.length === 0 ? found : `(${found} NOT (${unwanted.map(toMatch).join(" OR ")}))`
}

const fact = (...fact: Terms.Fact): string => `facts : "${Terms.spell(fact)}"`

const phrase = (column: "text" | "urls", token: Token, text: string): string => {
  const words = Terms.words(text)
  if (words.length === 0) throw problem(token.position, "Nothing here that can be searched for")
  return `${column} : "${words.join(" ")}"`
}

const username = (position: number, text: string): string => {
  const name = text.replace(/^@/, "")
  if (!/^([A-Za-z0-9_]{1,15}|[0-9]{1,19})$/.test(name)) throw problem(position, `${text} is no username`)
  return name
}

const oneOf = <A extends string>(name: string, values: ReadonlyArray<A>, value: string, position: number): A => {
  const found = values.find((known) => known === value.toLowerCase())
  if (found === undefined) throw problem(position, `${name}: knows ${values.join(", ")}, not ${value}`)
  return found
}

type Operator = (value: string, token: Token) => string

const post = (kind: "conversation" | "reposted" | "quoted" | "answered"): Operator => (value, { position }) => {
  if (!/^[0-9]{1,19}$/.test(value)) throw problem(position, `${value} is no post id`)
  return fact(kind, String(BigInt(value)))
}

/** An operator under the names of both wires. */
const alike = (names: readonly [neutral: string, x: string], operator: Operator): Readonly<Record<string, Operator>> =>
  Object.fromEntries(names.map((name) => [name, operator]))

const operators: Readonly<Record<string, Operator>> = {
  // Nothing is inherited: constructor: is an unknown operator like any other.
  __proto__: null as never,
  from: (value, { position }) => fact("from", username(position, value)),
  to: (value, { position }) => fact("to", username(position, value)),
  is: (value, { position }) => {
    const kind = oneOf("is", [...Terms.kinds, "retweet"], value, position)
    return fact("is", kind === "retweet" ? "repost" : kind)
  },
  has: (value, { position }) => fact("has", oneOf("has", Terms.contents, value, position)),
  lang: (value, { position }) => {
    if (!/^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$/.test(value)) throw problem(position, `${value} is no language code`)
    return fact("lang", value)
  },
  conversation_id: post("conversation"),
  ...alike(["reposts_of", "retweets_of"], (value, { position }) => fact("reposts", username(position, value))),
  ...alike(["reposts_of_post_id", "retweets_of_tweet_id"], post("reposted")),
  ...alike(["quotes_of_post_id", "quotes_of_tweet_id"], post("quoted")),
  ...alike(["in_reply_to_post_id", "in_reply_to_tweet_id"], post("answered")),
  url: (value, token) => phrase("urls", token, value)
}
