/**
 * Refuses a Node that is too old, in one sentence, when it is imported. What needs Node imports it before all else; other
 * runtimes, and browsers, have versions of their own.
 */

/** The oldest Node on which everything runs, of a line that does not end. */
export const minimum = "22.19"

/** What all packages say in `engines`. No release of 23 has SQLite with full-text search. */
export const range = `^${minimum} || >=24`

/** Why a Node of this version will not do, where it will not. */
export const refusalOf = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [leastMajor, leastMinor = 0] = minimum.split(".").map(Number)
  return major >= 24 || (major === leastMajor && minor >= leastMinor)
    ? undefined
    : major === 23
    ? `postwire: Node 23 will not do, and this is ${version}: install 24 or newer`
    : `postwire: Node ${minimum} or newer is needed, and this is ${version}: install a newer one`
}

const { bun, deno, node }: Readonly<Record<string, string | undefined>> =
  Reflect.get(globalThis, "process")?.versions ??
    {}

if (node !== undefined && (bun ?? deno) === undefined) {
  const refusal = refusalOf(node)
  if (refusal !== undefined) {
    const error = new Error(refusal)
    // It would lead through the loader, and not to whoever imports.
    error.stack = `${error.name}: ${refusal}`
    throw error
  }
}
