/**
 * The bill of one service: charges by day, operation and account, and reservations of requests in flight. The rules of every
 * `SpendStore`; pure, except that they change the state they are given. Amounts are whole micro-dollars.
 *
 * @stability experimental
 */
import type { Resources } from "./Prices.ts"

/** The purpose of an amount. */
export interface Purpose {
  /** In UTC, as `2026-08-22`. */
  readonly day: string
  readonly operation: string
  /** The name of an account, or the kind of a credential and its fingerprint. */
  readonly account: string
}

/** The largest amount that a request in flight may be charged. */
export interface Reservation extends Purpose {
  readonly micros: number
}

/** Limits in micro-dollars. */
export interface Limits {
  /** From midnight to midnight, UTC. */
  readonly perDay?: number | undefined
  /** In a calendar month, UTC. */
  readonly perMonth?: number | undefined
}

/** The amounts of a day or a month. A limit counts all three. */
export interface Amounts {
  readonly spent: number
  /** Requests whose response never came, at their largest price. */
  readonly inDoubt: number
  /** Requests in flight, at their largest price. */
  readonly reserved: number
}

/** No amounts. */
export const noAmounts: Amounts = Object.freeze({ spent: 0, inDoubt: 0, reserved: 0 })

/**
 * The decision about a request, with the amounts of its day and its month before it. A request in flight counts for every day and
 * every month, since the service decides on which day it is charged. Once its process is gone, it counts for its own day and the
 * next.
 */
export interface Decision {
  /** The limit that the request would exceed. */
  readonly refused: "day" | "month" | undefined
  /** The newest day with a charge. */
  readonly newest: string | undefined
  readonly day: Amounts
  readonly month: Amounts
}

/** The final charge of a request. */
export interface Charge extends Purpose {
  /** The charge for the request itself. */
  readonly micros: number
  /** True if the request itself is charged. */
  readonly isCharged: boolean
  /** True if it is unknown that the service charged it. */
  readonly inDoubt: boolean
  /** Resources, each of which is charged once a day. */
  readonly resources: ReadonlyArray<Resources>
}

/** The charge of a request that was not sent or was refused. */
export const free = ({ account, day, operation }: Purpose): Charge => ({
  day,
  operation,
  account,
  micros: 0,
  isCharged: false,
  inDoubt: false,
  resources: []
})

/** The new part of a charge. */
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
 * Milliseconds after which a request in flight counts as in doubt: its process is taken to be gone. It is settled as usual if its
 * response comes after all.
 */
export const inFlightMillis = 15 * 60_000

/**
 * The first day whose reservations in doubt count for a day or a month. A request that was reserved on the day before may
 * have been charged after midnight, or its process may have had a clock that was a day behind.
 */
const doubtfulSince = (time: string): string => dayOf(Date.parse(time) - 86_400_000)

/** The day of a time in milliseconds, in UTC. */
export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

/** The month of a day. */
export const monthOf = (day: string): string => day.slice(0, 7)

/** The limit that an amount would exceed. */
export const refusedBy = (
  { perDay = Infinity, perMonth = Infinity }: Limits,
  micros: number,
  day: Amounts,
  month: Amounts
): Decision["refused"] => sumOf(day) + micros > perDay ? "day" : sumOf(month) + micros > perMonth ? "month" : undefined

/** The sum that a limit counts. */
export const sumOf = ({ inDoubt, reserved, spent }: Amounts): number => spent + inDoubt + reserved

/** The new part of a charge. `add` returns how many ids of a kind are charged for the first time on that day. */
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

/** A charge of nothing. */
export const nothing: Settled = Object.freeze({ micros: 0, charged: 0, repeats: 0 })

interface Held extends Reservation {
  /** Milliseconds of the storage's clock at which it was made. */
  readonly at: number
}

/** The part of a bill that every request changes. */
export interface Open {
  /** Reservations by their leases. */
  readonly held: Record<string, Held>
  /** The newest day with a charge. */
  newest?: string
  /** The months with a charge, in no order. */
  readonly months: Array<string>
}

