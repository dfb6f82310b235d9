/** A set of ids that takes some 16 bytes for each: as numbers of 64 bits in two arrays, not as texts. */
export class IdSet {
  #size = 0
  #high = new Uint32Array(64)
  #low = new Uint32Array(64)
  /** What is no such number. */
  readonly #texts = new Set<string>()

  /** How many are in it. */
  get size(): number {
    return this.#size + this.#texts.size
  }

  has(id: string): boolean {
    if (!read(id)) return this.#texts.has(id)
    return placeOf(this.#high, this.#low, high, low) < 0
  }

  /** Whether it was not in it before. */
  add(id: string): boolean {
    if (!read(id)) {
      const before = this.#texts.size
      return this.#texts.add(id).size > before
    }
    const place = placeOf(this.#high, this.#low, high, low)
    if (place < 0) return false
    this.#high[place] = high
    this.#low[place] = low
    if (++this.#size > this.#high.length * 0.7) this.#grow()
    return true
  }

  #grow(): void {
    const high = new Uint32Array(this.#high.length * 2)
    const low = new Uint32Array(high.length)
    for (let at = 0; at < this.#high.length; at++) {
      const value = this.#high[at] ?? 0
      const rest = this.#low[at] ?? 0
      if (value === 0 && rest === 0) continue
      const place = placeOf(high, low, value, rest)
      high[place] = value
      low[place] = rest
    }
    this.#high = high
    this.#low = low
  }
}

/** The halves of the id that was read last. A pair of them for each would be as much garbage as the set keeps. */
let high = 0
let low = 0

/** Below 2^64. */
const mostDigits = 19

const wrap = 2 ** 32

/** Reads a number, digit by digit; not one that begins with 0, for that is the mark of a free place. */
const read = (id: string): boolean => {
  const { length } = id
  if (length === 0 || length > mostDigits || id.charCodeAt(0) === zero) return false
  // Neither part passes 2^53.
  let first = 0
  let last = 0
  for (let at = 0; at < length; at++) {
    const digit = id.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) return false
    if (at < length - 9) first = first * 10 + digit
    else last = last * 10 + digit
  }
  const upper = Math.floor(first / 0x10000) * 1e9
  const lower = (upper % 0x10000) * 0x10000 + (first % 0x10000) * 1e9 + last
  high = Math.floor(upper / 0x10000) + Math.floor(lower / wrap)
  low = lower % wrap
  return true
}

const zero = 48

/** The free place where a number belongs; below 0 where it is there already. */
const placeOf = (highs: Uint32Array, lows: Uint32Array, high: number, low: number): number => {
  const mask = highs.length - 1
  let at = mixed(high, low) & mask
  while (highs[at] !== 0 || lows[at] !== 0) {
    if (highs[at] === high && lows[at] === low) return -1
    at = (at + 1) & mask
  }
  return at
}

/** Ids follow each other in time, so that their bits are not even. */
const mixed = (high: number, low: number): number => {
  let mix = Math.imul(high ^ (low >>> 15), 0x85ebca6b) ^ low
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
