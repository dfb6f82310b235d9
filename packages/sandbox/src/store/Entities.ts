/**
 * What the service recognises in a text. Positions count characters (code points), with the end exclusive.
 */

/** A hashtag or cashtag, without its sign. */
export interface Tag {
  readonly start: number
  readonly end: number
  readonly tag: string
}

/** A user who is mentioned. */
export interface Mention {
  readonly start: number
  readonly end: number
  readonly username: string
  readonly id: string
}

/** A link. The sandbox does not shorten links: `url` is what the text says. */
export interface Link {
  readonly start: number
  readonly end: number
  readonly url: string
  readonly expanded_url: string
  readonly display_url: string
}

/** What was found, each list in reading order; a list with nothing in it is absent. */
export interface Entities {
  readonly hashtags?: ReadonlyArray<Tag>
  readonly cashtags?: ReadonlyArray<Tag>
  readonly mentions?: ReadonlyArray<Mention>
  readonly urls?: ReadonlyArray<Link>
}

/** Someone who can be mentioned. */
export interface Mentionable {
  readonly id: string
  readonly username: string
}

/** Finds the entities of a text. Names that `resolve` does not know are no mentions. Undefined when there are none. */
export const find = (
  text: string,
  resolve: (username: string) => Mentionable | undefined
): Entities | undefined => {
  if (!sign.test(text)) return undefined
  const found: { -readonly [K in keyof Entities]: Array<NonNullable<Entities[K]>[number]> } = {}
  const characters = counter(text)
  for (const { 0: whole, groups = {}, index } of text.matchAll(entity)) {
    const start = characters(index)
    const end = characters(index + whole.length)
    if (groups.url !== undefined) {
      const url = groups.url
      ;(found.urls ??= []).push({ start, end, url, expanded_url: url, display_url: display(url) } satisfies Link)
    } else if (groups.tag !== undefined) {
      ;(found.hashtags ??= []).push({ start, end, tag: groups.tag } satisfies Tag)
    } else if (groups.cashtag !== undefined) {
      ;(found.cashtags ??= []).push({ start, end, tag: groups.cashtag } satisfies Tag)
    } else if (groups.username !== undefined) {
      const user = resolve(groups.username)
      if (user !== undefined) {
        ;(found.mentions ??= []).push({ start, end, username: user.username, id: user.id } satisfies Mention)
      }
    }
  }
  return Object.keys(found).length === 0 ? undefined : found as Entities
}

const sign = /[#＃@$]|:\/\//

// Links come first, so that nothing is found inside one.
const entity = new RegExp(
  [
    /(?<url>https?:\/\/[^\s"<>()]*[^\s"<>().,;:!?'…])/,
    /(?<![\p{L}\p{M}\p{N}_&/])[#＃](?<tag>[\p{M}\p{N}_]*\p{L}[\p{L}\p{M}\p{N}_]*)/u,
    /(?<![\w@/.$])@(?<username>\w{1,15})(?![\w@])/,
    /(?<!\S)\$(?<cashtag>[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?!\w)/
  ].map((part) => part.source).join("|"),
  "gu"
)

/** Counts the characters before positions that only grow, so that a text is gone through once. */
export const counter = (text: string): (until: number) => number => {
  let at = 0
  let count = 0
  return (until) => {
    for (; at < until; at++) {
      const code = text.charCodeAt(at)
      // The second half of a pair belongs to the character before it.
      if (code < 0xdc00 || code > 0xdfff) count++
    }
    return count
  }
}

const display = (url: string): string => {
  const bare = url.replace(/^https?:\/\/(www\.)?/, "")
  return bare.length > 27 ? `${bare.slice(0, 26)}…` : bare
}
