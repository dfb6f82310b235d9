/** What to populate a store with, and the spans of time that its data are spread over. */

/** What to populate a store with. */
export interface Options {
  /** Any number; another one gives other data. */
  readonly seed: number
  /** How many posts there will be: see `Seed.isSize`. */
  readonly posts: number
  /** The present, in milliseconds since the epoch, 1990 or later: most posts lie within the seven days before it. */
  readonly start: number
}

/** In milliseconds. */
export const minute = 60_000
export const day = 24 * 60 * minute
export const year = 365 * day
