/**
 * Finds the links in a text, by the published rules of the service. Every expression here is one character class, so that the
 * time is linear in the length of the text.
 */
import { packed } from "./internal/topLevelDomains.ts"

/** UTF-16 positions, with the end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Accented letters that URLs may contain. */
export const accents = String
  .raw`\xC0-\xD6\xD8-\xF6\xF8-\u024F\u0253\u0254\u0256\u0257\u0259\u025B\u0263\u0268\u026F\u0272\u0289\u028B\u02BB\u0300-\u036F\u1E00-\u1EFF`

/** White space by the rules of the service: a few more characters than `\s`, and no byte order mark. */
export const spaces = String.raw`\t-\r \x85\xA0\u1680\u180E\u2000-\u200A\u2028\u2029\u202F\u205F\u3000`

export const punctuation = String.raw`!'#%&()*+,\\\-.\/:;<=>?@\[\]^_{|}~$`

/** Characters that no text may contain. */
export const forbidden = String.raw`\uFFFE\uFEFF\uFFFF`

/** The links of a text, from left to right. */
export const find = (text: string): ReadonlyArray<Span> => {
  const links: Array<Span> = []
  if (!dotted.test(text)) return links
  // The text before it was already matched as a URL.
  let free = 0
  const read = (start: number, domain: Span) => {
    const address = addressAt(text, start, domain)
    links.push(...address.links)
    free = address.end
  }
  for (const { 0: word, index } of text.matchAll(words)) {
    if (index + word.length <= free || !dotted.test(word)) continue
    const domainAt = domainsOf(text, index, word)
    if (domainAt === undefined) continue
    if (index > free) {
      const start = protocolBefore(text, index, free)
      const end = start === undefined ? undefined : domainAt(index)
      if (start !== undefined && end !== undefined) read(start, { start: index, end })
    }
    const last = index + word.length
    // A character that precedes a URL belongs to no other one.
    for (let start = index > free || free === 0 ? index : free + 1; start < last; start++) {
      if (start > 0 && !precedes.test(text.charAt(start - 1))) continue
      // At the start of the text, a character that may precede a URL does.
      if (start === 0 && precedes.test(text.charAt(0)) && text[1] !== "." && domainAt(1) !== undefined) continue
      const end = domainAt(start)
      if (end === undefined) continue
      read(start, { start, end })
      start = free
    }
  }
  return links
}

const dotted = /\.\p{L}/u

/** The characters of a domain, and the separator of its labels. */
const words = /*#__PURE__*/ new RegExp(
  `[^${
    punctuation.replace(String.raw`\-.`, "").replace("_", "")
  }${spaces}${forbidden}\u202A-\u202E\u061C\u200E\u200F\u2066-\u2069]+`,
  "g"
)

const precedes = /*#__PURE__*/ new RegExp(`[^A-Za-z0-9@＠$#＃${forbidden}]`)

/** The position of a URL's protocol. */
const protocolBefore = (text: string, at: number, free: number): number | undefined => {
  const protocol = /https?:\/\/$/i.exec(text.slice(Math.max(free, at - 8), at))?.[0]
  if (protocol === undefined) return undefined
  const start = at - protocol.length
  return start === 0 || start > free && precedes.test(text.charAt(start - 1)) ? start : undefined
}

/**
 * The end of a domain that starts at a position of a word: after the last top-level domain that only labels lead to.
 * Positions must be queried in ascending order. `undefined` if the word has no top-level domain.
 */
