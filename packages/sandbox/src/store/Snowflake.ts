/**
 * Ids that contain their time: milliseconds since the Unix epoch in the upper bits, a counter in the lower twenty. Newer
 * ids are larger, so ordering and time windows are ranges of ids. They exceed 2^53: they are strings outside the store,
 * `bigint` inside, never numbers.
 */

/** The number of low bits that count ids of the same millisecond. */
export const counterBits = 20

/** An upper bound of all ids. */
export const maximum = 2n ** 63n - 1n

/** The smallest id of a millisecond. Times out of range are clamped. */
export const fromMillis = (millis: number): bigint =>
  millis < 0 ? 0n : millis >= 2 ** (63 - counterBits) ? maximum : BigInt(Math.trunc(millis)) << BigInt(counterBits)

/** The millisecond in which an id was created. */
export const toMillis = (id: bigint): number => Number(id >> BigInt(counterBits))

/** Parses a decimal id. Invalid text, or a number out of range, becomes an id that is never assigned. */
export const parse = (id: string): bigint => {
  if (!/^[0-9]{1,19}$/.test(id)) return -1n
  const value = BigInt(id)
  return value > maximum ? maximum : value
}

/** An id of this millisecond that is larger than `last`, even if the clock stood still or went back. */
export const after = (last: bigint, millis: number): bigint => {
  const earliest = fromMillis(millis)
  return earliest > last ? earliest : last + 1n
}
