/**
 * Refuses a Node that is too old, in one sentence, when it is imported. What needs Node imports it before all else; other
 * runtimes, and browsers, have versions of their own.
 */

/** The oldest Node on which everything runs. All packages name it in `engines`. */
export const minimum = "22.19"

/** Why a Node of this version will not do, where it will not. */
export const refusalOf = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [leastMajor = 0, leastMinor = 0] = minimum.split(".").map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
    ? undefined
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
