/**
 * The names of the service on its two wires. On the `"neutral"` wire they are those of this library (`posts`,
 * `post.fields`, `post_id`); on the `"x"` wire the word for a post is another one (`tweets`, `tweet.fields`, `tweet_id`).
 *
 * Names are translated where a name is known to stand: segments of a route template, query keys, selector values, keys
 * that a schema declares, and the members of a problem that hold names. Text, URLs, tokens, queries, identifiers and
 * everything else that is not known to be a name pass as they are, and so do names that are not in the tables.
 */
import type * as SchemaAST from "effect/SchemaAST"
import * as Model from "./Model.ts"

/** The name of a wire. */
export type Wire = "neutral" | "x"

/** Translates a route template, `/2/posts/:id/liking_users`, to the x wire. */
export const path = (template: string): string => renamePath(xNames, template)

/** Translates a route template of the x wire to neutral names. */
export const neutralPath = (template: string): string => renamePath(neutralNames, template)

/** Translates the key of a query parameter, `post.fields`, to the x wire. */
export const queryKey = (key: string): string => renameDotted(xNames, key)

/** Translates the key of a query parameter of the x wire to its neutral name. */
export const neutralQueryKey = (key: string): string => renameDotted(neutralNames, key)

/** Translates a field or expansion, `referenced_posts.id.author_id`, or a comma-separated list of them, to the x wire. */
export const selectorValue = (value: string): string => renameList(xNames, value)

/** Translates a field or expansion of the x wire, or a comma-separated list of them, to neutral names. */
export const neutralSelectorValue = (value: string): string => renameList(neutralNames, value)

/** Translates a key of a request body, `post_id`, or a dotted path of keys, to the x wire. */
export const bodyKey = (key: string): string => renameDotted(xNames, key)

/** Translates a key of a request body of the x wire, or a dotted path of keys, to neutral names. */
export const neutralBodyKey = (key: string): string => renameDotted(neutralNames, key)

/**
 * Compiles a schema (of neutral names, without transformations) into the translation of its values from the x wire. Only
 * keys that the schema declares and known values that it declares ({@link Model.known}) are renamed.
 *
 * The input is never changed. What holds nothing to rename is returned as it is. Where an object holds a key under both
 * names, both are kept as they are: neither value is lost, and what stands under the neutral name is what is read.
 */
export const toNeutral = (schema: { readonly ast: SchemaAST.AST }): (value: unknown) => unknown =>
  compile(schema.ast, "neutral") ?? unchanged

/** Compiles a schema into the translation of its values to the x wire; the inverse of {@link toNeutral}. */
export const toX = (schema: { readonly ast: SchemaAST.AST }): (value: unknown) => unknown =>
  compile(schema.ast, "x") ?? unchanged

/**
 * Translates a problem document from the x wire: the names in `parameter`, `field`, `resource_type` and the keys of
 * `parameters`, in the document itself and in its `errors`. It takes any body, for partial failures come in the `errors`
 * of a successful one.
 */
export const problemToNeutral = (document: unknown): unknown => neutralProblem(document)

/** Translates a problem document to the x wire; the inverse of {@link problemToNeutral}. */
export const problemToX = (document: unknown): unknown => xProblem(document)

type Names = ReadonlyMap<string, string>

type Rename = (value: unknown) => unknown

const invert = (names: Names): Names => new Map(Array.from(names, ([neutral, x]) => [x, neutral]))

const xNames: Names = /*#__PURE__*/ new Map([
  ["post.fields", "tweet.fields"],
  ["post_id", "tweet_id"],
  ["source_post_id", "source_tweet_id"],
  ["quote_post_id", "quote_tweet_id"],
  ["in_reply_to_post_id", "in_reply_to_tweet_id"],
  ["pinned_post_id", "pinned_tweet_id"],
  ["most_recent_post_id", "most_recent_tweet_id"],
  ["media_source_post", "media_source_tweet"],
  ["media_source_post_id", "media_source_tweet_id"],
  ["edit_history_post_ids", "edit_history_tweet_ids"],
  ["posts", "tweets"],
  ["liked_posts", "liked_tweets"],
  ["quote_posts", "quote_tweets"],
  ["referenced_posts", "referenced_tweets"],
  ["note_post", "note_tweet"],
  ["post_count", "tweet_count"],
  ["total_post_count", "total_tweet_count"],
  ["reposts", "retweets"],
  ["reposted", "retweeted"],
  ["reposted_by", "retweeted_by"],
  ["repost_count", "retweet_count"]
])
const neutralNames: Names = /*#__PURE__*/ invert(xNames)

// Members of enumerations. Apart from the names, because `post` alone is never a name.
const xValues: Names = /*#__PURE__*/ new Map([["post", "tweet"], ["reposted", "retweeted"]])
const neutralValues: Names = /*#__PURE__*/ invert(xValues)

const renamePath = (names: Names, template: string): string =>
  template.split("/").map((segment) =>
    segment.startsWith(":") ? `:${rename(names, segment.slice(1))}` : rename(names, segment)
  ).join("/")

const renameList = (names: Names, list: string): string =>
  list.includes(",") ? list.split(",").map((name) => renameDotted(names, name)).join(",") : renameDotted(names, list)

