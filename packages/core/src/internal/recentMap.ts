/**
 * A map of recently used entries. Entries live in two generations: when the young one is full, it becomes the old one, which is
 * dropped. So the map never has more than `most` entries, keeps the most recently used half of that many keys, and every
 * operation takes constant time.
 */
export class Recent<A> {
  readonly #half: number
  readonly #forgotten: ((value: A) => void) | undefined
  #young = new Map<string, A>()
  #old = new Map<string, A>()

  /** `forgotten` is called with every dropped entry. */
  constructor(most: number, forgotten?: (value: A) => void) {
    this.#half = most / 2
    this.#forgotten = forgotten
  }

  get(key: string, make: () => A): A {
    return this.find(key) ?? this.#add(key, make())
  }

  /** An entry, if it is there. */
  find(key: string): A | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    return old === undefined ? undefined : this.#add(key, old)
  }

  #add(key: string, value: A): A {
    this.#old.delete(key)
    if (this.#young.size >= this.#half) this.#age()
    this.#young.set(key, value)
    return value
  }

  /** Reads an entry without marking it as used. */
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
