/** The rules and templates of request paths. A path never leads out of the service. */

/** Unescaped characters of a path, and escapes. With these, a URL parser changes nothing. */
const allowed = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/

/** The rule that a path breaks. */
export const ruleOf = (path: unknown): string | undefined => {
  if (typeof path !== "string" || !path.startsWith("/")) return "must be a string that begins with a slash"
  if (/[?#]/.test(path)) return "must have no query and no fragment: pass query"
  if (path.includes("\\")) return "must have no backslash"
  if (path.includes("//")) return "must have no two slashes together"
  if (!allowed.test(path)) {
    return "must contain only characters of a path: percent-encode variable parts"
  }
  const decoded = decodedFully(path)
  if (decoded === undefined) return "must be percent-encoded UTF-8"
  // Unescaping must add no slash.
  if (decoded.split("/").length !== path.split("/").length || decoded.includes("\\")) {
    return "must have no encoded slash and no encoded backslash"
  }
  if (/[\u0000-\u001f\u007f]/.test(decoded)) return "must have no control characters, encoded or not"
  // Some servers remove everything after a semicolon before they resolve a segment.
  return decoded.split("/").some((segment) => /^\.{1,2}(?:;|$)/.test(segment))
    ? "must have no segment . or .., encoded or not"
    : undefined
}

/**
 * Decodes all escapes, repeatedly, as proxies in front of the service may do. `undefined` if escapes are not UTF-8, since some
 * of those would become a slash.
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

/** Constant segments of routes, which identify nothing. The first segment may be a version. */
const word = /^[a-z][a-z_.]{0,39}$/

/** The path with `:id` for segments that may be variable. */
export const templateOf = (path: string): string =>
  path.split("/").map((segment, i) =>
    segment === "" || word.test(segment) || (i === 1 && /^\d(\.\d)?$/.test(segment)) ? segment : ":id"
  ).join("/")
