/** Remembers which items have arrived, bounded in number and age. */
import * as Predicate from "effect/Predicate"
import { IdSet } from "../../internal/idSet.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"

/** Recent ids, in two generations: when the younger one is full or old, it replaces the older one. */
export class Duplicates {
  readonly #size: number
  readonly #age: number
  #young = new IdSet()
  #old = new IdSet()
  #begun: number | undefined

  /** Remembers at most `size` ids, each for at least `age` milliseconds if there are fewer. */
  constructor(size: number, age: number) {
    this.#size = Math.max(1, Math.ceil(size / 2))
    this.#age = age
  }

  /** Adds an id, and returns whether it is new. With `keeps`, ids do not expire. */
  add(id: string, now: number, keeps: boolean): boolean {
    this.#begun ??= now
    if (this.#young.size >= this.#size || (!keeps && now - this.#begun >= this.#age)) {
      this.#old = this.#young
      this.#young = new IdSet()
      this.#begun = now
    }
    // Programs remember events by their `event_uuid` alone.
    const space = id.indexOf(" ")
    if (space > 0 && this.#knows(id.slice(0, space))) return false
    return this.#young.add(id, this.#old)
  }

  #knows(id: string): boolean {
    return this.#young.has(id) || this.#old.has(id)
  }
}

/** Identifies an item: its id, that of an event for a user or, for an event without an id, a hash of its content. */
export const idOf = (item: AnyItem): string => {
  const data = "post" in item ? item.post : item.event
  if (typeof data === "object" && data !== null) {
    if ("id" in data && typeof data.id === "string") return data.id
    if ("event_uuid" in data && typeof data.event_uuid === "string") {
      // Two users of one conversation get an event each.
      return "filter" in data && Predicate.hasProperty(data.filter, "user_id")
        ? `${data.event_uuid} ${data.filter.user_id}`
        : data.event_uuid
    }
  }
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
