/** Generates the code of copies under other names, for clients whose size and content security policy do not matter. */

/** A key of an object: its name in the copy, and the translation of its value. */
export interface Member {
  readonly from: string
  readonly to: string
  readonly inner: ((value: unknown) => unknown) | undefined
}

/** Copies an object that has exactly the expected keys in their order. Returns `undefined` for any other. */
export type Copy = (value: object) => object | undefined

/** Compiles a copy of objects with these keys; `undefined` where code cannot be generated. */
export const compile = (members: ReadonlyArray<Member>): Copy | undefined => {
  // In a literal, this key would set the prototype.
  if (members.some(({ to }) => to === "__proto__")) return undefined
  const copied = members.map(({ from, inner, to }, at) => {
    const value = `value[${JSON.stringify(from)}]`
    return `${JSON.stringify(to)}: ${inner === undefined ? value : `inner${at}(${value})`}`
  })
  const source = `${members.map((_, at) => `const inner${at} = members[${at}].inner`).join("\n")}
const keys = members.map(({ from }) => from)
return (value) => {
  let at = 0
  for (const key in value) if (key !== keys[at++]) return undefined
  // Inherited keys come last.
  return at === ${members.length} && Object.hasOwn(value, keys[at - 1]) ? { ${copied.join(", ")} } : undefined
}`
  try {
    return globalThis.Function("members", source)(members)
  } catch {
    return undefined
  }
}
