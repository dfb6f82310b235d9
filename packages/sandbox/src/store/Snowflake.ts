/**
 * Ids that tell the time: milliseconds since the Unix epoch in the upper bits, a counter in the lower twenty. Newer is
 * larger, so ordering and time windows are ranges of ids. They exceed 2^53: text outside, `bigint` inside, never
 * numbers.
 */

/** How many low bits count ids of one millisecond. */
export const counterBits = 20

/** Larger than every id. */
export const maximum = 2n ** 63n - 1n

/** The smallest id of a millisecond; times that no id can tell become the nearest that one can. */
export const fromMillis = (millis: number): bigint =>
  millis < 0 ? 0n : millis >= 2 ** (63 - counterBits) ? maximum : BigInt(Math.trunc(millis)) << BigInt(counterBits)

/** The millisecond in which an id was made. */
export const toMillis = (id: bigint): number => Number(id >> BigInt(counterBits))

/** Reads a decimal id; text that is no id, or one out of range, becomes an id that nothing has. */
export const parse = (id: string): bigint => {
  if (!/^[0-9]{1,19}$/.test(id)) return -1n
  const value = BigInt(id)
  return value > maximum ? maximum : value
}

/** An id of a millisecond that is larger than `last`, even when the clock stood still or went back. */
export const after = (last: bigint, millis: number): bigint => {
  const earliest = fromMillis(millis)
  return earliest > last ? earliest : last + 1n
}
