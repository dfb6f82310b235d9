/** Redacts credentials in texts, in any encoding. */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import * as Redacted from "effect/Redacted"
import type { Credentials } from "../store/Credentials.ts"

/** The replacement of a credential. */
export const hidden = "<redacted>"

/** True for names of credentials. */
export const isSecretName = (name: string): boolean =>
  !/^(?:token_type_hint|oauth_callback|x_auth_access_type)$/.test(name) &&
  /cookie|auth|bearer|token|secret|password|signature|key|verifier|^(code|pin)$/i.test(name)

/** Redacts a text. */
export type Hide = (text: string) => string

/** Redacts the credentials of the store, of the sandbox's owner and of the current request. */
export interface Secrets {
  /** A redactor for one request; `held` are further secrets that it sent. */
  readonly of: (authorization: string | undefined, held?: ReadonlyArray<string>) => Hide
}

/** `others` are credentials outside the store. */
export const make = (
  credentials: () => Credentials,
  others: () => ReadonlyArray<Redacted.Redacted>
): Secrets => {
  let pattern = /(?!)/g
  let stored: ReadonlySet<string> = new Set()
  let own: ReadonlyArray<Redacted.Redacted> = []
  /** The length of the shortest known secret. */
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

/** In characters. Shorter strings occur in ordinary texts. */
const minSecretLength = 8

/** A secret after its parameter name. */
const named =
  /((?:oauth_(?:consumer_key|token|signature|verifier)|(?:access|refresh|bearer|id)_token|code_verifier|(?:client|consumer|token)_secret|api_?key|password)["']?\s*(?:=|:|%3d|%3a)\s*["']?)[^\s"'&;,<]+/gi

/** A credential after the name of a scheme, too long for a word. */
const scheme = /\b((?:bearer|basic)(?:\s|\+|%20)+)[\w.~+/%=-]{16,}/gi

/** Candidates for encoded text. */
const runs = /[\w.~+/%=\-\\&#;]{8,}/g

/** Candidates for bearer tokens; former tokens are known only by their hashes. */
const words = /[\w-]{20,200}/g
const minTokenLength = 20

/** Possible decodings of a text that are at least `least` long. */
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
    // Preceding characters hide where the groups of four start.
    for (let start = 0; start < 4; start++) found.push(Buffer.from(run.slice(start), "base64").toString("latin1"))
  }
  for (const [run] of text.matchAll(/[0-9a-f]+/gi)) {
    if (run.length < least * 2) continue
    for (let start = 0; start < 2; start++) found.push(Buffer.from(run.slice(start), "hex").toString("latin1"))
  }
  return found
}

/** The credentials in a header. */
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
