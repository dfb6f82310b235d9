/**
 * Which posts apps have read, by UTC day: what `getUsage` tells. A post is counted once for an app and a day, whether it is
 * data or included. Refusals are not counted, an answer that is lost on its way is.
 */
import type { Resource } from "../projection/Projection.ts"

/** What stands in an answer that leaves. */
export interface Answer {
  readonly appId: string
  readonly resources: ReadonlyArray<Resource>
  /** The service's time in milliseconds. */
  readonly now: number
}

/** What an app has read on a day. */
export interface Day {
  /** Midnight UTC, in milliseconds. */
  readonly at: number
  /** How many different posts. */
  readonly posts: number
}

/** What apps have read. */
export interface Usage {
  readonly count: (answer: Answer) => void
  /** The days of an app on which it read posts, oldest first; only the latest hundred are remembered. */
  readonly days: (appId: string) => ReadonlyArray<Day>
  readonly clear: () => void
}

/** The length of a day in milliseconds. */
export const dayMillis = 86_400_000

/** The last ninety can be asked for. */
const maxDays = 100

/** Midnight UTC before an instant, in milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / dayMillis) * dayMillis

/** The first of a day's month and that of the next one (UTC), in milliseconds. */
export const monthOf = (now: number): readonly [begin: number, end: number] => {
  const date = new Date(now)
  const at = (month: number) => Date.UTC(date.getUTCFullYear(), month)
  return [at(date.getUTCMonth()), at(date.getUTCMonth() + 1)]
}

/** Days of apps, in memory. */
export const make = (): Usage => {
  const apps = new Map<string, Map<number, Set<string>>>()
  return {
    count: ({ appId, now, resources }) => {
      const posts = resources.filter(({ kind }) => kind === "post")
      if (posts.length === 0) return
      const days = apps.get(appId) ?? new Map<number, Set<string>>()
      apps.set(appId, days)
      const read = days.get(dayOf(now)) ?? new Set<string>()
      days.set(dayOf(now), read)
      for (const { id } of posts) read.add(id)
      if (days.size > maxDays) days.delete(Math.min(...days.keys()))
    },
    days: (appId) =>
      Array.from(apps.get(appId) ?? [], ([at, read]) => ({ at, posts: read.size })).sort((a, b) => a.at - b.at),
    clear: () => apps.clear()
  }
}
