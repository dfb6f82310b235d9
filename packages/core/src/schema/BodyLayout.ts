/** Flat parameters to a nested JSON body and back, from one table of positions that client and sandbox share. */

/** The positions of body parameters: `{ media_ids: "media.media_ids" }`; a number is an array index. */
export type Positions = Readonly<Record<string, string>>

interface Node {
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const stepsOf = (at: Positions, name: string): ReadonlyArray<string> =>
  ((Object.hasOwn(at, name) ? at[name] : undefined) ?? name).split(".")

/** Sets a value at its position and creates the objects and arrays on the way. */
export const insert = (body: Node, at: Positions, name: string, value: unknown): void => {
  const [first = "", ...rest] = stepsOf(at, name)
  let node = body
  let step = first
  for (const next of rest) {
    const inner = node[step] ??= next === "0" ? [] : {}
    if (!isNode(inner)) throw new TypeError(`${name}: its position is inside a value that is not an object`)
    node = inner
    step = next
  }
  node[step] = value
}

/** Reads the value at a position; `undefined` if there is none. */
export const lookup = (body: unknown, at: Positions, name: string): unknown => {
  let node = body
  for (const step of stepsOf(at, name)) {
    if (!isNode(node) || !Object.hasOwn(node, step)) return undefined
    node = node[step]
  }
  return node
}
