/**
 * The posts that apps have read, by UTC day, as `getUsage` reports them. A post counts once per app and day, as data or
 * included. Refusals do not count; a response that is lost in transit does.
 */
import type { Resource } from "../projection/Projection.ts"
import { over } from "../store/Database.ts"
import * as Engine from "../store/Engine.ts"

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
  const apps = new Map<string, Map<number, number>>()
  let read: ReturnType<typeof open> | undefined
  return {
    count: ({ appId: app, now, resources }: Answer): void => {
      const posts = resources.flatMap(({ id, kind }) => kind === "post" ? id : [])
      if (posts.length === 0) return
      const days = apps.get(app) ?? new Map<number, number>()
      apps.set(app, days)
      const day = dayOf(now)
      read ??= open()
      days.set(day, (days.get(day) ?? 0) + read.add({ app, day, ids: `[${posts.join(",")}]` }))
      if (days.size <= maxDays) return
      const oldest = Math.min(...days.keys())
      days.delete(oldest)
      read.forget({ app, day: oldest })
    },
    /** The days on which an app read posts, oldest first; only the latest hundred are kept. */
    days: (appId: string): ReadonlyArray<Day> =>
      Array.from(apps.get(appId) ?? [], ([at, posts]) => ({ at, posts })).sort((a, b) => a.at - b.at),
    clear: (): void => {
      apps.clear()
      read?.close()
      read = undefined
    }
  }
}

/** Opens the posts that apps have read, in a temporary file: streams deliver millions a day. */
const open = () => {
  // A database without a name is a file that the system removes when the process ends.
  const connection = Engine.connect("")
  connection.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA journal_mode = MEMORY;
    CREATE TABLE read (app INTEGER NOT NULL, day INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (app, day, id))
      STRICT, WITHOUT ROWID;
  `)
  const { close, command } = over(() => connection, "main")
  return {
    /** Returns the number of posts that are new. */
    add: command("INSERT OR IGNORE INTO read (app, day, id) SELECT :app, :day, value FROM json_each(:ids)"),
    forget: command("DELETE FROM read WHERE app = :app AND day = :day"),
    close
  }
}
