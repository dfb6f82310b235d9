/** The members of a body that an operation does not know. */

/** A member of a body. */
export interface Member {
  /** Where it is: `$.reply.to`. */
  readonly path: string
  readonly value: unknown
}

/** The first member of a body that is at none of the known positions. */
export const memberOf = (body: object, positions: ReadonlyArray<string>): Member | undefined => {
  const search = (node: object, path: string): Member | undefined => {
    for (const [key, value] of Object.entries(node)) {
      const position = `${path}${Array.isArray(node) ? "0" : key}`
      if (positions.includes(position)) continue
      // What holds positions is no longer looked into where it has another form: the parameters in it are missing then.
      const unknown = positions.some((known) => known.startsWith(`${position}.`))
        ? typeof value === "object" && value !== null ? search(value, `${position}.`) : undefined
        : { path: `$.${position}`, value }
      if (unknown !== undefined) return unknown
    }
    return undefined
  }
  return search(body, "")
}
