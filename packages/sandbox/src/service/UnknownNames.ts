/** The members of a body that an operation does not know. */

/** A member of a body. */
export interface Member {
  /** Its path, such as `$.reply.to`. */
  readonly path: string
  readonly value: unknown
}

/** The first member of a body that is at none of the known positions. */
export const memberOf = (body: object, positions: ReadonlyArray<string>): Member | undefined => {
  const search = (node: object, path: string): Member | undefined => {
    for (const [key, value] of Object.entries(node)) {
      const position = `${path}${Array.isArray(node) ? "0" : key}`
      if (positions.includes(position)) continue
      // Members of another type than expected are not searched: the parameters in them are reported as missing.
      const unknown = positions.some((known) => known.startsWith(`${position}.`))
        ? typeof value === "object" && value !== null ? search(value, `${position}.`) : undefined
        : { path: `$.${position}`, value }
      if (unknown !== undefined) return unknown
    }
    return undefined
  }
  return search(body, "")
}
