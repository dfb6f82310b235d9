/**
 * What is owed to one service: by day, operation and account, with what requests in flight may add. The rules that every
 * `SpendStore` follows. Amounts are whole micro-dollars.
 */
import { IdSet } from "../internal/idSet.ts"
import type { Resources } from "./Prices.ts"

/** What an amount is for. */
export interface Purpose {
  /** In UTC, as `2026-08-22`. */
  readonly day: string
  readonly operation: string
  /** The name of an account, or the kind of a credential and what tells it from others. */
  readonly account: string
}

/** What a request in flight may be charged at most. */
export interface Reservation extends Purpose {
  readonly micros: number
}

/** The most that may be spent. */
export interface Limits {
  /** From midnight to midnight, UTC. */
  readonly perDay?: number | undefined
  /** In a calendar month, UTC. */
  readonly perMonth?: number | undefined
}

/** What a time has come to. A limit counts all three. */
export interface Amounts {
  readonly spent: number
  /** Of requests whose answer never came, at their largest price. */
  readonly inDoubt: number
  /** Of requests in flight, at their largest price. */
  readonly reserved: number
}

/** Nothing was spent. */
export const noAmounts: Amounts = Object.freeze({ spent: 0, inDoubt: 0, reserved: 0 })

/**
 * Whether a request may be sent, and what its day and its month had come to before. What is in flight counts for every day and
 * every month: it is charged on the day that the service says. When its process is gone, it counts for its own day and the next.
 */
export interface Decision {
  /** Whose limit it would pass. */
  readonly refused: "day" | "month" | undefined
  /** The newest day with a charge. */
  readonly newest: string | undefined
  readonly day: Amounts
  readonly month: Amounts
}

/** What a request was charged in the end. */
export interface Charge extends Purpose {
  /** What is charged for the request itself. */
  readonly micros: number
  /** Whether the request itself is charged. */
  readonly isCharged: boolean
  /** Whether nobody knows that it was charged. */
  readonly inDoubt: boolean
  /** What is charged once a day. */
  readonly resources: ReadonlyArray<Resources>
}

/** The charge of what was not sent or was refused. */
export const free = ({ account, day, operation }: Purpose): Charge => ({
  day,
  operation,
  account,
  micros: 0,
  isCharged: false,
  inDoubt: false,
  resources: []
})

/** What of a charge was new. */
export interface Settled {
  readonly micros: number
  /** Resources and requests that were charged. */
  readonly charged: number
  /** Resources that had been charged before on that day. */
  readonly repeats: number
}

/** A line of a bill. */
export interface Entry extends Purpose, Amounts {
  /** Resources and requests that were charged. */
  readonly charged: number
  /** Resources that had been charged before on that day. */
  readonly repeats: number
}

/**
 * What is in flight for longer, in milliseconds, has no answer any more: its process is gone. It is told as in doubt, and
 * settled all the same should the answer come after all.
 */
export const inFlightMillis = 15 * 60_000

/** The resources of so many days are remembered. */
export const daysRemembered = 3

/** The first day whose resources are remembered after a charge on a day. */
export const rememberedSince = (day: string): string => dayOf(Date.parse(day) - (daysRemembered - 1) * 86_400_000)

/**
 * The first day whose reservations in doubt count for a day or a month. A request that was reserved on the day before may
 * have been charged after midnight, or its process may have had a clock that was a day behind.
 */
export const doubtfulSince = (time: string): string => dayOf(Date.parse(time) - 86_400_000)

/** The day of a time in milliseconds, in UTC. */
export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

/** The month of a day. */
export const monthOf = (day: string): string => day.slice(0, 7)

/** Whose limit an amount would pass. */
export const refusedBy = (
  { perDay = Infinity, perMonth = Infinity }: Limits,
  micros: number,
  day: Amounts,
  month: Amounts
): Decision["refused"] => sumOf(day) + micros > perDay ? "day" : sumOf(month) + micros > perMonth ? "month" : undefined

/** All that a limit counts. */
export const sumOf = ({ inDoubt, reserved, spent }: Amounts): number => spent + inDoubt + reserved

