/** Trends: frequent tags and recognised entities in the posts of the last day. */
import type { PublicPost } from "../store/PublicPosts.ts"
import * as Recognition from "../text/Recognition.ts"

export interface Trend {
  readonly name: string
  /** The domain of the recognised entity, if any. */
  readonly category: string | undefined
  readonly posts: number
  /** The time of its first post in the period, in milliseconds since the epoch. */
  readonly since: number
}

/** The period, in milliseconds. */
export const span = 86_400_000

/** The maximum number of posts to evaluate; the latest count. */
export const maxPosts = 10_000

/** The trends of posts, by descending number of posts, in the spelling of the latest post. */
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
