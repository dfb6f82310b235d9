/**
 * Translates between the neutral names of this library (`posts`, `post.fields`, `post_id`) and the service's own names
 * (`tweets`, `tweet_id`), of which there is one set per date.
 *
 * A name is translated only where it is known to be one: segments of a route template, query keys, selector values, keys that a
 * schema declares, and the members of a problem that contain names. Text, URLs, tokens, queries, identifiers and anything else
 * pass unchanged, and so do names that are in no table.
 */
import * as Predicate from "effect/Predicate"
import type * as SchemaAST from "effect/SchemaAST"
import type { Definition } from "../schema/Definition.ts"
import * as Model from "../schema/Model.ts"
import { february, type Names, type Vocabulary } from "./NameTables.ts"
import type { Copy, Member } from "./RenameCompiler.ts"

/** Translates a route template, `/2/posts/:id/liking_users`. */
export const path = ({ requests }: Vocabulary, template: string): string =>
  template.split("/").map((segment) =>
    segment.startsWith(":") ? `:${rename(requests, segment.slice(1))}` : rename(requests, segment)
  ).join("/")

/** Translates the key of a query parameter, `post.fields`. */
export const queryKey = ({ queries }: Vocabulary, key: string): string => renameDotted(queries, key)

/** Translates a key of a request body, `post_id`, or a dotted path of keys. */
export const bodyKey = ({ requests }: Vocabulary, key: string): string => renameDotted(requests, key)

/** Translates the name of an expansion, `referenced_posts.id.author_id`. */
export const expansion = ({ expansions, fields }: Vocabulary, name: string): string =>
  expansions.get(name) ?? renameDotted(fields, name)

/** Translates the name of a field, `note_post`. */
export const field = ({ fields }: Vocabulary, name: string): string => rename(fields, name)

/** Translates a member of an enumeration. */
export const value = ({ values }: Vocabulary, name: string): string => rename(values, name)

/** The translation of a requested name: names for the parameter itself, and names to request as expansions. */
export interface Translation {
  readonly names: ReadonlyArray<string>
  readonly expansions: ReadonlyArray<string>
  /** True if the name set has no name for it; otherwise empty lists mean that it need not be requested. */
  readonly isUnavailable: boolean
}

/** Translates a name. */
export type Selector = (name: string) => Translation

/**
 * The translation of `expansions`, or of a parameter that selects fields, for an operation. A selector for objects that the
 * operation never returns translates to nothing. A field of its own resource that needs an expansion becomes that expansion.
 */
export const selector = (
  words: Vocabulary,
  { name, result }: Pick<Definition, "name" | "result">,
  parameter: string
): Selector => {
  if (words.withoutSelectors.has(name)) return () => nothing
  const model = "model" in result ? result.model : undefined
  const isUnavailable = (name: string) => words.unavailable.has(name) || words.unavailable.has(`${model?.kind} ${name}`)
  if (parameter === "expansions") {
    return (name) => isUnavailable(name) ? unavailable : { ...nothing, expansions: [expansion(words, name)] }
  }
  const isOwn = model === undefined || model.selector === parameter
  const isIncluded = () =>
    Object.entries(model?.expansions ?? {}).some(([name, kind]) =>
      parameter === `${kind}_fields` && !isUnavailable(name)
    )
  if (!isOwn && !isIncluded()) return () => nothing
  return (name) => {
    if (isOwn ? isUnavailable(name) : words.unavailable.has(name)) return unavailable
    if (!words.expanded.has(name) || (isOwn && model !== undefined && isEmpty(model.expansions))) {
      const called = isOwn ? Model.calledOf(model?.fields[name]?.ast) : undefined
      return { ...nothing, names: [called ?? field(words, name)] }
    }
    if (isOwn) return { ...nothing, expansions: [name] }
    return words.byDefault.has(name) ? nothing : unavailable
  }
}

const isEmpty = (expansions: object): boolean => Object.keys(expansions).length === 0

const nothing: Translation = { names: [], expansions: [], isUnavailable: false }

const unavailable: Translation = { names: [], expansions: [], isUnavailable: true }

