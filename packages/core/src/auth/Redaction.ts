/**
 * Keeps credentials out of what is told of failures: a service, or a proxy before it, may quote the request that it refuses.
 * Whatever text it sends passes here before anything else sees it.
 *
 * A secret is replaced as it is and as it may be written: percent-encoded, with the escapes of JSON or HTML, or within
 * base64. One of fewer than 8 characters is a word of other texts as well, so it is replaced only where it stands alone.
 */
import type { HttpClient } from "effect/http/HttpClient"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Redact } from "../internal/redact.ts"
import type { Values } from "./Credentials.ts"

export type { Redact } from "../internal/redact.ts"

/** What takes the place of a secret. */
export const marker = "<redacted>"

/** The property under which an `HttpClient` tells secrets of its own, such as the password of a proxy. */
export const secrets: unique symbol = Symbol.for("@postwire/core/auth/Redaction/secrets")

/** Replaces secrets. Nothing is prepared before the first text comes. */
export const make = (secrets: () => Iterable<string>): Redact => {
  let each: ReadonlyArray<Redact> | undefined
  return (text) => {
    each ??= all(secrets()).map(one)
    for (const redact of each) text = redact(text)
    return text
  }
}

/** Replaces the credentials of calls over a transport, and with its `authorization` the signature of one request. */
export const ofCalls = (http: HttpClient): (values: Values, authorization?: string) => Redact => {
  const known = new WeakMap<Values, Redact>()
  const own = ownOf(http)
  return (values, authorization) => {
    let redact = known.get(values)
    if (redact === undefined) {
      redact = make(() => [...plain(values), ...own()])
      known.set(values, redact)
    }
    return signedWith(redact, authorization)
  }
}

/** Replaces these secrets and those of a transport, and with its `authorization` the signature of one request. */
export const ofSecrets = (
  http: HttpClient,
  secrets: ReadonlyArray<Redacted.Redacted>
): (authorization: string | undefined) => Redact => {
  const own = ownOf(http)
  const redact = make(() => [...secrets.map(Redacted.value), ...own()])
  return (authorization) => signedWith(redact, authorization)
}

const ownOf = (http: HttpClient) => (): Iterable<string> =>
  secrets in http && typeof http[secrets] === "function" ? http[secrets]() : []

const signedWith = (redact: Redact, authorization: string | undefined): Redact => {
  const signature = authorization === undefined ? undefined : /oauth_signature="([^"]+)"/.exec(authorization)?.[1]
  if (signature === undefined) return redact
  const signed = make(() => [decodeURIComponent(signature)])
  return (text) => signed(redact(text))
}

const plain = (values: Values): ReadonlyArray<string> =>
  [...Object.values(values), ...(values.grant?.secrets ?? [])]
    .flatMap((value) => Redacted.isRedacted(value) ? [String(Redacted.value(value))] : [])

/**
 * A value whose texts, keys included, hold no secret: the value itself, or a copy where one was found. Of errors the copy
 * has message, stack and causes; what lies deeper or is more than a person would read is left out of it.
 */
export const within = (value: unknown, redact: Redact): unknown => {
  const copies = new Map<object, unknown>()
  let isFound = false
  const clean = (text: string): string => {
    const cleaned = redact(text)
    if (cleaned !== text) isFound = true
    return cleaned
  }
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return clean(value)
    if (!Predicate.isObjectKeyword(value) || typeof value === "function") return value
    const known = copies.get(value)
    if (known !== undefined) return known
    if (depth === 12 || copies.size === 5_000) {
      isFound = true
      return undefined
    }
    if (value instanceof Uint8Array) return bytes(value)
    if (value instanceof URL) return clean(value.href)
    if (value instanceof Map || value instanceof Set || value instanceof Headers) {
      copies.set(value, [])
      return Array.from<unknown>(value).map((member) => copy(member, depth + 1))
    }
    const target: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
    copies.set(value, target)
    for (const key of Reflect.ownKeys(value)) {
      if (Array.isArray(value) && key === "length") continue
      const enumerable = Object.prototype.propertyIsEnumerable.call(value, key)
      const member = copy(Reflect.get(value, key), depth + 1)
      Object.defineProperty(target, typeof key === "string" ? clean(key) : key, {
        value: member,
        enumerable,
        writable: true,
        configurable: true
      })
    }
    return target
  }
  // Such as the packet that is no HTTP, which Node attaches to its error.
  const bytes = (value: Uint8Array): unknown => {
    const text = new TextDecoder("latin1").decode(value)
    return clean(text) === text ? value : marker
  }
  try {
    const cleaned = copy(value, 0)
    return isFound ? cleaned : value
  } catch {
    // A getter or a proxy of somebody else's.
    return undefined
  }
}

/** From here on a secret is not likely to be a part of other words. */
const minCharactersByThemselves = 8