const domainsOf = (text: string, from: number, word: string): ((start: number) => number | undefined) | undefined => {
  const labels: Array<{ readonly end: number; readonly underscore: number; readonly top: number | undefined }> = []
  let at = from
  for (const label of word.split(".").slice(0, -1)) {
    const end = at + label.length
    labels.push({ end, underscore: at + label.lastIndexOf("_"), top: topLevelEnd(text, end + 1) })
    at = end + 1
  }
  if (labels.every(({ top }) => top === undefined)) return undefined
  const isHost = (position: number) => position >= from && !/[-_.]/.test(text.charAt(position))
  // Beyond a label, as long as whole labels follow.
  const beyond: Array<number | undefined> = []
  for (let k = labels.length - 2; k >= 0; k--) {
    const next = labels[k + 1]
    const begin = (labels[k]?.end ?? 0) + 1
    if (next === undefined || !isHost(begin) || !isHost(next.end - 1)) continue
    beyond[k] = beyond[k + 1] ?? (next.underscore < begin ? next.top : undefined)
  }
  let k = 0
  return (start) => {
    while (k < labels.length && (labels[k]?.end ?? 0) <= start) k++
    const label = labels[k]
    if (label === undefined || !isHost(start) || !isHost(label.end - 1)) return undefined
    return beyond[k] ?? (label.underscore < start ? label.top : undefined)
  }
}

let topLevels: ReadonlySet<string> | undefined

/** For each label, how much of the previous one it starts with (from `A` for none), and its remaining text. */
export const unpacked = (packed: string): ReadonlySet<string> => {
  let last = ""
  return new Set(
    Array.from(
      packed.matchAll(/([A-Z])([^A-Z]*)/g),
      ([, shared = "", rest = ""]) => last = last.slice(0, shared.charCodeAt(0) - 65) + rest
    )
  )
}

const letters = /[\p{L}\p{M}]{1,18}/uy
const encoded = /xn--[-0-9a-z]+/iy

const topLevelEnd = (text: string, at: number): number | undefined => {
  letters.lastIndex = encoded.lastIndex = at
  const name = letters.exec(text)?.[0]
  if (name === undefined) return undefined
  topLevels ??= unpacked(packed)
  for (let end = at + name.length; end > at; end--) {
    if (!/[0-9a-zA-Z@+-]/.test(text.charAt(end)) && topLevels.has(text.slice(at, end).toLowerCase())) return end
  }
  return encoded.test(text) ? encoded.lastIndex : undefined
}

/** The maximum lengths of a linked URL, and of the slug of a shortened one. */
const maximumLength = 4096
const maximumSlug = 40

/** The links in a URL: none, all of it or, without a protocol, the domains without foreign letters. */
const addressAt = (
  text: string,
  start: number,
  domain: Span
): { readonly end: number; readonly links: ReadonlyArray<Span> } => {
  const port = runEnd(/:[0-9]+/y, text, domain.end)
  const path = pathEnd(text, port)
  const end = queryEnd(text, path)
  const protocol = domain.start - start
  const name = text.slice(domain.start, domain.end)
  const parts = asciiDomains(name)
  const isLink = name.split(".").every(isLabel) && (!name.startsWith("xn--") || parts.length > 0) &&
    (protocol === 0 ? "https://".length : protocol) + end - start <= maximumLength
  if (!isLink) return { end, links: [] }
  if (protocol > 0) {
    const slug = /^https?:\/\/t\.co\/([a-z0-9]+)/i.exec(text.slice(start, end))
    if (slug === null) return { end, links: [{ start, end }] }
    if ((slug[1]?.length ?? 0) > maximumSlug) return { end, links: [] }
    return { end, links: [{ start, end: queryEnd(text, start + slug[0].length) }] }
  }
  if (start > 0 && /[-_./]/.test(text.charAt(start - 1))) return { end, links: [] }
  const links = parts.map((part, k) => ({
    start: start + part.start,
    end: k === parts.length - 1 && path > port ? end : start + part.end
  }))
  return { end, links }
}

/** The end of the repeated characters at a position, if there are any. */
const runEnd = (run: RegExp, text: string, at: number): number => {
  run.lastIndex = at
  return run.test(text) ? run.lastIndex : at
}

const pathCharacters = /*#__PURE__*/ new RegExp(
  String.raw`[a-z\u0400-\u04FF0-9!*';:=+,.$\/%#\[\]\-\u2013_~@|&${accents}]+`,
  "iy"
)
const endsPath = /*#__PURE__*/ new RegExp(String.raw`[+\-a-z\u0400-\u04FF0-9=_#\/${accents}]`, "i")

