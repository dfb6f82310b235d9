/** The charges that a store may lack, within bounds. */
import * as Bill from "../Bill.ts"
import type { Resources } from "../Prices.ts"

/**
 * The most charges and ids that are kept singly. Further charges of one purpose are added up, without their ids, so that
 * none of these is found to be a repeat.
 */
const mostKept = 50_000

/** A request that was admitted. */
export interface Held {
  readonly bill: string
  readonly reservation: Bill.Reservation
  /** `perhaps`: the result of a step was lost. */
  inStore: "yes" | "perhaps" | "no"
}

/** A charge, or the sum of several, that the store may lack. */
export interface Owed extends Held {
  reservation: Bill.Reservation
  charge: Bill.Charge
  micros: number
  /** The share of `mostKept`. */
  readonly kept: number
}

const estimateOf = (charge: Bill.Charge): Bill.Settled => Bill.settledOf(charge, ({ ids }) => ids.length)

/** Tests whether a charge adds nothing to a bill. */
export const isFree = (charge: Bill.Charge): boolean => {
  const { charged, micros } = estimateOf(charge)
  return micros + charged === 0
}

/** The micro-dollars of a bill that the store may not know of. */
export const lackingOf = (all: Iterable<Held>, bill: string): number => {
  let sum = 0
  for (const { bill: other, inStore, reservation: { micros } } of all) {
    if (inStore !== "yes" && other === bill) sum += micros
  }
  return sum
}

/** Charges in the order of their requests, except those that the store did not accept. */
export class Owing {
  readonly #charges = new Map<string, Owed>()
  /** Charges that more can be added to, by their purpose. */
  readonly #sums = new Map<string, Owed>()
  #kept = 0

  get size(): number {
    return this.#charges.size
  }

  get all(): ReadonlyArray<readonly [lease: string, owed: Owed]> {
    return [...this.#charges]
  }

  get micros(): number {
    let micros = 0
    for (const owed of this.#charges.values()) micros += owed.micros
    return micros
  }

  get dollars(): string {
    return (this.micros / 1_000_000).toFixed(2)
  }

  lacking(bill: string): number {
    return lackingOf(this.#charges.values(), bill)
  }

  /** Returns an estimate that counts no resource as a repeat. */
  add(lease: string, held: Held, charge: Bill.Charge): Bill.Settled {
    const estimate = estimateOf(charge)
    const { micros } = estimate
    if (held.inStore === "no" && isFree(charge)) return estimate
    const kept = charge.resources.reduce((sum, { ids }) => sum + ids.length, 1)
    if (this.#kept + kept <= mostKept) {
      this.#kept += kept
      this.#charges.set(lease, { ...held, charge, micros, kept })
      return estimate
    }
    const { account, day, inDoubt, operation } = charge
    const key = JSON.stringify([held.bill, day, operation, account, inDoubt])
    const sum = this.#sums.get(key)
    // A lease that the store may hold has to be settled itself.
    if (held.inStore === "no" && sum?.inStore === "no") {
      sum.reservation = { ...sum.reservation, micros: sum.reservation.micros + held.reservation.micros }
      sum.charge = together(sum.charge, charge)
      sum.micros += micros
      return estimate
    }
    const owed = { ...held, charge: together(charge), micros, kept: 0 }
    this.#charges.set(lease, owed)
    if (held.inStore === "no") this.#sums.set(key, owed)
    return estimate
  }

  remove(lease: string): void {
    this.#kept -= this.#charges.get(lease)?.kept ?? 0
    this.#charges.delete(lease)
    if (this.size === 0) this.#sums.clear()
  }

  moveToEnd(lease: string): void {
    const owed = this.#charges.get(lease)
    if (owed === undefined) return
    this.#charges.delete(lease)
    this.#charges.set(lease, owed)
  }
}

/** Charges of one purpose without the ids of their resources. */
const together = (...charges: readonly [Bill.Charge, ...ReadonlyArray<Bill.Charge>]): Bill.Charge => {
  const resources = new Map<string, Resources>()
  let inDoubt = 0
  for (const { isCharged, micros: each, resources: own } of charges) {
    if (!isCharged) inDoubt += each
    // No kind is recorded of what has no id.
    const request = { kind: "post", micros: each, ids: [], unnamed: 1 } as const
    for (const { ids, kind, micros, unnamed } of isCharged ? [request, ...own] : own) {
      const key = `${kind} ${micros}`
      const count = ids.length + unnamed + (resources.get(key)?.unnamed ?? 0)
      resources.set(key, { kind, micros, ids: [], unnamed: count })
    }
  }
  return { ...charges[0], micros: inDoubt, isCharged: false, resources: [...resources.values()] }
}