/** Tests whether a name that the service refused (a query key, a field or an expansion) has another name in the other set. */
export const isNamedDifferently = (words: Vocabulary, other: Vocabulary) => (word: string): boolean =>
  [...february.queries.keys()].some((name) =>
    ([queryKey, field] as const).some((translate) => {
      const known = translate(words, name)
      return (word === known || word.startsWith(`${known}.`)) && translate(other, name) !== known
    })
  )

/** Tests whether a body may contain names to translate: all of them contain this text, and most August bodies do not. */
export const isForeign = (text: string): boolean =>
  // Without its first letter, which is so frequent that searching for it takes eight times as long.
  text.includes("weet")

/**
 * Compiles a schema (of neutral names, without transformations) into the translation of its values from any name set. Only keys
 * that the schema declares and known values that it declares ({@link Model.known}) are renamed.
 *
 * The input is never changed, and a value without names to translate is returned itself. Where an object has a key under both
 * names, both are kept: no value is lost, and the one under the neutral name is read.
 */
export const toNeutral = (schema: { readonly ast: SchemaAST.AST }): (value: unknown) => unknown =>
  compile(schema.ast, inward) ?? unchanged

/** Compiles a schema into the translation of its values to a name set; the inverse of {@link toNeutral}. */
export const fromNeutral = (
  words: Vocabulary,
  schema: { readonly ast: SchemaAST.AST }
): (value: unknown) => unknown => compile(schema.ast, outwardOf(words)) ?? unchanged

/**
 * Translates a problem document from any name set: the names in `parameter`, `field`, `resource_type` and the keys of
 * `parameters`, in the document itself and in its `errors`. It accepts any body, since the `errors` of a successful response
 * are partial failures.
 */
export const problemToNeutral = (document: unknown): unknown => neutralProblem(document)

/** Compiles the translation of problem documents to a name set; the inverse of {@link problemToNeutral}. */
export const problemFromNeutral = (words: Vocabulary): (document: unknown) => unknown =>
  problem(new Map([...words.requests, ...words.queries]), words.values) ?? unchanged

type Rename = (value: unknown) => unknown

const invert = (names: Names): Names => new Map(Array.from(names, ([neutral, x]) => [x, neutral]))

// Where August differs from February, it uses the names of this library.
const fromFebruary: Names = /*#__PURE__*/ invert(february.fields)

const renameDotted = (names: Names, dotted: string): string =>
  names.get(dotted) ??
    (dotted.includes(".") ? dotted.split(".").map((segment) => rename(names, segment)).join(".") : dotted)

const rename = (names: Names, name: string): string => names.get(name) ?? name

const unchanged: Rename = (value) => value

/** The direction of a translation: from neutral names or to them. */
interface Direction {
  readonly names: Names
  readonly values: Names
  readonly isInward: boolean
  readonly compiled: WeakMap<SchemaAST.AST, { readonly rename: Rename | undefined }>
}

const inward: Direction = {
  names: february.members,
  values: february.values,
  isInward: true,
  compiled: /*#__PURE__*/ new WeakMap()
}

const outward = /*#__PURE__*/ new WeakMap<Vocabulary, Direction>()

const outwardOf = (words: Vocabulary): Direction => {
  let direction = outward.get(words)
  if (direction === undefined) {
    direction = { names: words.members, values: words.values, isInward: false, compiled: new WeakMap() }
    outward.set(words, direction)
  }
  return direction
}

// `undefined` if there is nothing to rename, so that the value is not traversed.
const compile = (ast: SchemaAST.AST, direction: Direction): Rename | undefined => {
  let known = direction.compiled.get(ast)
  if (known === undefined) direction.compiled.set(ast, known = { rename: compileNode(ast, direction) })
  return known.rename
}