/** The spent and doubtful amounts of the days of a month. */
export type Month = Record<string, [spent: number, inDoubt: number]>

/** The lines of a day, by operation and account. */
export type Lines = Record<string, [spent: number, inDoubt: number, charged: number, repeats: number]>

/** Later than the storage's clock by more than this, a reservation was made before the clock was set back. */
const skewMillis = 2_000

const stateOf = ({ at }: Held, now: number): "inDoubt" | "reserved" =>
  now - at > inFlightMillis || at > now + skewMillis ? "inDoubt" : "reserved"

/** The amounts of a day or a month, given the days of its month. */
const amountsOf = (open: Open, days: Month, time: string, now: number): Amounts => {
  const amounts = { spent: 0, inDoubt: 0, reserved: 0 }
  for (const [day, [spent, inDoubt]] of Object.entries(days)) {
    if (!day.startsWith(time)) continue
    amounts.spent += spent
    amounts.inDoubt += inDoubt
  }
  const since = doubtfulSince(time)
  for (const held of Object.values(open.held)) {
    const state = stateOf(held, now)
    if (state === "reserved" || (held.day >= since && held.day <= `${time}~`)) amounts[state] += held.micros
  }
  return amounts
}

/** The decision about a reservation, given the days of its month. A lease that is held is not refused. */
export const decide = (
  open: Open,
  days: Month,
  now: number,
  lease: string,
  reservation: Reservation,
  limits: Limits
): Decision => {
  const day = amountsOf(open, days, reservation.day, now)
  const month = amountsOf(open, days, monthOf(reservation.day), now)
  const refused = open.held[lease] === undefined ? refusedBy(limits, reservation.micros, day, month) : undefined
  return { refused, newest: open.newest, day, month }
}

/** Replaces a reservation by its charge. Returns `undefined`, and changes nothing, where the lease is not held. */
export const settle = (
  open: Open,
  days: Month,
  lines: Lines,
  lease: string,
  charge: Charge,
  add: (resources: Resources) => number
): Settled | undefined => {
  if (open.held[lease] === undefined) return undefined
  delete open.held[lease]
  const settled = settledOf(charge, add)
  const { charged, micros, repeats } = settled
  if (micros + charged + repeats === 0) return settled
  const { account, day, inDoubt, operation } = charge
  if (open.newest === undefined || day > open.newest) open.newest = day
  if (!open.months.includes(monthOf(day))) open.months.push(monthOf(day))
  const sums = days[day] ??= [0, 0]
  const line = lines[`${operation} ${account}`] ??= [0, 0, 0, 0]
  const column = inDoubt ? 1 : 0
  sums[column] += micros
  line[column] += micros
  line[2] += charged
  line[3] += repeats
  return settled
}

/** The entries of a bill, in the order of their days, operations and accounts. */
export const entriesOf = (
  open: Open,
  days: ReadonlyArray<readonly [day: string, lines: Lines]>,
  { from, now, to }: { readonly from: string; readonly to: string; readonly now: number }
): ReadonlyArray<Entry> => {
  const entries = new Map<string, { -readonly [K in keyof Entry]: Entry[K] }>()
  const entryOf = (day: string, key: string) => {
    const at = key.indexOf(" ")
    const entry = entries.get(`${day} ${key}`) ?? {
      day,
      operation: key.slice(0, at),
      account: key.slice(at + 1),
      ...noAmounts,
      charged: 0,
      repeats: 0
    }
    entries.set(`${day} ${key}`, entry)
    return entry
  }
  for (const [day, lines] of days) {
    for (const [key, [spent, inDoubt, charged, repeats]] of Object.entries(lines)) {
      Object.assign(entryOf(day, key), { spent, inDoubt, charged, repeats })
    }
  }
  for (const held of Object.values(open.held)) {
    if (held.day < from || held.day > to) continue
    entryOf(held.day, `${held.operation} ${held.account}`)[stateOf(held, now)] += held.micros
  }
  return [...entries].sort(([a], [b]) => a < b ? -1 : 1).map(([, entry]) => entry)
}
