/**
 * Signatures of OAuth 1.0a (RFC 5849, HMAC-SHA1) for clients that sign and for servers that verify.
 *
 * Everything is synchronous and total: malformed escapes and lone surrogates give a signature like any other text.
 * A JSON body is never part of a signature.
 */
import * as Context from "effect/Context"
import { hmacSha1 } from "./internal/hmacSha1.ts"

/**
 * The HMAC-SHA1 of a message with a key, both UTF-8, as base64. The default needs no platform; it can be replaced by a faster
 * one.
 */
export const HmacSha1: Context.Reference<(key: string, message: string) => string> = /*#__PURE__*/ Context.Reference(
  "@postwire/core/auth/OAuth1/HmacSha1",
  { defaultValue: () => hmacSha1 }
)

/** Secrets and identifiers of an application and, except for requests of the application itself, of a user. */
export interface Credentials {
  readonly consumerKey: string
  readonly consumerSecret: string
  readonly token?: string | undefined
  readonly tokenSecret?: string | undefined
}

/** The signed parts of a request. */
export interface Request {
  readonly method: string
  /** Absolute and percent-encoded, exactly the URL of the request. */
  readonly url: string
  /** Unique for the timestamp; see {@link nonce}. */
  readonly nonce: string
  /** Whole Unix seconds. */
  readonly timestamp: number
  /** An additional parameter of a sign-in: its callback URL, or the verifier that proves the user's consent. */
  readonly also?: readonly [name: "oauth_callback" | "oauth_verifier", value: string] | undefined
}

/** The value of the `Authorization` header of a request. Parameters of the query are signed, bodies are not. */
export const sign = (
  options: Credentials & Request & { readonly hmac: (key: string, message: string) => string }
): string => signer(options, options.hmac)(options)

/** {@link sign} with a new nonce. */
export const authorize = (hmac: (key: string, message: string) => string) =>
(
  request: Credentials & Omit<Request, "nonce">
): string => sign({ ...request, nonce: nonce(), hmac })

/** {@link sign} with the work that depends only on the credentials done once. */
export const signer = (
  credentials: Credentials,
  hmac: (key: string, message: string) => string
): (request: Request) => string => {
  const key = signingKey(credentials.consumerSecret, credentials.tokenSecret)
  const consumer: Parameter = ["oauth_consumer_key", percentEncode(credentials.consumerKey)]
  const token: Parameter | undefined = credentials.token === undefined
    ? undefined
    : ["oauth_token", percentEncode(credentials.token)]
  return ({ also, method, nonce, timestamp, url }) => {
    const parameters = [
      consumer,
      ["oauth_nonce", percentEncode(nonce)],
      ["oauth_signature_method", "HMAC-SHA1"],
      ["oauth_timestamp", `${timestamp}`]
    ] as Array<Parameter>
    if (token !== undefined) parameters.push(token)
    parameters.push(["oauth_version", "1.0"])
    if (also !== undefined) parameters.push([also[0], percentEncode(also[1])])
    let header = "OAuth "
    for (const [name, value] of parameters) header += `${name}="${value}", `
    return `${header}oauth_signature="${percentEncode(hmac(key, encodedBaseString(method, url, parameters)))}"`
  }
}

/**
 * The signature of a request whose OAuth parameters are known, which a server compares with the `oauth_signature` that it
 * received. `parameters` may be the whole result of {@link parseAuthorization}: the signature itself and the realm are ignored.
 */
export const signature = (options: {
  readonly method: string
  readonly url: string
  readonly parameters: Readonly<Record<string, string>>
  readonly consumerSecret: string
  readonly tokenSecret?: string | undefined
  readonly hmac: (key: string, message: string) => string
}): string => {
  const { oauth_signature: _, realm: __, ...parameters } = options.parameters
  return options.hmac(
    signingKey(options.consumerSecret, options.tokenSecret),
    baseString(options.method, options.url, parameters)
  )
}

