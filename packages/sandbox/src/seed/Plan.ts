/** The options of a population, and the periods over which it is spread. */

export interface Options {
  /** Any number; it determines all data. */
  readonly seed: number
  /** The number of posts: see `Seed.isSize`. */
  readonly posts: number
  /** The current time, in milliseconds since the epoch, 1990 or later. Most posts are from the seven days before it. */
  readonly start: number
}

/** In milliseconds. */
export const minute = 60_000
export const day = 24 * 60 * minute
export const year = 365 * day