const compileNode = (ast: SchemaAST.AST, direction: Direction): Rename | undefined => {
  switch (ast._tag) {
    case "Objects":
      return object(ast.propertySignatures.flatMap(({ name, type }) => {
        if (typeof name !== "string") return []
        const x = Model.calledOf(type) ?? rename(direction.names, name)
        const inner = compile(type, direction)
        if (x === name && inner === undefined) return []
        if (!direction.isInward) return [{ from: name, to: x, inner }]
        // A neutral name may occur too: name sets differ in which names they change.
        return [
          ...(x === name ? [] : [{ from: x, to: name, inner }]),
          ...(inner === undefined ? [] : [{ from: name, to: name, inner }])
        ]
      }))
    case "Arrays":
      return array(inSequence([...ast.elements, ...ast.rest].map((item) => compile(item, direction))))
    case "Union":
      return inSequence(ast.types.map((member) => compile(member, direction)))
    case "Suspend":
      return (value) => (compile(ast.thunk(), direction) ?? unchanged)(value)
    case "String":
      return enumeration(Model.knownValues(ast) ?? [], direction)
    default:
      return undefined
  }
}

// Applied one after the other: a member of a union does not change values of another shape.
const inSequence = (members: ReadonlyArray<Rename | undefined>): Rename | undefined => {
  const renames = members.filter((member) => member !== undefined)
  return renames.length < 2 ? renames[0] : (value) => renames.reduce((value, rename) => rename(value), value)
}

const enumeration = (known: ReadonlyArray<string>, { isInward, values }: Direction): Rename | undefined => {
  const named = new Map(Array.from(values).filter(([neutral]) => known.includes(neutral)))
  return named.size === 0 ? undefined : text(isInward ? invert(named) : named)
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

let compileCopy: ((members: ReadonlyArray<Member>) => Copy | undefined) | undefined

/** Sets the compiler of copies, `compile` of `RenameCompiler`. Without it copies are interpreted, which takes longer. */
export const compileWith = (compile: typeof compileCopy): void => {
  compileCopy = compile
}

/**
 * The most sets of keys that are compiled for one kind of object: the first ones. Objects of literals have the hidden classes of
 * those that `JSON.parse` makes, so that later code meets as few of them as without copies; a few interpreted copies would slow
 * down verification for good.
 */
const maxCompiled = 16

const object = (members: ReadonlyArray<Member>): Rename | undefined => {
  if (members.length === 0) return undefined
  const renamed = members.filter(({ from, to }) => from !== to)
  const byKey: ReadonlyMap<string, Member> = new Map(members.map((member) => [member.from, member]))
  const compiled: Array<Copy> = []
  let left = maxCompiled
  return (value) => {
    if (!Predicate.isObject(value)) return value
    for (let i = 0; i < compiled.length; i++) {
      const copy = compiled[i]!(value)
      if (copy !== undefined) return copy
    }
    for (let i = 0; i < renamed.length; i++) {
      if (!Object.hasOwn(value, renamed[i]!.from)) continue
      const copied = copiedFrom(value, byKey)
      const copy = compileCopy !== undefined && left-- > 0 ? compileCopy(copied) : undefined
      if (copy === undefined) return rebuild(value, copied)
      compiled.push(copy)
      return copy(value) ?? rebuild(value, copied)
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

const copiedFrom = (value: object, byKey: ReadonlyMap<string, Member>): ReadonlyArray<Member> =>
  Object.keys(value).map((key) => {
    const member = byKey.get(key)
    return member === undefined || (member.to !== key && Object.hasOwn(value, member.to))
      ? { from: key, to: key, inner: undefined }
      : member
  })

const rebuild = (value: Record<string, unknown>, members: ReadonlyArray<Member>): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  for (const { from, inner, to } of members) set(copy, to, inner === undefined ? value[from] : inner(value[from]))
  return copy
}

// `JSON.parse` makes `__proto__` an own key; assigning it would set the prototype instead.
const set = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else target[key] = value
}

// A problem names parameters on at most three levels: the document, its `errors`, and theirs.
const problem = (names: Names, values: Names, levels = 3): Rename | undefined => {
  const name: Rename = (value) => typeof value === "string" ? renameDotted(names, value) : value
  const keys: Rename = (value) => Predicate.isObject(value) ? renameKeys(names, value) : value
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
  const renamed = new Map(
    Object.keys(value).flatMap((from) => {
      const to = renameDotted(names, from)
      return to === from ? [] : [[from, { from, to, inner: undefined }]]
    })
  )
  return renamed.size === 0 ? value : rebuild(value, copiedFrom(value, renamed))
}

const neutralProblem = /*#__PURE__*/ problem(fromFebruary, /*#__PURE__*/ invert(february.values)) ?? unchanged
