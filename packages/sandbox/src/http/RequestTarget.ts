/** What a request is sent to. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The URL that a client signed; none when what it sent is no URL. */
export const urlOf = (request: HttpServerRequest.HttpServerRequest): URL | undefined => {
  // In process the URL is absolute already; over a connection the host is that of the header, as the client signed it.
  const href = URL.canParse(request.originalUrl)
    ? request.originalUrl
    : `http://${request.headers["host"] ?? "localhost"}${request.originalUrl}`
  return URL.canParse(href) ? new URL(href) : undefined
}

/** Whether the path is one that names an operation as it stands: nothing in it goes back, aside or away. */
export const isPlain = (target: string): boolean =>
  !/[;\\]|\/(\.|%2e){1,2}(\/|$)/i.test(target.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, ""))

/** Whether every `%` begins the escape of a character. */
export const isEscaped = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
