/** Time windows as ranges of ids, and the reach of capped listings. */
import { type Range, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"

/** A time window. All given bounds apply. */
export interface Window {
  /** Posts with larger ids only. */
  readonly sinceId?: string | undefined
  /** Posts with smaller ids only. */
  readonly untilId?: string | undefined
  /** Posts of this millisecond or later. */
  readonly from?: number | undefined
  /** Posts before this millisecond. */
  readonly until?: number | undefined
}

/** The reach of a listing that holds more items than its cap. */
export interface Reach {
  readonly newest: bigint
  readonly oldest: bigint
  /** The newest id out of reach. */
  readonly beyond: bigint
}

export const rangeOf = ({ from, sinceId, until, untilId }: Window): Range => {
  let { high, low } = unbounded
  if (sinceId !== undefined) low = Snowflake.parse(sinceId)
  if (from !== undefined) low = larger(low, Snowflake.fromMillis(from) - 1n)
  if (untilId !== undefined) high = Snowflake.parse(untilId)
  if (until !== undefined) high = smaller(high, Snowflake.fromMillis(until))
  return { low, high }
}

/**
 * The ids of a window within reach, or all if there is no limit. If more items than the cap came after `sinceId`, the
 * oldest id in reach replaces it; likewise the newest id replaces `untilId`.
 */
export const within = (window: Window, reach: Reach | undefined): Range => {
  if (reach === undefined) return rangeOf(window)
  const forced = (id: string | undefined, to: bigint) =>
    id !== undefined && Snowflake.parse(id) < reach.beyond ? String(to) : id
  const { high, low } = rangeOf({
    ...window,
    sinceId: forced(window.sinceId, reach.oldest),
    untilId: forced(window.untilId, reach.newest)
  })
  return { high, low: larger(low, reach.oldest - 1n) }
}

/**
 * The reach of a listing capped to its latest `cap` items. `skip` returns the next two ids after an offset from the latest.
 */
export const reach = (
  cap: number,
  skip: (offset: number) => ReadonlyArray<{ readonly id: string }>
): Reach | undefined => {
  const [oldest, beyond] = skip(cap - 1)
  if (oldest === undefined || beyond === undefined) return undefined
  return { newest: BigInt(skip(0)[0]!.id), oldest: BigInt(oldest.id), beyond: BigInt(beyond.id) }
}

const larger = (a: bigint, b: bigint): bigint => a > b ? a : b

const smaller = (a: bigint, b: bigint): bigint => a < b ? a : b
