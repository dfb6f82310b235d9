/** A set of ids that needs some 16 bytes for each: they are 64-bit numbers in two arrays instead of strings. */
export class IdSet {
  #size = 0
  #high = new Uint32Array(64)
  #low = new Uint32Array(64)
  /** Ids that are not such numbers. */
  readonly #texts = new Set<string>()

  /** The number of ids. */
  get size(): number {
    return this.#size + this.#texts.size
  }

  has(id: string): boolean {
    if (!read(id)) return this.#texts.has(id)
    return placeOf(this.#high, this.#low, high, low) < 0
  }

  /** Adds an id; returns whether it is new. */
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

/** The halves of the id that was read last. Returning a pair for each would create as much garbage as the set keeps. */
let high = 0
let low = 0

/** The number of digits that is always below 2^64. */
const mostDigits = 19

const wrap = 2 ** 32

/** Reads a number digit by digit. One that begins with 0 is refused, since 0 marks a free slot. */
const read = (id: string): boolean => {
  const { length } = id
  if (length === 0 || length > mostDigits || id.charCodeAt(0) === zero) return false
  // Both parts are below 2^53.
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

/** The free slot for a number; negative if it is already in the set. */
const placeOf = (highs: Uint32Array, lows: Uint32Array, high: number, low: number): number => {
  const mask = highs.length - 1
  let at = mixed(high, low) & mask
  while (highs[at] !== 0 || lows[at] !== 0) {
    if (highs[at] === high && lows[at] === low) return -1
    at = (at + 1) & mask
  }
  return at
}

/** Mixes the bits of an id, which are uneven because ids are sequential. */
const mixed = (high: number, low: number): number => {
  let mix = Math.imul(high ^ (low >>> 15), 0x85ebca6b) ^ low
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
