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
import type * as Scope from "effect/Scope"
import * as Bill from "./Bill.ts"
import type { Logging } from "./Logging.ts"

/** The store did not answer. Calls never fail with it: what they are charged is kept, and told when it is back. */
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
export class SpendStore extends /*#__PURE__*/ Context.Service<SpendStore, Store>()("@postwire/core/SpendStore") {}

/** A store for one process. */
export const makeMemory = (): Store<never> => {
  const bills = new Map<string, Bill.Bill>()
  const step = <A>(name: string, f: (bill: Bill.Bill, now: number) => A): Effect.Effect<A> =>
    Clock.clockWith((clock) => {
      let bill = bills.get(name)
      if (bill === undefined) bills.set(name, bill = new Bill.Bill())
      return Effect.succeed(f(bill, clock.currentTimeMillisUnsafe()))
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

/** After a failure the store is left alone. */
const restMillis = 5_000

/** A request whose part of a bill the store does not have as a whole. */
interface Kept {
  readonly bill: string
  readonly reservation: Bill.Reservation
  /** Whether the store is known to have reserved it. */
  isReserved: boolean
  charge: Bill.Charge | undefined
  /** What it was charged, as far as this process knows. */
  micros: number
}

/**
 * The store while it answers, and what this process knows while it does not. What is charged meanwhile is kept, and told to
 * the store when it is back: nothing is lost, and nothing counted twice. At the end of the scope it is tried once more.
 */
export const orKept = Effect.fnUntraced(function*(
  store: Store,
  logging: typeof Logging.Service
): Effect.fn.Return<Store<never>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  /** Those in flight, and those that were charged while the store was away, in their order. */
  const kept = new Map<string, Kept>()
  /** What days and months had come to when the store last told, without what this process had in flight. */
  const told = new Map<string, Bill.Amounts>()
  /** What this process charges and reserves while the store is away. */
  let memory = makeMemory()
  /** What of that the store was told since. */
  const returned: Array<readonly [held: Kept, charge: Bill.Charge, micros: number]> = []
  let isDown = false

  const reservedHere = (bill: string, time: string): number => {
    let sum = 0
    for (const { bill: other, charge, isReserved, reservation } of kept.values()) {
      if (other === bill && isReserved && charge === undefined && reservation.day.startsWith(time)) {
        sum += reservation.micros
      }
    }
    return sum
  }

  const learn = (bill: string, time: string, amounts: Bill.Amounts): void => {
    told.set(`${bill} ${time}`, {
      ...amounts,
      reserved: Math.max(0, amounts.reserved - reservedHere(bill, time))
    })
  }

  const add = ({ bill }: Kept, { day, inDoubt }: Bill.Charge, micros: number): void => {
    for (const time of [day, Bill.monthOf(day)]) {
      const amounts = told.get(`${bill} ${time}`) ?? { spent: 0, inDoubt: 0, reserved: 0 }
      const kind = inDoubt ? "inDoubt" : "spent"
      told.set(`${bill} ${time}`, { ...amounts, [kind]: amounts[kind] + micros })
    }
  }

  /** With what others had spent and reserved when the store was last heard of. */
  const known = (bill: string, time: string, own: Bill.Amounts): Bill.Amounts => {
    const { inDoubt = 0, reserved = 0, spent = 0 } = told.get(`${bill} ${time}`) ?? {}
    return {
      spent: spent + own.spent,
      inDoubt: inDoubt + own.inDoubt,
      reserved: reserved + own.reserved + reservedHere(bill, time)
    }
  }

  const reserveAlone = (bill: string, lease: string, reservation: Bill.Reservation, limits: Bill.Limits) =>
    Effect.flatMap(memory.reserve(bill, lease, reservation, {}), (own) => {
      const day = known(bill, reservation.day, own.day)
      const month = known(bill, Bill.monthOf(reservation.day), own.month)
      const refused = Bill.refusedBy(limits, reservation.micros, day, month)
      if (refused === undefined) {
        kept.set(lease, { bill, reservation, isReserved: false, charge: undefined, micros: 0 })
        return Effect.succeed<Bill.Decision>({ refused, day, month })
      }
      return Effect.as(memory.settle(bill, lease, Bill.free(reservation)), { refused, day, month })
    })

  const settleAlone = (lease: string, held: Kept, charge: Bill.Charge) =>
    Effect.map(memory.settle(held.bill, lease, charge), (settled) => {
      held.charge = charge
      held.micros = settled.micros
      return settled
    })

  /** Tells the store what it does not have. */
  const tell = Effect.gen(function*() {
    for (const [lease, held] of kept) {
      const { bill, reservation } = held
      if (!held.isReserved) {
        // Whether or not an earlier try came through, it is there once afterwards, and settled once.
        yield* store.reserve(bill, lease, reservation, {})
        held.isReserved = true
      }
      if (held.charge === undefined) continue
      const { micros } = yield* store.settle(bill, lease, held.charge)
      kept.delete(lease)
      returned.push([held, held.charge, micros])
    }
  })

  const owed = () => {
    let micros = 0
    for (const { charge, micros: own } of kept.values()) if (charge !== undefined) micros += own
    return (micros / 1_000_000).toFixed(2)
  }

  const failed = (error: SpendStoreUnavailable) =>
    Effect.suspend(() => {
      if (isDown) return Effect.void
      isDown = true
      return Effect.andThen(
        logging(Effect.logWarning(
          `${error.message}. This process goes on with what it knows, and tells the store when it is back`
        )),
        Effect.forkIn(returning, scope)
      )
    })

  /** Asks again and again, until the store has everything. */
  const returning: Effect.Effect<void> = Effect.delay(
    Effect.suspend(() => {
      const amount = owed()
      return Effect.matchEffect(tell, {
        onFailure: () => returning,
        onSuccess: () =>
          Effect.suspend(() => {
            // What came while it was told.
            if ([...kept.values()].some(({ charge }) => charge !== undefined)) return returning
            isDown = false
            // It may be away again before it has told its sums anew.
            for (const charged of returned.splice(0)) add(...charged)
            memory = makeMemory()
            return logging(
              Effect.logInfo(`The store of what was spent answers again, and has the $${amount} of the meantime`)
            )
          })
      })
    }),
    restMillis
  )

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() =>
      isDown
        ? Effect.catch(tell, ({ reason }) =>
          logging(Effect.logWarning(
            `The store of what was spent does not answer (${reason}): it lacks $${owed()} of this process`
          )))
        : Effect.void
    )
  )

  return {
    reserve: (bill, lease, reservation, limits) =>
      Effect.suspend(() => {
        if (isDown) return reserveAlone(bill, lease, reservation, limits)
        return Effect.matchEffect(store.reserve(bill, lease, reservation, limits), {
          onFailure: (error) => Effect.andThen(failed(error), reserveAlone(bill, lease, reservation, limits)),
          onSuccess: (decision) => {
            learn(bill, reservation.day, decision.day)
            learn(bill, Bill.monthOf(reservation.day), decision.month)
            if (decision.refused === undefined) {
              kept.set(lease, { bill, reservation, isReserved: true, charge: undefined, micros: 0 })
            }
            return Effect.succeed(decision)
          }
        })
      }),
    settle: (bill, lease, charge) =>
      Effect.suspend(() => {
        const held = kept.get(lease)
        if (held === undefined) return Effect.succeed(Bill.nothing)
        const alone = Effect.suspend(() =>
          // The memory has not heard of what was reserved in time.
          Effect.andThen(memory.reserve(bill, lease, held.reservation, {}), settleAlone(lease, held, charge))
        )
        if (isDown) return alone
        const reserved = held.isReserved ? Effect.void : Effect.map(
          store.reserve(bill, lease, held.reservation, {}),
          () => {
            held.isReserved = true
          }
        )
        return Effect.matchEffect(Effect.andThen(reserved, store.settle(bill, lease, charge)), {
          onFailure: (error) => Effect.andThen(failed(error), alone),
          onSuccess: (settled) => {
            kept.delete(lease)
            add(held, charge, settled.micros)
            return Effect.succeed(settled)
          }
        })
      }),
    read: (bill, from, to) =>
      Effect.suspend(() => {
        const alone = Effect.suspend(() => memory.read(bill, from, to))
        if (isDown) return alone
        return Effect.catch(store.read(bill, from, to), (error) => Effect.andThen(failed(error), alone))
      })
  }
})
