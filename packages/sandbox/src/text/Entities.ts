/**
 * What the service recognises in a text. Positions count characters (code points), with the end exclusive.
 */
import * as PostEntities from "@postwire/core/text/PostEntities"

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
  const spans = PostEntities.find(text)
  const placed = <S extends PostEntities.Span, E extends object>(
    spans: ReadonlyArray<S>,
    entityOf: (span: S) => E | undefined
  ) => {
    const characters = counter(text)
    return spans.flatMap((span) => {
      const at = { start: characters(span.start), end: characters(span.end) }
      const entity = entityOf(span)
      return entity === undefined ? [] : [{ ...at, ...entity }]
    })
  }
  const hashtags = placed(spans.hashtags, ({ tag }) => ({ tag }))
  const cashtags = placed(spans.cashtags, ({ tag }) => ({ tag }))
  const mentions = placed(spans.mentions, ({ list, username }) => {
    // A list is not its owner.
    const user = list === undefined ? resolve(username) : undefined
    return user && { username: user.username, id: user.id }
  })
  const urls = placed(spans.urls, ({ url }) => ({
    url,
    expanded_url: /^https?:\/\//i.test(url) ? url : `http://${url}`,
    display_url: display(url)
  }))
  const found = {
    ...(hashtags.length > 0 && { hashtags }),
    ...(cashtags.length > 0 && { cashtags }),
    ...(mentions.length > 0 && { mentions }),
    ...(urls.length > 0 && { urls })
  }
  return Object.keys(found).length === 0 ? undefined : found
}

/** What there is no entity without. Most texts have nothing of it. */
const sign = /[#＃@＠$]|\.\p{L}/u

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
  const bare = url.replace(/^(https?:\/\/)?(www\.)?/i, "")
  return bare.length > 27 ? `${bare.slice(0, 26)}…` : bare
}
