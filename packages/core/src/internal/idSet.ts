/** A set of ids that needs some 16 bytes for each: they are 64-bit numbers in an array instead of strings. */
export class IdSet {
  #size = 0
  /** The high and the low half of each slot side by side, as looking further away takes longest. */
  #slots = new Uint32Array(128)
  /** Ids that are not such numbers. */
  readonly #texts = new Set<string>()

  /** The number of ids. */
  get size(): number {
    return this.#size + this.#texts.size
  }

  has(id: string): boolean {
    return read(id) ? placeOf(this.#slots, high, low) < 0 : this.#texts.has(id)
  }

  /** Adds an id, unless it is in `others`; returns whether it is new. */
  add(id: string, others?: IdSet): boolean {
    if (!read(id)) {
      if (others !== undefined && others.#texts.has(id)) return false
      const before = this.#texts.size
      return this.#texts.add(id).size > before
    }
    if (others !== undefined && others.#size > 0 && placeOf(others.#slots, high, low) < 0) return false
    const place = placeOf(this.#slots, high, low)
    if (place < 0) return false
    this.#slots[place] = high
    this.#slots[place + 1] = low
    if (++this.#size > this.#slots.length * 0.35) this.#grow()
    return true
  }

  #grow(): void {
    const before = this.#slots
    const slots = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at]!
      const low = before[at + 1]!
      if (high === 0 && low === 0) continue
      const place = placeOf(slots, high, low)
      slots[place] = high
      slots[place + 1] = low
    }
    this.#slots = slots
  }
}

/** The halves of the id that was read last. Returning a pair for each would create as much garbage as the set keeps. */
let high = 0
let low = 0

/** The number of digits that is always below 2^64. */
const mostDigits = 19

const wrap = 2 ** 32

/** Reads a number. One that begins with 0 is refused, since 0 marks a free slot. */
const read = (id: string): boolean => {
  const { length } = id
  if (length === 0 || length > mostDigits || id.charCodeAt(0) === zero) return false
  // Nine digits at a time are small integers, which are the fastest.
  const first = digits(id, 0, length - 18)
  const middle = digits(id, Math.max(0, length - 18), length - 9)
  const last = digits(id, Math.max(0, length - 9), length)
  if (first < 0 || middle < 0 || last < 0) return false
  // Both parts are below 2^53.
  const upper = Math.floor((first * 1e9 + middle) / 0x10000) * 1e9
  const lower = (upper % 0x10000) * 0x10000 + ((first * 1e9 + middle) % 0x10000) * 1e9 + last
  high = Math.floor(upper / 0x10000) + Math.floor(lower / wrap)
  low = lower % wrap
  return true
}

const zero = 48

/** The number that digits of a text make; negative if they are not digits. */
const digits = (text: string, from: number, to: number): number => {
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

/** The free slot for a number; negative if it is already in the set. */
const placeOf = (slots: Uint32Array, high: number, low: number): number => {
  const mask = slots.length - 2
  let at = (mixed(high, low) << 1) & mask
  while (slots[at] !== 0 || slots[at + 1] !== 0) {
    if (slots[at] === high && slots[at + 1] === low) return -1
    at = (at + 2) & mask
  }
  return at
}

/** Mixes the bits of an id, which are uneven because ids are sequential. */
const mixed = (high: number, low: number): number => {
  let mix = Math.imul(high ^ (low >>> 15), 0x85ebca6b) ^ low
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
