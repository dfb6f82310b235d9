/**
 * The bills of `Spend`, one for each service by its address: charges, reservations of requests in flight, and the resources that
 * were charged on a day. Clients that share a store share their limits. The rules are in `Bill`.
 *
 * @stability experimental
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Storage from "../storage/Storage.ts"
import * as Bill from "./Bill.ts"

/** A store of bills. Every step is atomic among all clients that share the store. */
export interface Store<E = Storage.StorageUnavailable> {
  /**
   * Reserves the most that a request may be charged, unless that exceeds a limit. Without limits, nothing is refused. A lease that
   * is already held is not changed.
   */
  readonly reserve: (
    bill: string,
    lease: string,
    reservation: Bill.Reservation,
    limits: Bill.Limits
  ) => Effect.Effect<Bill.Decision, E>
  /** Charges what was reserved. Nothing is charged where the lease is not held, or no longer held. */
  readonly settle: (bill: string, lease: string, charge: Bill.Charge) => Effect.Effect<Bill.Settled, E>
  /** The bill from one day to another, both included, in the order of days. */
  readonly read: (bill: string, from: string, to: string) => Effect.Effect<ReadonlyArray<Bill.Entry>, E>
}

/** The current store. Without one, `Spend.layer` keeps its bills in memory. */
export class SpendStore extends /*#__PURE__*/ Context.Service<SpendStore, Store>()("@postwire/core/spend/SpendStore") {}

/** The amounts of a bill that count towards the limits of a day and its month. */
export const amountsOf = <E>(store: Store<E>, bill: string, day: string): Effect.Effect<Bill.Decision, E> =>
  // A reservation that is refused changes nothing, and the refusal has the amounts.
  store.reserve(bill, "amounts", { day, operation: "", account: "", micros: 1 }, { perDay: 0 })

/** The number of texts among which the accounts of a day are divided, so that none grows with all of them. */
const parts = 16

/** Processes that may hold leases of a bill. */
export interface Processes {
  /** The lease in the store, which names its process. */
  readonly leaseOf: (lease: string) => string
  /** Tests whether the process of a lease has ended. */
  readonly isGone: (lease: string) => boolean
}

/** A store of bills on a storage. With `processes`, the reservations of ended processes do not stay in flight. */
export const fromStorage = <E>(
  storage: Storage.Storage<E>,
  { isGone, leaseOf }: Processes = { leaseOf: identity, isGone: () => false }
): Store<E> => ({
  reserve: (bill, own, reservation, limits) => {
    const texts = [openKey(bill), monthKey(bill, Bill.monthOf(reservation.day))]
    const lease = leaseOf(own)
    return storage.modify({ texts }, ({ now, texts }) => {
      const open = openOf(texts[0])
      const days: Bill.Month = parse(texts[1])
      const decide = () => Bill.decide(open, days, now, lease, reservation, limits)
      let decision = decide()
      if (decision.refused !== undefined && decision.day.reserved > 0) {
        for (const [other, held] of Object.entries(open.held)) {
          // A storage's clock may have started less than that ago.
          if (isGone(other)) open.held[other] = { ...held, at: -Bill.inFlightMillis }
        }
        decision = decide()
      }
      if (decision.refused === undefined) open.held[lease] ??= { ...reservation, at: now }
      return { result: decision, texts: [JSON.stringify(open)] }
    })
  },
  settle: (bill, own, charge) => {
    const { account, day, resources } = charge
    const ids = new Map<string, Array<string>>()
    for (const { ids: found, kind } of resources) {
      if (found.length > 0) ids.set(kind, [...ids.get(kind) ?? [], ...found])
    }
    const kinds = [...ids.keys()]
    const target = {
      texts: [openKey(bill), monthKey(bill, Bill.monthOf(day)), linesKey(bill, day, partOf(account))],
      sets: [...ids].map(([kind, members]) => ({ key: `${prefix(bill)}:charged:${day}:${kind}`, members }))
    }
    return storage.modify(target, ({ absent, texts }) => {
      const open = openOf(texts[0])
      const days: Bill.Month = parse(texts[1])
      const lines: Bill.Lines = parse(texts[2])
      const left = absent.map((members) => new Set(members))
      const settled = Bill.settle(open, days, lines, leaseOf(own), charge, ({ ids, kind }) => {
        const set = left[kinds.indexOf(kind)]
        return ids.filter((id) => set?.delete(id) === true).length
      })
      return settled === undefined
        ? { result: Bill.nothing }
        : { result: settled, texts: [open, days, lines].map((part) => JSON.stringify(part)) }
    })
  },
  read: Effect.fnUntraced(function*(bill, from, to) {
    const { now, texts: [text] } = yield* storage.get([openKey(bill)])
    const open = openOf(text)
    const months = open.months.filter((month) => month >= Bill.monthOf(from) && month <= Bill.monthOf(to))
    const { texts } = yield* storage.get(months.map((month) => monthKey(bill, month)))
    const days = texts.flatMap((text) => Object.keys(parse(text))).filter((day) => day >= from && day <= to)
    const pieces = days.flatMap((day) => Array.from({ length: parts }, (_, part) => [day, part] as const))
    const { texts: lines } = yield* storage.get(pieces.map(([day, part]) => linesKey(bill, day, part)))
    return Bill.entriesOf(open, pieces.map(([day], index) => [day, parse(lines[index])]), { from, to, now })
  })
})

// The number goes up when the form of a bill changes: processes of two versions may share a storage.
const prefix = (bill: string) => `bill:2:{${bill}}`

const openKey = (bill: string) => `${prefix(bill)}:open`

const monthKey = (bill: string, month: string) => `${prefix(bill)}:month:${month}`

const linesKey = (bill: string, day: string, part: number) => `${prefix(bill)}:lines:${day}:${part}`

const partOf = (account: string): number => {
  let hash = 0
  for (let at = 0; at < account.length; at++) hash = (Math.imul(hash, 31) + account.charCodeAt(at)) >>> 0
  return hash % parts
}

const parse = (text: string | undefined) => JSON.parse(text ?? "{}")

const openOf = (text: string | undefined): Bill.Open => text === undefined ? { held: {}, months: [] } : JSON.parse(text)

/** A store for one process. */
export const makeMemory = (): Store<never> => fromStorage(Storage.makeMemory())

/** A store for the clients of one process that are given this layer. */
export const layerMemory: Layer.Layer<SpendStore> = /*#__PURE__*/ Layer.sync(SpendStore, makeMemory)
