/** Parses request targets. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The URL that a client signed; undefined if it is invalid. */
export const urlOf = (request: HttpServerRequest.HttpServerRequest): URL | undefined => {
  // In process the URL is already absolute; over a connection the host comes from the header that the client signed.
  const href = URL.canParse(request.originalUrl)
    ? request.originalUrl
    : `http://${request.headers["host"] ?? "localhost"}${request.originalUrl}`
  return URL.canParse(href) ? new URL(href) : undefined
}

/** True if the path has no dot segments, backslashes or path parameters. */
export const isPlain = (target: string): boolean =>
  !/[;\\]|\/(\.|%2e){1,2}(\/|$)/i.test(target.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, ""))

/** True if every `%` starts a valid escape. */
export const isEscaped = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
