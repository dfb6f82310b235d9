/** The arguments of a call of twitter-api-v2 as the parameters of an operation. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import { february } from "@postwire/core/wire/NameTables"
import { bare, child, children, type Edit, nameOf, type Node } from "./Program.ts"

const neutral: ReadonlyMap<string, string> = new Map(Array.from(february.fields, ([here, there]) => [there, here]))

/** The name of a field here: `note_post` for `note_tweet`. */
export const fieldOf = (name: string): string => neutral.get(name) ?? name

/** Names of fields that are others here. */
export const isRenamed = (name: string): boolean => neutral.has(name) && name !== "tweet"

const dotted = (path: string): string => neutral.get(path) ?? path.split(".").map(fieldOf).join(".")

export const definitionOf = (operation: Name): Definition => catalogue[operation].definition

/** The parameter for a key of an options object: `post_fields` for `tweet.fields`, `media_ids` for `media.media_ids`. */
const parameterOf = (definition: Definition, path: string): string | undefined => {
  const words = dotted(path)
  const placed = Object.entries(definition.at ?? {}).find(([, place]) => place === words)?.[0]
  const name = placed ?? (words.endsWith(".fields") ? words.replace(".", "_") : words)
  return Object.hasOwn(parametersOf(definition), name) ? name : undefined
}

const keyOf = (property: Node): string | undefined =>
  property["computed"] === true ? undefined : nameOf(child(property, "key"))

/** Tests whether a property has no counterpart here, where each operation with pages has both forms. */
const isDropped = (property: Node): boolean => keyOf(property) === "asPaginator"

/** The properties of an object that stay. */
export const keptOf = (object: Node): ReadonlyArray<Node> =>
  children(object, "properties").filter((property) => !isDropped(property))

/** The values of selectors as a list of names: texts with commas are lists, too. `undefined` if they are not literals. */
const selected = (value: Node | undefined): ReadonlyArray<Edit> | undefined => {
  const literal = bare(value)
  const text = nameOf(literal)
  if (literal?.type === "StringLiteral" && text !== undefined) {
    const names = text.split(",").map((name) => JSON.stringify(dotted(name.trim())))
    return [{ start: literal.start, end: literal.end, text: `[${names.join(", ")}]` }]
  }
  if (literal?.type !== "ArrayExpression") return undefined
  const edits: Array<Edit> = []
  for (const element of children(literal, "elements")) {
    const name = element.type === "StringLiteral" ? nameOf(element) : undefined
    if (name === undefined) return undefined
    // The quotes stay.
    if (dotted(name) !== name) edits.push({ start: element.start + 1, end: element.end - 1, text: dotted(name) })
  }
  return edits
}

/** Edits of an object literal, or the key that has no parameter here. */
export const rename = (
  definition: Definition,
  object: Node,
  text: string,
  prefix = ""
): { readonly edits: ReadonlyArray<Edit> } | { readonly unknown: string } => {
  const edits: Array<Edit> = []
  const properties = children(object, "properties")
  for (const property of properties) {
    const own = keyOf(property)
    const key = child(property, "key")
    const value = child(property, "value")
    if (property.type !== "ObjectProperty" || own === undefined || key === undefined || value === undefined) {
      return { unknown: text.slice(property.start, property.end) }
    }
    if (isDropped(property)) {
      const before = properties[properties.indexOf(property) - 1]
      edits.push(
        before === undefined
          ? { start: property.start, end: afterComma(text, property.end), text: "" }
          : { start: before.end, end: property.end, text: "" }
      )
      continue
    }
    const path = `${prefix}${own}`
    const isGroup = value.type === "ObjectExpression" &&
      Object.values(definition.at ?? {}).some((place) => place.startsWith(`${dotted(path)}.`))
    const inner = isGroup ? rename(definition, value, text, `${path}.`) : undefined
    if (inner !== undefined) {
      if ("unknown" in inner) return inner
      const within = children(value, "properties")
      const [first, last] = [within[0], within.at(-1)]
      if (first === undefined || last === undefined) return { unknown: own }
      edits.push(
        { start: property.start, end: first.start, text: "" },
        ...inner.edits,
        { start: last.end, end: property.end, text: "" }
      )
      continue
    }
    const name = parameterOf(definition, path)
    if (name === undefined) return { unknown: path }
    if (property["shorthand"] === true) {
      if (name !== own) edits.push({ start: property.start, end: property.end, text: `${name}: ${own}` })
    } else if (name !== own) edits.push({ start: key.start, end: key.end, text: name })
    if (name.endsWith("_fields") || name === "expansions") {
      const values = selected(value)
      if (values === undefined) return { unknown: `${path} that is not a list of texts` }
      edits.push(...values)
    }
  }
  return { edits }
}

const afterComma = (text: string, end: number): number => {
  const [comma] = /^\s*,[ \t]*/.exec(text.slice(end)) ?? [""]
  return end + comma.length
}
