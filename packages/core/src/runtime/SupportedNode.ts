/**
 * Throws on import if the version of Node is not supported. Modules that need Node import it first; other runtimes and browsers
 * are not checked.
 */

/** The oldest supported version of Node 22. */
export const minimum = "22.19"

/** The `engines` of all packages. No release of 23 has SQLite with full-text search. */
export const range = `^${minimum} || >=24`

/** The reason why a version of Node is not supported; `undefined` if it is. */
export const refusalOf = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [leastMajor, leastMinor = 0] = minimum.split(".").map(Number)
  return major >= 24 || (major === leastMajor && minor >= leastMinor)
    ? undefined
    : major === 23
    ? `postwire: Node 23 is not supported (found ${version}): install 24 or newer`
    : `postwire: Node ${minimum} or newer is required (found ${version}): install a newer one`
}

const { bun, deno, node }: Readonly<Record<string, string | undefined>> =
  Reflect.get(globalThis, "process")?.versions ??
    {}

if (node !== undefined && (bun ?? deno) === undefined) {
  const refusal = refusalOf(node)
  if (refusal !== undefined) {
    const error = new Error(refusal)
    // The stack would show the loader instead of the importing module.
    error.stack = `${error.name}: ${refusal}`
    throw error
  }
}
