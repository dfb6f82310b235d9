/** What would let another sign in, found in texts however it is written, and hidden. */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import * as Redacted from "effect/Redacted"
import type { Credentials } from "../store/Credentials.ts"

/** What stands in the place of a credential. */
export const hidden = "<redacted>"

/** Names of what lets somebody sign in. */
export const isSecretName = (name: string): boolean =>
  !/^(?:token_type_hint|oauth_callback|x_auth_access_type)$/.test(name) &&
  /cookie|auth|bearer|token|secret|password|signature|key|verifier|^(code|pin)$/i.test(name)

/** Hides credentials in a text. */
export type Hide = (text: string) => string

/** Finds the credentials of a store, of whoever runs it, and of the request that is looked at. */
export interface Secrets {
  /** For the texts of one request, and what else it held under the names of secrets. */
  readonly of: (authorization: string | undefined, held?: ReadonlyArray<string>) => Hide
}

/** `others` are those that are in no store. */
export const make = (
  credentials: () => Credentials,
  others: () => ReadonlyArray<Redacted.Redacted>
): Secrets => {
  let pattern = /(?!)/g
  let stored: ReadonlySet<string> = new Set()
  let own: ReadonlyArray<Redacted.Redacted> = []
  /** The length of the shortest of them. */
  let known = Infinity
  const refresh = (): void => {
    const [nowStored, nowOwn] = [credentials().secrets(), others()]
    if (nowStored === stored && nowOwn.every((secret, i) => secret === own[i])) return
    ;[stored, own] = [nowStored, nowOwn]
    const texts = [...stored, ...own.map(Redacted.value)].filter((text) => text.length >= minSecretLength)
    const longestFirst = texts.sort((a, b) => b.length - a.length)
    known = longestFirst.at(-1)?.length ?? Infinity
    pattern = texts.length === 0
      ? /(?!)/g
      : new RegExp(longestFirst.map((text) => text.replace(/\W/g, "\\$&")).join("|"), "g")
  }
  return {
    of: (authorization = "", held = []) => {
      refresh()
      const sent = [...sentIn(authorization), ...held]
        .filter((text) => text.length >= minSecretLength && !stored.has(text))
      const isToken = (word: string): boolean => credentials().isSecret(word)
      const holds = (text: string): boolean =>
        text.search(pattern) >= 0 || sent.some((secret) => text.includes(secret)) ||
        text.match(words)?.some(isToken) === true
      const least = Math.min(minTokenLength, known, ...sent.map(({ length }) => length))
      const holdsEncoded = (text: string, depth: number): boolean =>
        decodings(text, least).some((decoded) => holds(decoded) || depth > 0 && holdsEncoded(decoded, depth - 1))
      return (text) => {
        if (text.length < minSecretLength) return text
        let plain = text.replace(named, `$1${hidden}`).replace(scheme, `$1${hidden}`).replace(pattern, hidden)
        for (const secret of sent) plain = plain.replaceAll(secret, hidden)
        return plain.replace(words, (word) => isToken(word) ? hidden : word)
          .replace(runs, (run) => holdsEncoded(run, 2) ? hidden : run)
      }
    }
  }
}

/** In characters: what is shorter is in ordinary texts, too. */
const minSecretLength = 8

/** A value with its name, wherever that is. */
const named =
  /((?:oauth_(?:consumer_key|token|signature|verifier)|(?:access|refresh|bearer|id)_token|code_verifier|(?:client|consumer|token)_secret|api_?key|password)["']?\s*(?:=|:|%3d|%3a)\s*["']?)[^\s"'&;,<]+/gi

/** What follows the name of a scheme; long enough to be no word. */
const scheme = /\b((?:bearer|basic)(?:\s|\+|%20)+)[\w.~+/%=-]{16,}/gi

/** What an encoded text can be made of. */
const runs = /[\w.~+/%=\-\\&#;]{8,}/g

/** What a bearer token can be made of; those of the past are known by their hashes only. */
const words = /[\w-]{20,200}/g
const minTokenLength = 20

/** What a text may have been before it was encoded, if it was at least so long. */
const decodings = (text: string, least: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  const unescaped = text
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_, a, b) => String.fromCharCode(Number.parseInt(a ?? b, 16)))
    .replace(
      /&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi,
      (_, a, b) => String.fromCharCode(a === undefined ? Number(b) : Number.parseInt(a, 16))
    )
  if (unescaped !== text) found.push(unescaped)
  if (text.length * 3 < least * 4) return found
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]+/g)) {
    if (run.length * 3 < least * 4) continue
    // Where the groups of four begin is not known when something stands before them.
    for (let start = 0; start < 4; start++) found.push(Buffer.from(run.slice(start), "base64").toString("latin1"))
  }
  for (const [run] of text.matchAll(/[0-9a-f]+/gi)) {
    if (run.length < least * 2) continue
    for (let start = 0; start < 2; start++) found.push(Buffer.from(run.slice(start), "hex").toString("latin1"))
  }
  return found
}

/** The credentials that a header holds. */
const sentIn = (authorization: string): ReadonlyArray<string> => {
  const [, name = "", value = ""] = /^(\w+)\s+(.*)$/s.exec(authorization) ?? [undefined, "", authorization]
  switch (name.toLowerCase()) {
    case "oauth": {
      const parameters = OAuth1.parseAuthorization(authorization) ?? {}
      return ["oauth_consumer_key", "oauth_token", "oauth_signature", "oauth_verifier"].flatMap((key) =>
        parameters[key] ?? []
      )
    }
    case "basic":
      return [value.trim(), ...Buffer.from(value, "base64").toString("latin1").split(":")]
    default:
      return [value.trim()]
  }
}