/** What of a charge is new, where `add` takes the ids of a kind and says how many of them were charged on that day for the first time. */
export const settledOf = (charge: Charge, add: (resources: Resources) => number): Settled => {
  let { micros } = charge
  let charged = charge.isCharged ? 1 : 0
  let repeats = 0
  for (const resources of charge.resources) {
    const added = resources.ids.length === 0 ? 0 : add(resources)
    micros += (added + resources.unnamed) * resources.micros
    charged += added + resources.unnamed
    repeats += resources.ids.length - added
  }
  return { micros, charged, repeats }
}

/** What is charged where nothing is. */
export const nothing: Settled = Object.freeze({ micros: 0, charged: 0, repeats: 0 })

interface Held extends Reservation {
  /** When it was made, in milliseconds of a clock that all who share the bill have. */
  readonly at: number
}

type Line = { -readonly [K in keyof Entry]: Entry[K] }

/** A bill in memory. */
export class Bill {
  readonly #lines = new Map<string, Line>()
  readonly #held = new Map<string, Held>()
  /** The ids that were charged, by day and kind. A million take 16 to 32 MB. */
  readonly #ids = new Map<string, Map<string, IdSet>>()
  /** What days and months have come to, without what is reserved. */
  readonly #times = new Map<string, { spent: number; inDoubt: number }>()
  #newest: string | undefined

  reserve(lease: string, reservation: Reservation, limits: Limits, now: number): Decision {
    const day = this.#amounts(reservation.day, now)
    const month = this.#amounts(monthOf(reservation.day), now)
    const newest = this.#newest
    if (this.#held.has(lease)) return { refused: undefined, newest, day, month }
    const refused = refusedBy(limits, reservation.micros, day, month)
    if (refused === undefined) this.#held.set(lease, { ...reservation, at: now })
    return { refused, newest, day, month }
  }

  settle(lease: string, charge: Charge): Settled {
    if (!this.#held.delete(lease)) return nothing
    const settled = settledOf(charge, (resources) => this.#add(charge.day, resources))
    const { charged, micros, repeats } = settled
    if (micros + charged + repeats === 0) return settled
    if (this.#newest === undefined || charge.day > this.#newest) this.#newest = charge.day
    const line = lineIn(this.#lines, charge)
    const kind = charge.inDoubt ? "inDoubt" : "spent"
    line[kind] += micros
    line.charged += charged
    line.repeats += repeats
    for (const time of [charge.day, monthOf(charge.day)]) {
      const sum = this.#times.get(time) ?? { spent: 0, inDoubt: 0 }
      sum[kind] += micros
      this.#times.set(time, sum)
    }
    return settled
  }

  read(from: string, to: string, now: number): ReadonlyArray<Entry> {
    const entries = new Map<string, Line>()
    for (const [key, line] of this.#lines) {
      if (line.day >= from && line.day <= to) entries.set(key, { ...line })
    }
    for (const held of this.#held.values()) {
      if (held.day >= from && held.day <= to) lineIn(entries, held)[stateOf(held, now)] += held.micros
    }
    return [...entries].sort(([a], [b]) => a < b ? -1 : 1).map(([, line]) => line)
  }

  #amounts(time: string, now: number): Amounts {
    const amounts = { spent: 0, inDoubt: 0, ...this.#times.get(time), reserved: 0 }
    const since = doubtfulSince(time)
    for (const held of this.#held.values()) {
      const state = stateOf(held, now)
      if (state === "reserved" || (held.day >= since && held.day <= `${time}~`)) amounts[state] += held.micros
    }
    return amounts
  }

  #add(day: string, { ids, kind }: Resources): number {
    let ofDay = this.#ids.get(day)
    if (ofDay === undefined) {
      this.#ids.set(day, ofDay = new Map())
      for (const other of this.#ids.keys()) if (other < rememberedSince(day)) this.#ids.delete(other)
    }
    let set = ofDay.get(kind)
    if (set === undefined) ofDay.set(kind, set = new IdSet())
    let added = 0
    for (const id of ids) if (set.add(id)) added++
    return added
  }
}

const stateOf = ({ at }: Held, now: number): "inDoubt" | "reserved" =>
  now - at > inFlightMillis ? "inDoubt" : "reserved"

const lineIn = (lines: Map<string, Line>, { account, day, operation }: Purpose): Line => {
  const key = `${day} ${operation} ${account}`
  const known = lines.get(key)
  if (known !== undefined) return known
  const line = { day, operation, account, spent: 0, inDoubt: 0, reserved: 0, charged: 0, repeats: 0 }
  lines.set(key, line)
  return line
}