/** The secrets and what else gives them away, the longest first, for one may hold another. */
const all = (secrets: Iterable<string>): ReadonlyArray<string> => {
  const texts = new Set<string>()
  for (const secret of secrets) {
    if (secret === "") continue
    texts.add(secret)
    // As a server sees it that takes the encoding for its own.
    if (secret.includes("%")) texts.add(decoded(secret))
    // In base64 a short one is told from other text only together with what stands before it.
    if (secret.length < minCharactersByThemselves) texts.add(`Bearer ${secret}`)
  }
  return [...texts].sort((a, b) => b.length - a.length)
}

const one = (secret: string): Redact => {
  const encoded = secret.length < minCharactersByThemselves
    ? [base64(utf8(secret)).replace(/=+$/, "")]
    : inBase64(secret)
  const hints = [secret, ...encoded].map(longestPlain)
  let pattern: RegExp | undefined
  return (text) => {
    // Compiling takes milliseconds, and most texts quote nothing.
    if (!escaped.test(text) && !hints.some((hint) => text.includes(hint))) return text
    pattern ??= patternOf(secret, encoded)
    return text.replace(pattern, marker)
  }
}

/** Without one of these, letters and digits stand for themselves. */
const escaped = /%[0-9A-Fa-f]{2}|\\u|&#/

const longestPlain = (text: string): string =>
  (text.match(/[A-Za-z0-9]+/g) ?? []).reduce((longest, part) => part.length > longest.length ? part : longest, "")

const patternOf = (secret: string, encoded: ReadonlyArray<string>): RegExp => {
  if (secret.length < minCharactersByThemselves) {
    return new RegExp(`${notInWord}(?:${[spelled(secret), ...encoded.map(base64Text)].join("|")})(?![A-Za-z0-9_])`, "g")
  }
  // The character before and the one after hold bits of the secret and of its neighbours.
  const shared = "[A-Za-z0-9+/_-]?"
  return new RegExp([spelled(secret), ...encoded.map((text) => shared + base64Text(text) + shared)].join("|"), "g")
}

/** The end of an escape is no letter of the word that follows it. */
const notInWord = String.raw`(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[bfnrt]))`

const decoded = (secret: string): string => {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}

/** Matches a text however its characters are escaped, also more than once. */
const spelled = (text: string): string =>
  // A run of backslashes is one piece: on its own each would be taken for the escape of the next.
  text.replace(/\\+|[^\\]/gu, (piece) =>
    piece.startsWith("\\") ? String.raw`(?:\\|%(?:25){0,3}5[cC]){${piece.length},${piece.length * 4}}` : anyOf(piece))

const anyOf = (char: string): string => {
  const point = char.codePointAt(0)!
  const percent = Array.from(utf8(char), (byte) => `%(?:25){0,3}${hex(byte, 2)}`).join("")
  const units = Array.from({ length: char.length }, (_, i) => String.raw`\\{1,4}u${hex(char.charCodeAt(i), 4)}`).join(
    ""
  )
  const short = escapes[char] === undefined ? "" : String.raw`|\\{1,4}${escapes[char]}`
  const entity = `&(?:amp;)?(?:#0*${point}|#[xX]0*${hex(point, 1)}${entities[char] ?? ""});`
  return String.raw`(?:\\{0,4}${char === "%" ? "%(?:25){0,4}" : literal(char)}|${units}${short}|${percent}|${entity}${
    char === " " ? String.raw`|\+` : char === "+" ? "| " : ""
  })`
}

const entities: Readonly<Record<string, string>> = { "&": "|amp", "<": "|lt", ">": "|gt", "\"": "|quot", "'": "|apos" }

/** The escapes of JSON that are no number. */
const escapes: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }

const literal = (char: string): string => /[A-Za-z0-9]/.test(char) ? char : char.replace(/[$()*+./?[\]^{|}-]/g, "\\$&")

/** Hexadecimal digits in either case. */
const hex = (number: number, digits: number): string =>
  number.toString(16).padStart(digits, "0").replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** Base64 of a longer text that holds the secret: what is common to all of them, for each place that it can begin at. */
const inBase64 = (secret: string): ReadonlyArray<string> => {
  const bytes = utf8(secret)
  return [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    return base64(padded).slice([0, 2, 3][before], Math.floor(padded.length * 8 / 6))
  })
}

const base64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

const base64Text = (text: string): string =>
  text.replace(/[+/]/g, (char) => char === "+" ? `(?:[+-]|%2[bB])` : String.raw`(?:\\{0,4}/|_|%2[fF])`)

/** Replaces what has the form of a signature in a text that names one: the base64 of twenty bytes. */
export const signatures: Redact = (text) => text.includes("oauth_signature") ? text.replace(signature, marker) : text

const signature = /*#__PURE__*/ new RegExp(
  `(?:[A-Za-z0-9]|${/*#__PURE__*/ anyOf("+")}|${/*#__PURE__*/ anyOf("/")}){27}${/*#__PURE__*/ anyOf("=")}`,
  "g"
)
