/** What many posts are about: tags, and what the service makes out in their texts, of the last day. */
import type { PublicPost } from "../store/PublicPosts.ts"
import * as Recognition from "../text/Recognition.ts"

/** Something that is talked about. */
export interface Trend {
  readonly name: string
  /** The domain of what was recognised, or none. */
  readonly category: string | undefined
  readonly posts: number
  /** When it was first talked about of late, in milliseconds since the epoch. */
  readonly since: number
}

/** How far back is looked, in milliseconds. */
export const span = 86_400_000

/** Of more posts the latest are looked through. */
export const maxPosts = 10_000

/** The trends of posts, those with most posts first. A name is spelt as the latest post has it. */
export const of = (posts: ReadonlyArray<PublicPost>): ReadonlyArray<Trend> => {
  const found = new Map<string, { -readonly [K in keyof Trend]: Trend[K] }>()
  for (const { at, entities, text } of posts) {
    const category = Recognition.contextsOf(text)?.[0]?.domain.name
    const names = new Map(
      [
        ...(entities?.hashtags ?? []).map(({ tag }) => `#${tag}`),
        ...(entities?.cashtags ?? []).map(({ tag }) => `$${tag}`),
        ...Recognition.annotationsOf(text).map(({ normalized_text }) => normalized_text)
      ].map((name) => [name.toLowerCase(), name] as const)
    )
    for (const [key, name] of names) {
      const trend = found.get(key) ?? { name, category, posts: 0, since: at }
      found.set(key, trend)
      trend.posts++
      trend.since = Math.min(trend.since, at)
      trend.category ??= category
    }
  }
  return [...found.values()].sort((a, b) => b.posts - a.posts || (a.name < b.name ? -1 : 1))
}