const pathEnd = (text: string, start: number): number => {
  if (text[start] !== "/") return start
  let end = start + 1
  for (let at = end;;) {
    const run = runEnd(pathCharacters, text, at)
    end = lastEnd(endsPath, text, at, run) ?? end
    const closed = parenthesesEnd(text, run)
    if (closed === undefined) return end
    // Parentheses end a path only where it may end before them.
    if (end === run) end = closed
    at = closed
  }
}

/** Parentheses in a path must not be empty, and can be nested once. */
const parenthesesEnd = (text: string, start: number, isNested = false): number | undefined => {
  if (text[start] !== "(") return undefined
  const run = runEnd(pathCharacters, text, start + 1)
  const inner = isNested ? undefined : parenthesesEnd(text, run, true)
  const end = inner === undefined ? run : runEnd(pathCharacters, text, inner)
  return text[end] === ")" && end > start + 1 ? end + 1 : undefined
}

const queryCharacters = /\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*/iy

const queryEnd = (text: string, start: number): number =>
  lastEnd(/[a-z0-9\-_&=#/]/i, text, start + 1, runEnd(queryCharacters, text, start)) ?? start

/** The end after the last valid final character between two positions. */
const lastEnd = (ends: RegExp, text: string, from: number, to: number): number | undefined => {
  for (let end = to; end > from; end--) if (ends.test(text.charAt(end - 1))) return end
  return undefined
}

const asciiLabels = /*#__PURE__*/ new RegExp(String.raw`[\-a-z0-9.${accents}]+`, "gi")

/** Domains of ASCII and accented letters within one of any letters. */
const asciiDomains = (domain: string): ReadonlyArray<Span> => {
  const found: Array<Span> = []
  for (const { 0: labels, index } of domain.matchAll(asciiLabels)) {
    const start = index + (labels.startsWith(".") ? 1 : 0)
    for (let dot = index + labels.lastIndexOf("."); dot > start; dot = domain.lastIndexOf(".", dot - 1)) {
      const end = topLevelEnd(domain, dot + 1)
      if (end === undefined) continue
      found.push({ start, end })
      break
    }
  }
  return found
}

/** Tests whether a label is valid in the domain name system, which allows 63 ASCII characters. */
const isLabel = (label: string): boolean => {
  const parts = label.split(/[\u3002\uFF0E\uFF61]/)
  const length = parts.reduce((sum, part) => sum + asciiLength(part), parts.length - 1)
  return length >= 1 && length <= 63
}

/** The length of a label in Punycode (RFC 3492). */
const asciiLength = (label: string): number => {
  if (/^[\0-\x7f]*$/.test(label)) return label.length
  const points = Array.from(label, (character) => character.codePointAt(0) ?? 0)
  const ascii = points.filter((point) => point < 128).length
  if (points.length > 63) return points.length
  let length = "xn--".length + ascii + (ascii > 0 ? 1 : 0)
  let [point, delta, bias] = [128, 0, 72]
  for (let done = ascii; done < points.length; delta++, point++) {
    const next = Math.min(...points.filter((other) => other >= point))
    delta += (next - point) * (done + 1)
    point = next
    for (const other of points) {
      if (other < point) delta++
      if (other !== point) continue
      let rest = delta
      for (let k = 36;; k += 36) {
        const threshold = Math.min(Math.max(k - bias, 1), 26)
        length++
        if (rest < threshold) break
        rest = Math.floor((rest - threshold) / (36 - threshold))
      }
      rest = Math.floor(delta / (done === ascii ? 700 : 2))
      rest += Math.floor(rest / ++done)
      for (bias = 0; rest > 455; bias += 36) rest = Math.floor(rest / 35)
      bias += Math.floor(36 * rest / (rest + 38))
      delta = 0
    }
  }
  return length
}
