/** Paths of requests: which are allowed, and what they are called. A path never leads out of the service. */

/** Characters that a path may hold as they are, and escapes. Nothing in it is left to the parser of addresses to mend. */
const allowed = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/

/** The rule that a path breaks. */
export const ruleOf = (path: unknown): string | undefined => {
  if (typeof path !== "string" || !path.startsWith("/")) return "must be a text that begins with a slash"
  if (/[?#]/.test(path)) return "must have no query and no fragment: pass query"
  if (path.includes("\\")) return "must have no backslash"
  if (path.includes("//")) return "must have no two slashes together"
  if (!allowed.test(path)) {
    return "must have no other characters than those of a path: percent-encode what is filled in"
  }
  const decoded = decodedFully(path)
  if (decoded === undefined) return "must be percent-encoded UTF-8"
  // Of those that it may hold there are as many as before.
  if (decoded.split("/").length !== path.split("/").length || decoded.includes("\\")) {
    return "must have no encoded slash and no encoded backslash"
  }
  if (/[\u0000-\u001f\u007f]/.test(decoded)) return "must have no control characters, encoded or not"
  // Some servers take what follows a semicolon off before they look at a segment.
  return decoded.split("/").some((segment) => /^\.{1,2}(?:;|$)/.test(segment))
    ? "must have no segment . or .., encoded or not"
    : undefined
}

/**
 * Without any escape: what stands before the service may take one for what it means, more than once. `undefined` where
 * escapes are no UTF-8, of which some would make a slash.
 */
const decodedFully = (path: string): string | undefined => {
  try {
    let decoded = path
    for (let before = ""; before !== decoded;) {
      before = decoded
      decoded = decoded.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => decodeURIComponent(escapes))
    }
    return decoded
  } catch {
    return undefined
  }
}

/** Words of routes, which name no one and nothing. The first segment may be a version. */
const word = /^[a-z][a-z_.]{0,39}$/

/** The path with its variable parts left out, as far as one can tell. */
export const templateOf = (path: string): string =>
  path.split("/").map((segment, i) =>
    segment === "" || word.test(segment) || (i === 1 && /^\d(\.\d)?$/.test(segment)) ? segment : ":id"
  ).join("/")
