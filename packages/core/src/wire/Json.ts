/** Parses JSON of the service, with a bound on its nesting. */

/**
 * The most levels of objects and arrays. The service sends about ten. `JSON.stringify` overflows the stack at 4,400, functions that
 * call themselves at 1,100, and SQLite reads 1,000.
 */
export const mostLevels = 512

/** Parses a text, or throws an error for {@link reasonOf}. */
export const parse = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  // A level takes two characters at least.
  if (text.length > 2 * mostLevels && isContainer(value) && isDeeper(value, mostLevels)) throw new RangeError()
  return value
}

/** The reason why `parse` has failed, of a line or a body. */
export const reasonOf = (of: string, error: unknown): string =>
  error instanceof RangeError ? `the ${of} is nested more than ${mostLevels} levels deep` : `the ${of} is not JSON`

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

const isDeeper = (value: object, levels: number): boolean => {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const member of value) if (isContainer(member) && isDeeper(member, levels - 1)) return true
    return false
  }
  // Object.values makes an array for each object.
  for (const name in value) {
    const member: unknown = value[name as keyof object]
    if (isContainer(member) && isDeeper(member, levels - 1)) return true
  }
  return false
}
