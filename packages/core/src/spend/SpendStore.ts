/**
 * Where `Spend` keeps its bills, one for each service by its address: what was spent, what is reserved by requests in
 * flight, and which resources were charged on a day. Clients that share a store share their limits. The rules that every
 * store follows are in `Bill`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Monotonic from "../runtime/Monotonic.ts"
import * as Bill from "./Bill.ts"

/** The store did not answer. */
export class SpendStoreUnavailable extends /*#__PURE__*/ Data.TaggedError("SpendStoreUnavailable")<{
  readonly reason: string
}> {
  override get message(): string {
    return `The store of what was spent does not answer: ${this.reason}`
  }
}

/** Keeps bills. Every step is atomic, for all who share the store. */
export interface Store<E = SpendStoreUnavailable> {
  /**
   * Reserves what a request may be charged, unless that passes a limit. Without limits, nothing is refused. A lease that is
   * reserved already stays as it is.
   */
  readonly reserve: (
    bill: string,
    lease: string,
    reservation: Bill.Reservation,
    limits: Bill.Limits
  ) => Effect.Effect<Bill.Decision, E>
  /** Charges what was reserved. Of a lease that is not reserved, or not any more, nothing is charged. */
  readonly settle: (bill: string, lease: string, charge: Bill.Charge) => Effect.Effect<Bill.Settled, E>
  /** The bill from one day to another, both included, in the order of days. */
  readonly read: (bill: string, from: string, to: string) => Effect.Effect<ReadonlyArray<Bill.Entry>, E>
}

/** The store in force. Without one, `Spend.layer` keeps its bills in memory. */
export class SpendStore extends /*#__PURE__*/ Context.Service<SpendStore, Store>()("@postwire/core/spend/SpendStore") {}

/** A store for one process. */
export const makeMemory = (): Store<never> => {
  const bills = new Map<string, Bill.Bill>()
  const step = <A>(name: string, f: (bill: Bill.Bill, now: number) => A): Effect.Effect<A> =>
    Clock.clockWith((clock) => {
      let bill = bills.get(name)
      if (bill === undefined) bills.set(name, bill = new Bill.Bill())
      return Effect.succeed(f(bill, Monotonic.millisUnsafe(clock)))
    })
  return {
    reserve: (bill, lease, reservation, limits) =>
      step(bill, (own, now) => own.reserve(lease, reservation, limits, now)),
    settle: (bill, lease, charge) => step(bill, (own) => own.settle(lease, charge)),
    read: (bill, from, to) => step(bill, (own, now) => own.read(from, to, now))
  }
}

/** A store for the clients of one process that get this layer. */
export const layerMemory: Layer.Layer<SpendStore> = /*#__PURE__*/ Layer.sync(SpendStore, makeMemory)