/** The signed text: method, base URI and sorted parameters, including those of the URL's query. */
export const baseString = (
  method: string,
  url: string,
  parameters: Readonly<Record<string, string>>
): string =>
  encodedBaseString(
    method,
    url,
    Object.entries(parameters).map(([name, value]): Parameter => [percentEncode(name), percentEncode(value)])
  )

/** The key of the HMAC; the token secret is empty for requests of the application itself. */
export const signingKey = (consumerSecret: string, tokenSecret = ""): string =>
  `${percentEncode(consumerSecret)}&${percentEncode(tokenSecret)}`

/**
 * The parameters of an `Authorization` header, or `undefined` unless it is a well-formed one of the scheme OAuth that
 * names each parameter once.
 */
export const parseAuthorization = (header: string): Record<string, string> | undefined => {
  const scheme = /^OAuth +/i.exec(header)
  if (scheme === null) return undefined
  const parameters = new Map<string, string>()
  for (const part of header.slice(scheme[0].length).split(",")) {
    const pair = /^\s*([^\s=",]+)="([^"]*)"\s*$/.exec(part)
    if (pair === null) return undefined
    try {
      const name = decodeURIComponent(pair[1]!)
      if (parameters.has(name)) return undefined
      parameters.set(name, decodeURIComponent(pair[2]!))
    } catch {
      return undefined
    }
  }
  return Object.fromEntries(parameters)
}

/** Percent-encodes the UTF-8 of a text, except letters, digits and `-._~`; a lone surrogate becomes U+FFFD. */
export const percentEncode = (text: string): string =>
  unreserved.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed()).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
    )

/**
 * Generates a nonce of 122 random bits, as 32 hexadecimal digits, with the platform's cryptographic generator. Browsers have it
 * on secure pages (`https:` or this machine).
 */
export const nonce = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")

/** Name and value, both percent-encoded. */
type Parameter = readonly [name: string, value: string]

const encodedBaseString = (method: string, url: string, parameters: ReadonlyArray<Parameter>): string => {
  const parts = absoluteUrl.exec(url)
  if (parts === null) throw new TypeError("OAuth 1.0a signs absolute URLs only")
  const [, scheme = "", authority = "", path, query] = parts
  const all = query === undefined ? parameters.slice() : [...parameters, ...queryParameters(query)]
  // Encoded texts are ASCII, so that comparing code units compares bytes.
  all.sort(([name1, value1], [name2, value2]) =>
    name1 < name2 ? -1 : name1 > name2 ? 1 : value1 < value2 ? -1 : value1 > value2 ? 1 : 0
  )
  let normalized = ""
  for (const [name, value] of all) normalized += `${normalized === "" ? "" : "&"}${name}=${value}`
  const baseUri = `${scheme.toLowerCase()}://${host(scheme, authority)}${path || "/"}`
  // `normalized` contains no character that encodeURIComponent would leave unencoded.
  return `${method.toUpperCase()}&${percentEncode(baseUri)}&${encodeURIComponent(normalized)}`
}

const absoluteUrl = /^(https?):\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i

const host = (scheme: string, authority: string): string => {
  const name = authority.slice(authority.lastIndexOf("@") + 1).toLowerCase()
  const port = scheme.length === 4 ? ":80" : ":443"
  return name.endsWith(port) ? name.slice(0, -port.length) : name
}

const queryParameters = (query: string): Array<Parameter> => {
  const out: Array<Parameter> = []
  for (const part of query.split("&")) {
    if (part === "") continue
    const index = part.indexOf("=")
    out.push(index < 0 ? [reencode(part), ""] : [reencode(part.slice(0, index)), reencode(part.slice(index + 1))])
  }
  return out
}

const reencode = (text: string): string => unreserved.test(text) ? text : percentEncode(formDecode(text))

const formDecode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    // Lenient about invalid escapes and invalid UTF-8, as servers are.
    return new URLSearchParams(`=${text}`).get("") ?? ""
  }
}

const unreserved = /^[A-Za-z0-9\-._~]*$/
