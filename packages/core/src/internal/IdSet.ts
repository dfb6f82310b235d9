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
    if (!numeric.test(id)) return this.#texts.has(id)
    const [high, low] = partsOf(id)
    return placeOf(this.#high, this.#low, high, low) < 0
  }

  /** Whether it was not in it before. */
  add(id: string): boolean {
    if (!numeric.test(id)) {
      const before = this.#texts.size
      return this.#texts.add(id).size > before
    }
    const [high, low] = partsOf(id)
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
    for (const [at, value] of this.#high.entries()) {
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

/** Below 2^64, and not 0: that is the mark of a free place. */
const numeric = /^[1-9]\d{0,18}$/

const wrap = 2 ** 32

/** A number of 19 digits in two halves of 32 bits. */
const partsOf = (id: string): readonly [high: number, low: number] => {
  let high = 0
  let low = 0
  for (let at = 0; at < id.length; at += 5) {
    const digits = id.slice(at, at + 5)
    const scale = 10 ** digits.length
    const sum = low * scale + Number(digits)
    low = sum % wrap
    high = high * scale + Math.floor(sum / wrap)
  }
  return [high, low]
}

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
