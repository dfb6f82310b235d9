/**
 * Compares a post that the service shows with one that was sent. It undoes the changes that the service makes to a text: links are
 * shortened, one is added for media and quotes, some characters are escaped, white space and invisible characters are changed, and
 * a reply may begin with mentions of those it replies to.
 */
import * as Predicate from "effect/Predicate"
import type { UrlEntity } from "../../schema/models/Entities.ts"

/** A post that was sent. */
export interface Sent {
  readonly text: string
  /** The id of the post that it replies to. */
  readonly inReplyTo: string | undefined
  readonly quoted: string | undefined
  /** The ids of its media. */
  readonly mediaIds: ReadonlyArray<string>
  /** It replies to a post of its own thread, which no other post does. */
  readonly isContinuation: boolean
}

/** An article that was published as a post, whose text is unknown. */
export interface SentArticle {
  readonly title: string
}

/** A post that the service shows. */
export interface Seen {
  readonly text: string
  readonly article?: unknown
  readonly note_post?: SeenText | undefined
  readonly entities?: SeenText["entities"]
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string> } | undefined
  readonly referenced_posts?: ReadonlyArray<{ readonly type: string; readonly id: string }> | undefined
}

interface SeenText {
  readonly text?: string
  readonly entities?: { readonly urls?: ReadonlyArray<UrlEntity> } | undefined
}

/** The fields that the comparison needs. */
export const postFieldsOf = (sent: Sent | SentArticle) =>
  "title" in sent ? ["article"] as const : ["attachments", "entities", "note_post", "referenced_posts"] as const

/** Checks that both are the same post. */
export const isSame = (sent: Sent | SentArticle, seen: Seen): boolean => {
  if ("title" in sent) {
    return Predicate.hasProperty(seen.article, "title") && plain(String(seen.article.title)) === plain(sent.title)
  }
  const { inReplyTo, isContinuation, quoted } = sent
  const referred = (type: string) => seen.referenced_posts?.find((reference) => reference.type === type)?.id
  if (referred("replied_to") !== inReplyTo || referred("reposted") !== undefined) return false
  if (quoted !== undefined && referred("quoted") !== quoted) return false
  // The first part of a thread may resemble other posts of its author, down to links and media.
  if (!isContinuation && !haveSameMedia(sent.mediaIds, seen.attachments?.media_keys ?? [])) return false
  // A note has the whole of a long text.
  const { entities, text = "" } = seen.note_post?.text === undefined ? seen : seen.note_post
  return isSameText(sent.text, partsOf(text, entities?.urls ?? []), inReplyTo !== undefined, isContinuation)
}

/** Compares by ids: a media key ends with the id of the upload. */
const haveSameMedia = (ids: ReadonlyArray<string>, keys: ReadonlyArray<string>): boolean => {
  const own = new Set(keys.map((key) => key.replace(/^.*_/, "")))
  return ids.length === keys.length && ids.every((id) => own.has(id))
}

/** A text as alternating words and links, words first and last. */
interface Parts {
  readonly words: ReadonlyArray<string>
  /** The target of each link, if known. */
  readonly links: ReadonlyArray<string | undefined>
}

const shortened = /https?:\/\/t\.co\/\w+/g

// Services count positions of entities differently, so links are found by their text.
const partsOf = (text: string, urls: ReadonlyArray<UrlEntity>): Parts => {
  const known = new Map(urls.flatMap(({ expanded_url, url }) => url === undefined ? [] : [[url, expanded_url]]))
  for (const [url] of text.matchAll(shortened)) if (!known.has(url)) known.set(url, undefined)
  const words: Array<string> = []
  const links: Array<string | undefined> = []
  const pattern = known.size === 0 ? undefined : RegExp(
    // Longer ones first: a shorter one may be their prefix.
    [...known.keys()].sort((a, b) => b.length - a.length).map(literally).join("|"),
    "g"
  )
  let from = 0
  for (const { 0: url, index } of pattern === undefined ? [] : text.matchAll(pattern)) {
    words.push(text.slice(from, index))
    links.push(known.get(url))
    from = index + url.length
  }
  return { words: [...words, text.slice(from)], links }
}

const isSameText = (sent: string, { links, words }: Parts, isReply: boolean, anyLink: boolean): boolean => {
  const begin = isReply ? /^(?:@\w+(?:\s+|$))+/ : /^(?!)/
  const own = plain(sent).trim().replace(begin, "")
  for (let count = links.length; count >= 0; count--) {
    // Links at the end may belong to media or a quoted post.
    if (words.slice(count + 1).some((text) => text.trim() !== "")) break
    const shown = words.slice(0, count + 1).map(plain).join(link).trim().replace(begin, "")
    const written = linksOf(own, shown)
    if (written !== undefined && (anyLink || written.every((url, i) => leadsTo(url, links[i])))) return true
  }
  return false
}

/** The texts in place of the links of the shown post; `undefined` if the rest differs. */
const linksOf = (own: string, shown: string): ReadonlyArray<string> | undefined => {
  const theirs = shown.split(" ")
  const ours = own.split(" ")
  if (theirs.length !== ours.length) return undefined
  const links: Array<string> = []
  for (const [i, word] of ours.entries()) {
    const found = linksOfWord(word, theirs[i]?.split(link) ?? [])
    if (found === undefined) return undefined
    links.push(...found)
  }
  return links
}

/** The same within a word, given the texts around its links. The first links match as much as possible. */
const linksOfWord = (
  word: string,
  [first = "", ...others]: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  const last = others.pop()
  if (last === undefined) return word === first ? [] : undefined
  if (!word.startsWith(first) || !word.endsWith(last)) return undefined
  const links: Array<string> = []
  let end = word.length - last.length
  for (const text of others.toReversed()) {
    const latest = end - 1 - text.length
    const from = latest < 0 ? -1 : word.lastIndexOf(text, latest)
    if (from < 0) return undefined
    links.unshift(word.slice(from + text.length, end))
    end = from
  }
  return end > first.length ? [word.slice(first.length, end), ...links] : undefined
}

/** A placeholder for links that occurs in no text. */
const link = "\0"

/**
 * Normalizes all that the service may change. Invisible characters go first: they separate spaces, escapes and composed characters.
 */
const plain = (text: string): string => unescaped(text.replace(invisible, "")).normalize("NFC").replace(/\s+/g, " ")

const invisible = /\ufeff|(?!\s)[\p{Cc}\p{Cf}\ufe0e\ufe0f]/gu

const escapes: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: "\"", "#39": "'" }

// The author may have escaped the text, too.
const unescaped = (text: string): string =>
  text.replace(/&(?:amp;)*(?:(lt|gt|quot|#39);)?/g, (_, name: string | undefined) => escapes[name ?? ""] ?? "&")

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** Checks that a written link leads to a target; an unknown target may be any. */
const leadsTo = (written: string, address: string | undefined): boolean =>
  address === undefined || addressOf(written) === addressOf(address)

const addressOf = (url: string): string => {
  const whole = /^https?:\/\//i.test(url) ? url : `http://${url}`
  if (!URL.canParse(whole)) return url
  const { hash, host, pathname, search } = new URL(whole)
  return `${host}${pathname.replace(/\/$/, "")}${search}${hash}`
}
