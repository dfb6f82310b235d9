/**
 * What apps have read and asked, by UTC day: the basis of `getUsage`, and of bills.
 *
 * `Operations.ts` counts at one place, where an answer leaves: every resource that is in the answer, as data or included,
 * and the request itself. A resource is counted once for an app and a day, whichever operation brought it first: it is
 * `fresh` then, and `returned` every time. Figures and what a write answers are no resources; the request is counted, as
 * every one is. Refusals are not counted, an answer that is lost on its way is.
 */
import type { Name } from "@postwire/core/Catalogue"
import type { Kind } from "@postwire/core/Model"

/** A resource of an answer. */
export interface Resource {
  readonly kind: Kind
  readonly id: string
  readonly place: Place
}

/** Where a resource stands in an answer. */
export type Place = "data" | "includes"

/** An answer that leaves. */
export interface Answer {
  readonly appId: string
  readonly operation: Name
  readonly resources: ReadonlyArray<Resource>
  /** The service's time in milliseconds. */
  readonly now: number
}

/** How many resources of a kind an operation has brought, at one place of its answers. */
export interface Brought {
  readonly operation: Name
  readonly kind: Kind
  readonly place: Place
  /** In all answers. */
  readonly returned: number
  /** Those that the app had not read on that day before. */
  readonly fresh: number
}

/** What an app has read and asked on a day. */
export interface Day {
  /** Midnight UTC, in milliseconds. */
  readonly at: number
  readonly brought: ReadonlyArray<Brought>
  /** How many requests of an operation were answered. */
  readonly requests: ReadonlyMap<Name, number>
  /** How many different resources of a kind. */
  readonly distinct: (kind: Kind) => number
}

/** What apps have read and asked. */
export interface Usage {
  readonly count: (answer: Answer) => void
  /** The days of an app on which it asked for anything, oldest first; only the latest hundred are remembered. */
  readonly days: (appId: string) => ReadonlyArray<Day>
  readonly clear: () => void
}

/** The length of a day in milliseconds. */
export const dayMillis = 86_400_000

/** The last ninety can be asked for. */
const maxDays = 100

/** Midnight UTC before an instant, in milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / dayMillis) * dayMillis

/** The first of a day's month and that of the next one (UTC), in milliseconds. */
export const monthOf = (now: number): readonly [begin: number, end: number] => {
  const date = new Date(now)
  const at = (month: number) => Date.UTC(date.getUTCFullYear(), month)
  return [at(date.getUTCMonth()), at(date.getUTCMonth() + 1)]
}

/** Days of apps, in memory. */
export const make = (): Usage => {
  const apps = new Map<string, Map<number, Counted>>()
  const of = (appId: string, at: number): Counted => {
    const days = apps.get(appId) ?? new Map<number, Counted>()
    apps.set(appId, days)
    let day = days.get(at)
    if (day === undefined) {
      if (days.size >= maxDays) days.delete(Math.min(...days.keys()))
      days.set(at, day = new Counted(at))
    }
    return day
  }
  return {
    count: ({ appId, now, operation, resources }) => of(appId, dayOf(now)).add(operation, resources),
    days: (appId) => [...apps.get(appId)?.values() ?? []].sort((a, b) => a.at - b.at),
    clear: () => apps.clear()
  }
}

class Counted implements Day {
  readonly at: number
  readonly requests = new Map<Name, number>()
  readonly #seen = new Map<Kind, Set<string>>()
  readonly #brought = new Map<string, { -readonly [K in keyof Brought]: Brought[K] }>()

  constructor(at: number) {
    this.at = at
  }

  get brought(): ReadonlyArray<Brought> {
    return [...this.#brought.values()]
  }

  readonly distinct = (kind: Kind): number => this.#seen.get(kind)?.size ?? 0

  add(operation: Name, resources: ReadonlyArray<Resource>): void {
    this.requests.set(operation, (this.requests.get(operation) ?? 0) + 1)
    for (const { id, kind, place } of resources) {
      const seen = this.#seen.get(kind) ?? new Set<string>()
      this.#seen.set(kind, seen)
      const key = `${operation} ${kind} ${place}`
      const brought = this.#brought.get(key) ?? { operation, kind, place, returned: 0, fresh: 0 }
      this.#brought.set(key, brought)
      brought.returned++
      if (seen.has(id)) continue
      seen.add(id)
      brought.fresh++
    }
  }
}
