/** Whose words a request uses: its path tells, or else the names in its query and its body. */
import * as Body from "@postwire/core/Body"
import type { Definition } from "@postwire/core/Definition"
import { isSelector, queryKey } from "@postwire/core/Parameters"
import type { Wire } from "@postwire/core/Wire"
import * as WireNames from "@postwire/core/WireNames"
import type { Route, Wires } from "./Router.ts"

/** The wires that path and query leave; of names that no wire has together, the first ones count. */
export const ofHead = ({ definition, wires }: Route, url: URL): Wires => {
  let left = wires
  for (const name of Object.keys(definition.query ?? {})) {
    const key = queryKey(name)
    for (const spelled of new Set(wires.map((wire) => wire.queryKey(key)))) {
      const value = url.searchParams.get(spelled)
      if (value === null) continue
      left = narrowed(left, (wire) => wire.queryKey(key) === spelled)
      if (isSelector(name)) left = ofNames(left, definition, name, value)
    }
  }
  return left
}

const ofNames = (wires: Wires, definition: Definition, parameter: string, list: string): Wires =>
  list.split(",").reduce((left, word) => {
    const name = WireNames.neutralNames(parameter, word)
    return narrowed(left, (wire) => {
      const said = wire.selector(definition, parameter)?.(name)
      return said === undefined ? name === word : [...said.names, ...said.expansions].includes(word)
    })
  }, wires)

/** The wires that the names of a body leave. */
export const ofBody = (wires: Wires, definition: Definition, body: object): Wires =>
  Object.keys(definition.body ?? {}).reduce((left, name) => {
    const position = definition.at?.[name] ?? name
    return narrowed(left, (wire) => Body.lookup(body, {}, wire.bodyKey(position)) !== undefined)
  }, wires)

/** Of wires that spell a request alike, the one that is preferred. */
export const choose = (wires: Wires, preferred: WireNames.Wire = "neutral"): Wire =>
  wires.find(({ name }) => name === preferred) ?? wires[0]

const narrowed = (wires: Wires, spells: (wire: Wire) => boolean): Wires => {
  const [first, ...others] = wires.filter(spells)
  return first === undefined ? wires : [first, ...others]
}
