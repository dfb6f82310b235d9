/** Determines the wire of a request by its path, then its query keys, then other names. */
import * as BodyLayout from "@postwire/core/schema/BodyLayout"
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import { isSelector, queryKey } from "@postwire/core/schema/Parameters"
import { positionOf, type Wire } from "@postwire/core/wire/Wire"
import type { Route, Wires } from "./Router.ts"

/** The wires compatible with path and query, the preferred one first. If no wire has all names, the first names count. */
export const ofHead = (
  { definition, wires }: Route,
  params: Readonly<Record<string, string | undefined>>,
  { searchParams }: URL
): Wires => {
  const spelt = Object.keys(definition.path ?? {}).reduce((left, name) => {
    const word = params[name]
    return word === undefined ? left : narrowed(left, (wire) => isWord(wire, definition, name, word))
  }, wires)
  const names = Object.keys(definition.query ?? {})
  const left = names.reduce((left, name) => {
    const key = queryKey(name)
    return narrowed(left, (wire) => searchParams.has(wire.queryKey(definition, key)))
  }, spelt)
  return names.reduce((left, name) => {
    const words = searchParams.get(left[0].queryKey(definition, queryKey(name)))?.split(",") ?? []
    return words.reduce((left, word) => narrowed(left, (wire) => isWord(wire, definition, name, word)), left)
  }, left)
}

/** The wires compatible with the names in a body. */
export const ofBody = (wires: Wires, definition: Definition, body: object): Wires =>
  Object.keys(definition.body ?? {}).reduce((left, name) => {
    const valueOn = (wire: Wire) => BodyLayout.lookup(body, {}, positionOf(wire, definition, name))
    const spelt = narrowed(left, (wire) => valueOn(wire) !== undefined)
    const word = valueOn(spelt[0])
    return typeof word === "string" ? narrowed(spelt, (wire) => isWord(wire, definition, name, word)) : spelt
  }, wires)

/** True if a wire knows this value of a parameter. */
const isWord = (wire: Wire, definition: Definition, parameter: string, word: string): boolean =>
  namesOf(wire, definition, parameter)?.has(word) === true

/** The known values of a parameter by their names on a wire; undefined if any value is accepted. */
export const namesOf = (
  wire: Wire,
  definition: Definition,
  parameter: string
): ReadonlyMap<string, string> | undefined => {
  const known = vocabularies.get(definition) ?? new Map<string, ReadonlyMap<string, string> | undefined>()
  vocabularies.set(definition, known)
  const key = `${wire.name} ${parameter}`
  if (!known.has(key)) known.set(key, read(wire, definition, parameter))
  return known.get(key)
}

const vocabularies = new WeakMap<Definition, Map<string, ReadonlyMap<string, string> | undefined>>()

const read = (wire: Wire, definition: Definition, name: string): ReadonlyMap<string, string> | undefined => {
  const { kind, values } = parametersOf(definition)[name] ?? {}
  if (values === undefined || (kind !== "list" && kind !== "choice")) return undefined
  const say = isSelector(name) ? wire.selector(definition, name) : undefined
  return new Map(values.flatMap((value) => {
    if (say === undefined) return [[wire.value(value), value]]
    const { expansions, names } = say(value)
    return (name === "expansions" ? expansions : names).map((word) => [word, value] as const)
  }))
}

const narrowed = (wires: Wires, spells: (wire: Wire) => boolean): Wires => {
  const [first, ...others] = wires.filter(spells)
  return first === undefined ? wires : [first, ...others]
}
