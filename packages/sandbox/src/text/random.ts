/** Seeded randomness, for reproducible data and faults. */

/** A random stream. */
export type Random = ReturnType<typeof make>

/**
 * Independent streams of one seed (FNV-1a for the state, mulberry32 for the draws), so that parts do not affect each other.
 */
export const make = (seed: number, stream: string) => {
  let state = 0x811c9dc5
  for (const character of `${seed}:${stream}`) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193)
  const next = () => {
    state = state + 0x6d2b79f5 | 0
    let t = Math.imul(state ^ state >>> 15, 1 | state)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    /** From 0 (inclusive) to 1 (exclusive). */
    next,
    below,
    chance: (probability: number): boolean => next() < probability,
    pick: <A>(items: ReadonlyArray<A>): A => items[below(items.length)]!,
    weighted: <A extends { readonly share: number }>(items: ReadonlyArray<A>): A => {
      let left = next() * items.reduce((sum, { share }) => sum + share, 0)
      return items.find(({ share }) => (left -= share) < 0) ?? items.at(-1)!
    },
    /**
     * Draws items with probabilities inversely proportional to their rank: the second half as often as the first, and so
     * on.
     */
    ranked: <A>(items: ReadonlyArray<A>): () => A => {
      let total = 0
      const sums = items.map((_, rank) => total += 1 / (rank + 1))
      return () => {
        const aim = next() * total
        let low = 0
        for (let high = sums.length - 1; low < high;) {
          const middle = low + high >> 1
          if (sums[middle]! > aim) high = middle
          else low = middle + 1
        }
        return items[low]!
      }
    },
    text: (length: number): string => Array.from({ length }, () => alphabet[below(alphabet.length)]).join("")
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
