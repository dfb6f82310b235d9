/** Flat parameters to a nested JSON body and back, from one table of positions that client and sandbox share. */

/** Where a body parameter sits: `{ media_ids: "media.media_ids" }`; a number is a position in an array. */
export type Positions = Readonly<Record<string, string>>

interface Node {
  [key: string]: unknown
}

const stepsOf = (at: Positions, name: string): ReadonlyArray<string> => (at[name] ?? name).split(".")

/** Puts a value at its position, making the objects and arrays on the way. */
export const insert = (body: Node, at: Positions, name: string, value: unknown): void => {
  const steps = stepsOf(at, name)
  let node = body
  for (let i = 0; i < steps.length - 1; i++) {
    const step = steps[i] as string
    node = (node[step] ??= steps[i + 1] === "0" ? [] : {}) as Node
  }
  node[steps[steps.length - 1] as string] = value
}

/** Reads a value from its position; `undefined` where it is not there. */
export const lookup = (body: unknown, at: Positions, name: string): unknown => {
  let node = body
  for (const step of stepsOf(at, name)) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return undefined
    node = (node as Node)[step]
  }
  return node
}
