/** Finds the entities in the text of a post: links, mentions, hashtags and cashtags. */
import * as Links from "./Links.ts"

/** UTF-16 positions, with the end exclusive: `text.slice(start, end)` is the entity, with its sign. */
export interface Span extends Links.Span {}

/** A link as written in the text, with or without `https://`. */
export interface Url extends Span {
  readonly url: string
}

/** A user, without the sign; with `list`, a list of theirs (`@ada/engines`). */
export interface Mention extends Span {
  readonly username: string
  readonly list?: string
}

/** A hashtag or cashtag, without its sign. */
export interface Tag extends Span {
  readonly tag: string
}

/** In reading order; they do not overlap. */
export interface Entities {
  readonly urls: ReadonlyArray<Url>
  readonly mentions: ReadonlyArray<Mention>
  readonly hashtags: ReadonlyArray<Tag>
  readonly cashtags: ReadonlyArray<Tag>
}

/**
 * Finds the entities that the service finds in a text, by its published rules. A mention of an unknown user counts as a
 * mention. The time is linear in the length of the text; never throws.
 *
 * ```ts
 * PostEntities.find("@ada on https://example.com: #engines $TEST").hashtags // [{ start: 29, end: 37, tag: "engines" }]
 * ```
 */
export const find = (text: string): Entities => {
  const urls = Links.find(text).map(({ end, start }) => ({ start, end, url: text.slice(start, end) }))
  const mentions = mentionsOf(text)
  const hashtags = tagsOf(text, hashtag, /[#＃]|:\/\//y)
  const cashtags = tagsOf(text, cashtag)
  const apart = new Set<Span>()
  let free = 0
  for (const span of [...urls, ...mentions, ...hashtags, ...cashtags].sort((a, b) => a.start - b.start)) {
    if (span.start < free) continue
    free = span.end
    apart.add(span)
  }
  const isApart = (span: Span) => apart.has(span)
  return {
    urls: urls.filter(isApart),
    mentions: mentions.filter(isApart),
    hashtags: hashtags.filter(isApart),
    cashtags: cashtags.filter(isApart)
  }
}

const mention =
  /(?<=^|[^a-zA-Z0-9_!#$%&*@＠]|(?:^|[^a-zA-Z0-9_+~.-])[rR][tT]:?)[@＠]([a-zA-Z0-9_]{1,20})(?:\/([a-zA-Z][a-zA-Z0-9_-]{0,24}))?/g

// The following text that makes it a URL or a word.
const afterMention = /*#__PURE__*/ new RegExp(`[@＠${Links.accents}]|:\\/\\/`, "y")

const mentionsOf = (text: string): ReadonlyArray<Mention> => {
  const found: Array<Mention> = []
  let last = -1
  for (const { 0: whole, 1: username = "", 2: list, index: start } of text.matchAll(mention)) {
    const end = start + whole.length
    // The character before a mention is not part of another one.
    if (start > last && !isAt(afterMention, text, end)) {
      found.push({ start, end, username, ...(list === undefined ? {} : { list }) })
    }
    last = end
  }
  return found
}

const tagCharacters = String
  .raw`\p{L}\p{M}\p{Nd}_\u200C\u200D\uA67E\u05BE\u05F3\u05F4\uFF5E\u301C\u309B\u309C\u30A0\u30FB\u3003\u0F0B\u0F0C\xB7`

const hashtag = /*#__PURE__*/ new RegExp(
  String.raw`(?<=^|[\uFE0E\uFE0F]|[^${tagCharacters}&\p{Cs}])[#＃](?![\uFE0F\u20E3])([${tagCharacters}]+)`,
  "gu"
)

const cashtag = /*#__PURE__*/ new RegExp(
  String.raw`(?<=^|[${Links.spaces}])\$([a-z]{1,6}(?:[._][a-z]{1,2})?)(?=$|\s|[${Links.punctuation}])`,
  "gi"
)

/** Tags that contain a letter and are not followed by text that makes them something else. */
const tagsOf = (text: string, pattern: RegExp, after?: RegExp): ReadonlyArray<Tag> => {
  const found: Array<Tag> = []
  for (const { 0: whole, 1: tag = "", index: start } of text.matchAll(pattern)) {
    const end = start + whole.length
    if (/[\p{L}\p{M}]/u.test(tag) && (after === undefined || !isAt(after, text, end))) found.push({ start, end, tag })
  }
  return found
}

const isAt = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at
  return pattern.test(text)
}

/**
 * Tests whether a whole text is a URL that the service accepts: with `http` or `https`, or with neither if the protocol is
 * optional. More is accepted than is found in a text: a user, a port, an IP address, and any top-level domain.
 */
export const isUrl = (text: string, isProtocolOptional = false): boolean => {
  const [, protocol, authority = "", path = "", query = "", fragment = ""] = address.exec(text) ?? []
  if (protocol === undefined ? !isProtocolOptional : !/^https?$/i.test(protocol)) return false
  const at = authority.lastIndexOf("@")
  const host = authority.slice(at + 1).replace(/:[0-9]{1,5}$/, "")
  return userInfo.test(authority.slice(0, Math.max(at, 0))) && isHost(host) &&
    [path, query, fragment].every((part) => characters.test(part))
}

const address = /^(?:([^:/?#]+):\/\/)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/

const userInfo = /^(?:[a-z\u0400-\u04FF0-9\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*$/i

const characters = /^(?:[a-z\u0400-\u04FF0-9\-._~!$&'()*+,;=:|@/?]|%[0-9a-f]{2})*$/i

const isHost = (host: string): boolean => {
  if (/^\[[a-f0-9:.]+\]$/i.test(host)) return true
  const labels = host.split(".")
  if (labels.length === 4 && labels.every((label) => /^(?:0|[1-9][0-9]{0,2})$/.test(label) && Number(label) < 256)) {
    return true
  }
  const [top = "", domain = ""] = labels.toReversed()
  return labels.length > 1 && labels.every((label) => hostLabel.test(label)) && !domain.includes("_") &&
    !/^[0-9]|_/.test(top)
}

const hostLabel = /^[a-z0-9\u0080-\uffff](?:[a-z0-9_\u0080-\uffff-]*[a-z0-9\u0080-\uffff])?$/i
