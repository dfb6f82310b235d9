/**
 * A map of what was used of late. Entries live in two generations; a full one becomes the old one, and the old one goes.
 * So it never holds more than `most`, never loses what was among the last half of that many keys used, and every step
 * costs the same, however many of its entries are in use.
 */
export class Recent<A> {
  readonly #half: number
  readonly #forgotten: ((value: A) => void) | undefined
  #young = new Map<string, A>()
  #old = new Map<string, A>()

  /** `forgotten` is called with every entry that goes. */
  constructor(most: number, forgotten?: (value: A) => void) {
    this.#half = most / 2
    this.#forgotten = forgotten
  }

  get(key: string, make: () => A): A {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const value = this.#old.get(key) ?? make()
    this.#old.delete(key)
    if (this.#young.size >= this.#half) this.#age()
    this.#young.set(key, value)
    return value
  }

  /** Looks without using it. */
  peek(key: string): A | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  *values(): Iterable<A> {
    yield* this.#old.values()
    yield* this.#young.values()
  }

  clear(): void {
    this.#age()
    this.#age()
  }

  #age(): void {
    if (this.#forgotten !== undefined) { for (const value of this.#old.values()) this.#forgotten(value) }
    this.#old = this.#young
    this.#young = new Map()
  }
}
