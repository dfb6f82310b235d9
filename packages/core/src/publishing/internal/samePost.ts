/**
 * Whether a post that the service shows is one that was sent. What the service does with a text is undone: links are shortened,
 * one is added for media and quotes, some characters are escaped, white space and invisible characters are changed, and a reply
 * may begin with those whom it replies to.
 */
import type { UrlEntity } from "../../schema/models/Entities.ts"

/** What was sent. */
export interface Sent {
  readonly text: string
  /** The post that it replies to. */
  readonly inReplyTo: string | undefined
  readonly quoted: string | undefined
  /** The ids of its media. */
  readonly mediaIds: ReadonlyArray<string>
  /** Whether it replies to a post of its own thread, as nothing else does. */
  readonly isContinuation: boolean
}

/** What the service shows. */
export interface Seen {
  readonly text: string
  readonly note_post?: SeenText | undefined
  readonly entities?: SeenText["entities"]
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string> } | undefined
  readonly referenced_posts?: ReadonlyArray<{ readonly type: string; readonly id: string }> | undefined
}

interface SeenText {
  readonly text?: string
  readonly entities?: { readonly urls?: ReadonlyArray<UrlEntity> } | undefined
}

/** What has to be asked for, to tell. */
export const postFields = ["attachments", "entities", "note_post", "referenced_posts"] as const

/** Whether what is seen is what was sent. */
export const isSame = (sent: Sent, seen: Seen): boolean => {
  const { inReplyTo, isContinuation, quoted } = sent
  const referred = (type: string) => seen.referenced_posts?.find((reference) => reference.type === type)?.id
  if (referred("replied_to") !== inReplyTo || referred("reposted") !== undefined) return false
  if (quoted !== undefined && referred("quoted") !== quoted) return false
  // What begins a thread may resemble other posts of its author, down to its links and media.
  if (!isContinuation && !haveSameMedia(sent.mediaIds, seen.attachments?.media_keys ?? [])) return false
  // Of a long text the rest is in its note.
  const { entities, text = "" } = seen.note_post?.text === undefined ? seen : seen.note_post
  return isSameText(sent.text, partsOf(text, entities?.urls ?? []), inReplyTo !== undefined, isContinuation)
}

/** A key ends with the id of what was uploaded. */
const haveSameMedia = (ids: ReadonlyArray<string>, keys: ReadonlyArray<string>): boolean => {
  const own = new Set(keys.map((key) => key.replace(/^.*_/, "")))
  return ids.length === keys.length && ids.every((id) => own.has(id))
}

/** A text as words and links that take turns, words first and last. */
interface Parts {
  readonly words: ReadonlyArray<string>
  /** Where each link leads to, as far as that is known. */
  readonly links: ReadonlyArray<string | undefined>
}

const shortened = /https?:\/\/t\.co\/\w+/g

// Positions of entities are counted in more than one way, so links are found by their text.
const partsOf = (text: string, urls: ReadonlyArray<UrlEntity>): Parts => {
  const known = new Map(urls.flatMap(({ expanded_url, url }) => url === undefined ? [] : [[url, expanded_url]]))
  for (const [url] of text.matchAll(shortened)) if (!known.has(url)) known.set(url, undefined)
  const words: Array<string> = []
  const links: Array<string | undefined> = []
  const pattern = known.size === 0 ? undefined : RegExp(
    // The longer one first, of which another may be the beginning.
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
    // Links at the end may be those of media or of what is quoted.
    if (words.slice(count + 1).some((text) => text.trim() !== "")) break
    const shown = words.slice(0, count + 1).map(plain).join(link).trim().replace(begin, "")
    const written = linksOf(own, shown)
    if (written !== undefined && (anyLink || written.every((url, i) => leadsTo(url, links[i])))) return true
  }
  return false
}

/** The texts that stand in place of the links of what is shown; nothing where the rest is not the same. */
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

/** The same within a word, of which the texts around its links are known. The first links are as long as they can be. */
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

/** What stands for a link, as no text has it. */
const link = "\0"

/**
 * A text without what the service may change in it. Invisible characters go first: they keep spaces, escapes and composed
 * characters apart.
 */
const plain = (text: string): string => unescaped(text.replace(invisible, "")).normalize("NFC").replace(/\s+/g, " ")

const invisible = /\ufeff|(?!\s)[\p{Cc}\p{Cf}\ufe0e\ufe0f]/gu

const escapes: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: "\"", "#39": "'" }

// A text may be escaped by its author, too.
const unescaped = (text: string): string =>
  text.replace(/&(?:amp;)*(?:(lt|gt|quot|#39);)?/g, (_, name: string | undefined) => escapes[name ?? ""] ?? "&")

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** Whether a link as it was written leads to an address; what is not known may be. */
const leadsTo = (written: string, address: string | undefined): boolean =>
  address === undefined || addressOf(written) === addressOf(address)

const addressOf = (url: string): string => {
  const whole = /^https?:\/\//i.test(url) ? url : `http://${url}`
  if (!URL.canParse(whole)) return url
  const { hash, host, pathname, search } = new URL(whole)
  return `${host}${pathname.replace(/\/$/, "")}${search}${hash}`
}
