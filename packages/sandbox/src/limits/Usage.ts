/**
 * The posts that apps have read, by UTC day, as `getUsage` reports them. A post counts once per app and day, as data or
 * included. Refusals do not count; a response that is lost in transit does.
 */
import type { Resource } from "../projection/Projection.ts"

/** The contents of a response. */
export interface Answer {
  readonly appId: string
  readonly resources: ReadonlyArray<Resource>
  /** The service's time in milliseconds. */
  readonly now: number
}

/** The usage of an app on a day. */
export interface Day {
  /** Midnight UTC, in milliseconds. */
  readonly at: number
  /** The number of distinct posts. */
  readonly posts: number
}

/** The usage of apps. */
export type Usage = ReturnType<typeof make>

/** The length of a day in milliseconds. */
export const dayMillis = 86_400_000

/** Requests may cover the last ninety days. */
const maxDays = 100

/** The preceding midnight UTC, in milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / dayMillis) * dayMillis

/** The start of the month and of the next one (UTC), in milliseconds. */
export const monthOf = (now: number): readonly [begin: number, end: number] => {
  const date = new Date(now)
  const at = (month: number) => Date.UTC(date.getUTCFullYear(), month)
  return [at(date.getUTCMonth()), at(date.getUTCMonth() + 1)]
}

export const make = () => {
  const apps = new Map<string, Map<number, Set<string>>>()
  return {
    count: ({ appId, now, resources }: Answer): void => {
      const posts = resources.filter(({ kind }) => kind === "post")
      if (posts.length === 0) return
      const days = apps.get(appId) ?? new Map<number, Set<string>>()
      apps.set(appId, days)
      const read = days.get(dayOf(now)) ?? new Set<string>()
      days.set(dayOf(now), read)
      for (const { id } of posts) read.add(id)
      if (days.size > maxDays) days.delete(Math.min(...days.keys()))
    },
    /** The days on which an app read posts, oldest first; only the latest hundred are kept. */
    days: (appId: string): ReadonlyArray<Day> =>
      Array.from(apps.get(appId) ?? [], ([at, read]) => ({ at, posts: read.size })).sort((a, b) => a.at - b.at),
    clear: (): void => apps.clear()
  }
}
