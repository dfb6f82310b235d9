/** Finds entities in texts. Positions count characters (code points), with the end exclusive. */
import * as PostEntities from "@postwire/core/text/PostEntities"

/** A hashtag or cashtag, without its sign. */
export interface Tag {
  readonly start: number
  readonly end: number
  readonly tag: string
}

/** A mentioned user. */
export interface Mention {
  readonly start: number
  readonly end: number
  readonly username: string
  readonly id: string
}

/** A link. The sandbox does not shorten links: `url` is the text. */
export interface Link {
  readonly start: number
  readonly end: number
  readonly url: string
  readonly expanded_url: string
  readonly display_url: string
}

/** The entities of a text in reading order. Empty lists are absent. */
export interface Entities {
  readonly hashtags?: ReadonlyArray<Tag>
  readonly cashtags?: ReadonlyArray<Tag>
  readonly mentions?: ReadonlyArray<Mention>
  readonly urls?: ReadonlyArray<Link>
}

/** A user who can be mentioned. */
export interface Mentionable {
  readonly id: string
  readonly username: string
}

/** Finds the entities of a text; undefined if there are none. Names unknown to `resolve` are not mentions. */
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
    // `@owner/list` does not mention the owner.
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

/** Characters of which every entity has one. Most texts have none. */
const sign = /[#＃@＠$]|\.\p{L}/u

/** Counts the characters before ascending positions, in a single pass. */
export const counter = (text: string): (until: number) => number => {
  let at = 0
  let count = 0
  return (until) => {
    for (; at < until; at++) {
      const code = text.charCodeAt(at)
      // A low surrogate belongs to the preceding character.
      if (code < 0xdc00 || code > 0xdfff) count++
    }
    return count
  }
}

const display = (url: string): string => {
  const bare = url.replace(/^(https?:\/\/)?(www\.)?/i, "")
  return bare.length > 27 ? `${bare.slice(0, 26)}…` : bare
}
