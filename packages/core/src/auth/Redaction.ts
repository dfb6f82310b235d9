/**
 * Redacts credentials from texts about failures: a service, or a proxy in front of it, may quote the request that it refuses.
 * Every text that it sends passes here before anything else sees it.
 *
 * A secret is replaced in any spelling: plain, percent-encoded, with JSON or HTML escapes, or within base64. A secret of fewer
 * than 8 characters may be part of other texts, so it is replaced only as a whole word.
 */
import type { HttpClient } from "effect/http/HttpClient"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Redact } from "../internal/redact.ts"
import type { Values } from "./Credentials.ts"

export type { Redact } from "../internal/redact.ts"

/** The replacement of a secret. */
export const marker = "<redacted>"

/** The property of an `HttpClient` that returns its own secrets, such as the password of a proxy. */
export const secrets: unique symbol = Symbol.for("@postwire/core/auth/Redaction/secrets")

/** Makes a function that replaces secrets. Its patterns are made for the first text. */
export const make = (secrets: () => Iterable<string>): Redact => {
  let each: ReadonlyArray<Redact> | undefined
  return (text) => {
    each ??= all(secrets()).map(one)
    for (const redact of each) text = redact(text)
    return text
  }
}

/** Replaces the credentials of calls over a transport and, given its `authorization`, the signature of one request. */
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

/** Replaces these secrets and those of a transport and, given its `authorization`, the signature of one request. */
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
 * A value whose texts, including keys, contain no secret: the value itself, or a copy if one was found. A copied error has its
 * message, stack and causes; values nested too deeply, or beyond a large number, are omitted.
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
  // For example an invalid HTTP packet, which Node attaches to its error.
  const bytes = (value: Uint8Array): unknown => {
    const text = new TextDecoder("latin1").decode(value)
    return clean(text) === text ? value : marker
  }
  try {
    const cleaned = copy(value, 0)
    return isFound ? cleaned : value
  } catch {
    // A getter or a proxy of an unknown error.
    return undefined
  }
}

/** From this length on, a secret is unlikely to be part of another word. */
const minCharactersByThemselves = 8

/** The secrets and related texts that reveal them, longest first, since one may contain another. */
const all = (secrets: Iterable<string>): ReadonlyArray<string> => {
  const texts = new Set<string>()
  for (const secret of secrets) {
    if (secret === "") continue
    texts.add(secret)
    // As seen by a server that undoes percent-encoding.
    if (secret.includes("%")) texts.add(decoded(secret))
    // In base64, a short one can be recognised only together with the text before it.
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
    // Compiling takes milliseconds, and most texts contain no secret.
    if (!escaped.test(text) && !hints.some((hint) => text.includes(hint))) return text
    pattern ??= patternOf(secret, encoded)
    return text.replace(pattern, marker)
  }
}

/** Escapes. Without them, letters and digits are literal. */
const escaped = /%[0-9A-Fa-f]{2}|\\u|&#/

const longestPlain = (text: string): string =>
  (text.match(/[A-Za-z0-9]+/g) ?? []).reduce((longest, part) => part.length > longest.length ? part : longest, "")

const patternOf = (secret: string, encoded: ReadonlyArray<string>): RegExp => {
  if (secret.length < minCharactersByThemselves) {
    return new RegExp(`${notInWord}(?:${[spelled(secret), ...encoded.map(base64Text)].join("|")})(?![A-Za-z0-9_])`, "g")
  }
  // The characters before and after it encode bits of the secret together with bits of its neighbours.
  const shared = "[A-Za-z0-9+/_-]?"
  return new RegExp([spelled(secret), ...encoded.map((text) => shared + base64Text(text) + shared)].join("|"), "g")
}

/** Not after a word character, except at the end of an escape. */
const notInWord = String.raw`(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[bfnrt]))`

const decoded = (secret: string): string => {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}

/** Matches a text with its characters escaped in any way, even repeatedly. */
const spelled = (text: string): string =>
  // A run of backslashes is one piece: separately, each could be taken for the escape of the next.
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

/** The JSON escapes that are not numeric. */
const escapes: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }

const literal = (char: string): string => /[A-Za-z0-9]/.test(char) ? char : char.replace(/[$()*+./?[\]^{|}-]/g, "\\$&")

/** Hexadecimal digits in either case. */
const hex = (number: number, digits: number): string =>
  number.toString(16).padStart(digits, "0").replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** The common parts of base64 texts that contain the secret, for each of its three possible alignments. */
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

/** Replaces texts that look like a signature (the base64 of twenty bytes) if the text mentions one. */
export const signatures: Redact = (text) => text.includes("oauth_signature") ? text.replace(signature, marker) : text

const signature = /*#__PURE__*/ new RegExp(
  `(?:[A-Za-z0-9]|${/*#__PURE__*/ anyOf("+")}|${/*#__PURE__*/ anyOf("/")}){27}${/*#__PURE__*/ anyOf("=")}`,
  "g"
)