const renameDotted = (names: Names, dotted: string): string =>
  names.get(dotted) ??
    (dotted.includes(".") ? dotted.split(".").map((segment) => rename(names, segment)).join(".") : dotted)

const rename = (names: Names, name: string): string => names.get(name) ?? name

const unchanged: Rename = (value) => value

const compiled = {
  neutral: /*#__PURE__*/ new WeakMap<SchemaAST.AST, Rename | undefined>(),
  x: /*#__PURE__*/ new WeakMap<SchemaAST.AST, Rename | undefined>()
}

// `undefined` where there is nothing to rename, so that the value is not walked.
const compile = (ast: SchemaAST.AST, to: Wire): Rename | undefined => {
  const cache = compiled[to]
  if (!cache.has(ast)) cache.set(ast, compileNode(ast, to))
  return cache.get(ast)
}

const compileNode = (ast: SchemaAST.AST, to: Wire): Rename | undefined => {
  switch (ast._tag) {
    case "Objects":
      return object(ast.propertySignatures.flatMap(({ name, type }) => {
        if (typeof name !== "string") return []
        const x = rename(xNames, name)
        const inner = compile(type, to)
        if (x === name && inner === undefined) return []
        return [to === "x" ? { from: name, to: x, inner } : { from: x, to: name, inner }]
      }))
    case "Arrays":
      return array(inSequence([...ast.elements, ...ast.rest].map((item) => compile(item, to))))
    case "Union":
      return inSequence(ast.types.map((member) => compile(member, to)))
    case "Suspend":
      return (value) => (compile(ast.thunk(), to) ?? unchanged)(value)
    case "String":
      return enumeration(Model.knownValues(ast) ?? [], to)
    default:
      return undefined
  }
}

// One after the other: a member of a union leaves alone what is not of its shape.
const inSequence = (members: ReadonlyArray<Rename | undefined>): Rename | undefined => {
  const renames = members.filter((member) => member !== undefined)
  return renames.length < 2 ? renames[0] : (value) => renames.reduce((value, rename) => rename(value), value)
}

const enumeration = (known: ReadonlyArray<string>, to: Wire): Rename | undefined => {
  const values = new Map(Array.from(xValues).filter(([neutral]) => known.includes(neutral)))
  return values.size === 0 ? undefined : text(to === "x" ? values : invert(values))
}

const text = (values: Names): Rename => (value) => typeof value === "string" ? values.get(value) ?? value : value

const array = (item: Rename | undefined): Rename | undefined =>
  item && ((value) => {
    if (!Array.isArray(value)) return value
    let copy: Array<unknown> | undefined
    for (let i = 0; i < value.length; i++) {
      const renamed = item(value[i])
      if (renamed !== value[i]) (copy ??= value.slice())[i] = renamed
    }
    return copy ?? value
  })

interface Member {
  readonly from: string
  readonly to: string
  readonly inner: Rename | undefined
}

const object = (members: ReadonlyArray<Member>): Rename | undefined => {
  if (members.length === 0) return undefined
  const renamed = members.filter(({ from, to }) => from !== to)
  const byKey: ReadonlyMap<string, Member> = new Map(members.map((member) => [member.from, member]))
  return (value) => {
    if (!isObject(value)) return value
    for (let i = 0; i < renamed.length; i++) {
      if (Object.hasOwn(value, renamed[i]!.from)) return rebuild(value, byKey)
    }
    let copy: Record<string, unknown> | undefined
    for (let i = 0; i < members.length; i++) {
      const { from, inner } = members[i]!
      if (inner === undefined || !Object.hasOwn(value, from)) continue
      const member = inner(value[from])
      if (member !== value[from]) (copy ??= { ...value })[from] = member
    }
    return copy ?? value
  }
}

const rebuild = (value: Record<string, unknown>, byKey: ReadonlyMap<string, Member>): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = byKey.get(key)
    if (member === undefined || (member.to !== key && Object.hasOwn(value, member.to))) set(copy, key, value[key])
    else copy[member.to] = member.inner === undefined ? value[key] : member.inner(value[key])
  }
  return copy
}

// `JSON.parse` makes `__proto__` an own key; assigning it would set the prototype instead.
const set = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else target[key] = value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// A problem names parameters at three levels at most: the document, its `errors`, and theirs.
const problem = (names: Names, values: Names, levels = 3): Rename | undefined => {
  const name: Rename = (value) => typeof value === "string" ? renameDotted(names, value) : value
  const keys: Rename = (value) => isObject(value) ? renameKeys(names, value) : value
  const member = (key: string, inner: Rename | undefined): Member => ({ from: key, to: key, inner })
  return levels === 0 ? undefined : object([
    member("parameter", name),
    member("field", name),
    member("parameters", keys),
    member("resource_type", text(values)),
    member("errors", array(problem(names, values, levels - 1)))
  ])
}

const renameKeys = (names: Names, value: Record<string, unknown>): unknown => {
  const members = Object.keys(value).map((key): Member => ({
    from: key,
    to: renameDotted(names, key),
    inner: undefined
  }))
  return object(members.filter(({ from, to }) => from !== to))?.(value) ?? value
}

const neutralProblem = /*#__PURE__*/ problem(neutralNames, neutralValues) ?? unchanged
const xProblem = /*#__PURE__*/ problem(xNames, xValues) ?? unchanged
