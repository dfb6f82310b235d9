/** Which items have come, for a while: bounded in number and age. */
import { IdSet } from "../../internal/idSet.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"

/** The ids that came of late, in two generations: when the younger one is full or old, it takes the place of the older one. */
export class Duplicates {
  readonly #size: number
  readonly #age: number
  #young = new IdSet()
  #old = new IdSet()
  #begun: number | undefined

  /** `size` is how many ids are remembered at most, `age` for how many milliseconds they are at least. */
  constructor(size: number, age: number) {
    this.#size = Math.max(1, Math.ceil(size / 2))
    this.#age = age
  }

  /** Whether an id has not come before. While `keeps`, ids do not get too old. */
  add(id: string, now: number, keeps: boolean): boolean {
    this.#begun ??= now
    if (this.#young.size >= this.#size || (!keeps && now - this.#begun >= this.#age)) {
      this.#old = this.#young
      this.#young = new IdSet()
      this.#begun = now
    }
    return !(this.#old.size > 0 && this.#old.has(id)) && this.#young.add(id)
  }
}

/** What tells an item from others: its id, or of an event without one, a number that is made of all it says. */
export const idOf = (item: AnyItem): string => {
  const data = "post" in item ? item.post : item.event
  if (typeof data === "object" && data !== null && "id" in data && typeof data.id === "string") return data.id
  const text = JSON.stringify(data)
  return `1${digits(hash(text, 0x811c9dc5))}${digits(hash(text, 0x9747b28c))}`
}

const digits = (number: number): string => String(number % 1_000_000_000).padStart(9, "0")

const hash = (text: string, seed: number): number => {
  let mix = seed
  for (let at = 0; at < text.length; at++) mix = Math.imul(mix ^ text.charCodeAt(at), 0x01000193)
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b)
  return (mix ^ (mix >>> 13)) >>> 0
}
