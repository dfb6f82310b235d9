/**
 * A store of bills that may be unavailable. Every step has a time limit. Charges that the store lacks are kept here, within bounds,
 * and recorded when it responds again. Until then they reduce the limits that the store checks.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Logging } from "../../runtime/Logging.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import { StorageUnavailable } from "../../storage/Storage.ts"
import * as Bill from "../Bill.ts"
import type { Store } from "../SpendStore.ts"
import { type Held, isFree, lackingOf, type Owed, Owing } from "./owing.ts"

/** Makes an effect interruptible inside of a region that is not. */
export type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The steps of a bill. `patience` limits how long the caller waits, in milliseconds. */
export interface Keeping<E> {
  /** Fails when the store does not respond and a limit must not be exceeded. Called in an uninterruptible region. */
  readonly reserve: (
    bill: string,
    lease: string,
    reservation: Bill.Reservation,
    limits: Bill.Limits,
    patience: number,
    restore: Restore
  ) => Effect.Effect<Bill.Decision, E>
  readonly settle: (
    bill: string,
    lease: string,
    charge: Bill.Charge,
    patience: number
  ) => Effect.Effect<Bill.Settled>
}

/** No step is started for so long after the store has failed twice in a row. Charges are recorded as often. */
const restMillis = 5_000

const longestStepMillis = 5_000

/** `refuses`: a request that a limit covers is refused while the store is unavailable. */
export const make = (
  store: Pick<Store, "reserve" | "settle">,
  refuses: boolean,
  logging: typeof Logging.Service
): Effect.Effect<Keeping<StorageUnavailable>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const keeper = new Keeper(store, refuses, logging, yield* Effect.scope)
    yield* Effect.addFinalizer(() => keeper.close)
    return keeper
  })

class Keeper implements Keeping<StorageUnavailable> {
  readonly #store: Pick<Store, "reserve" | "settle">
  readonly #refuses: boolean
  readonly #logging: typeof Logging.Service
  readonly #scope: Scope.Scope
  readonly #flying = new Map<string, Held>()
  /** Every charge, from the end of its request until the store has it. */
  readonly #owed = new Owing()
  readonly #sums = new Sums()
  /** Leases with a step that has not ended. */
  readonly #underWay = new Set<string>()
  #failures = 0
  #restsUntil = -Infinity
  #isAway = false
  #isRecording = false
  #isClosed = false

  constructor(
    store: Pick<Store, "reserve" | "settle">,
    refuses: boolean,
    logging: typeof Logging.Service,
    scope: Scope.Scope
  ) {
    this.#store = store
    this.#refuses = refuses
    this.#logging = logging
    this.#scope = scope
  }

  reserve(
    bill: string,
    lease: string,
    reservation: Bill.Reservation,
    limits: Bill.Limits,
    patience: number,
    restore: Restore
  ): Effect.Effect<Bill.Decision, StorageUnavailable> {
    return Effect.flatMap(Monotonic.millis, (now) => {
      const held: Held = { bill, reservation, inStore: "no" }
      if (now < this.#restsUntil) return this.#reserveAlone(lease, held, limits, resting)
      const lacking = this.#owed.lacking(bill) + lackingOf(this.#flying.values(), bill)
      const asked = this.#step(lease, this.#reserveInStore(lease, held, lessened(limits, lacking)), patience)
      return Effect.onInterrupt(restore(asked), () => this.#release(lease, held)).pipe(
        Effect.matchEffect({
          onFailure: (error) => this.#reserveAlone(lease, held, limits, error),
          onSuccess: (decision) => {
            if (decision.refused === undefined) this.#flying.set(lease, held)
            this.#sums.learn(bill, reservation, decision, lacking)
            return Effect.succeed(decision)
          }
        })
      )
    })
  }

  settle(bill: string, lease: string, charge: Bill.Charge, patience: number): Effect.Effect<Bill.Settled> {
    return Effect.flatMap(Monotonic.millis, (now) => {
      const held = this.#flying.get(lease)
      if (held === undefined) return Effect.succeed(Bill.nothing)
      this.#flying.delete(lease)
      this.#sums.add(bill, held.reservation.day, -held.reservation.micros)
      const estimate = this.#owed.add(lease, held, charge)
      const settling = now < this.#restsUntil || held.inStore !== "yes"
        ? Effect.fail(resting)
        : this.#step(lease, this.#settleInStore(lease, held, charge), patience)
      return settling.pipe(
        Effect.catch(() => Effect.as(this.#recordLater, estimate)),
        Effect.tap(({ micros }) => Effect.sync(() => this.#sums.add(bill, charge.day, micros)))
      )
    })
  }

  /** Records the rest, as far as the time allows. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#isClosed = true
      const rest = this.#owed.size === 0
        ? Effect.void
        : Effect.ignore(Effect.timeout(this.#recordAll, longestStepMillis))
      return Effect.andThen(rest, this.#lost)
    })
  }

  get #answered(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#failures = 0
      this.#restsUntil = -Infinity
      if (!this.#isAway) return Effect.void
      this.#isAway = false
      return this.#logging(
        Effect.logInfo(`The spend store answers again: $${this.#owed.dollars} is recorded now`)
      )
    })
  }

  #failed({ reason }: StorageUnavailable): Effect.Effect<void> {
    return Effect.flatMap(Monotonic.millis, (now) => {
      if (++this.#failures >= 2) this.#restsUntil = now + restMillis
      if (this.#isAway) return Effect.void
      this.#isAway = true
      const until = this.#refuses
        ? "Requests under a limit are refused until it answers"
        : "This process counts for itself"
      return this.#logging(Effect.logWarning(`The spend store does not answer (${reason}). ${until}`))
    })
  }

  /** Starts a step, which continues after the caller's time. */
  #start<A>(
    lease: string,
    effect: Effect.Effect<A, StorageUnavailable>,
    patience: number
  ): Effect.Effect<A, StorageUnavailable> {
    const step = Effect.suspend(() => {
      this.#underWay.add(lease)
      return Effect.ensuring(effect, Effect.sync(() => this.#underWay.delete(lease)))
    })
    const immediately = { startImmediately: true }
    return Effect.flatMap(
      // A response without an end may outlive the layer.
      Effect.suspend(() =>
        this.#isClosed ? Effect.forkDetach(step, immediately) : Effect.forkIn(step, this.#scope, immediately)
      ),
      (fiber) => fiber.pollUnsafe() ?? Effect.flatMap(within(Fiber.await(fiber), patience), unlessClosed)
    )
  }

  #step<A>(lease: string, effect: Effect.Effect<A, StorageUnavailable>, patience: number) {
    const watched = Effect.tap(effect, this.#answered)
    return this.#start(lease, Effect.tapError(watched, (error) => this.#failed(error)), patience)
  }

  #reserveInStore(
    lease: string,
    held: Held,
    limits: Bill.Limits
  ): Effect.Effect<Bill.Decision, StorageUnavailable> {
    return Effect.suspend(() => {
      held.inStore = "perhaps"
      return Effect.map(within(this.#store.reserve(held.bill, lease, held.reservation, limits)), (decision) => {
        held.inStore = decision.refused === undefined ? "yes" : "no"
        return decision
      })
    })
  }

  #settleInStore(lease: string, { bill }: Held, charge: Bill.Charge) {
    return Effect.tap(
      within(this.#store.settle(bill, lease, charge)),
      () => Effect.sync(() => this.#owed.remove(lease))
    )
  }

  #record(lease: string, owing: Owed) {
    const settling = Effect.suspend(() => this.#settleInStore(lease, owing, owing.charge))
    return Effect.tap(
      owing.inStore === "yes" || isFree(owing.charge)
        ? settling
        : Effect.andThen(this.#reserveInStore(lease, owing, {}), settling),
      this.#answered
    )
  }

  /** Records what it can. A charge that the store does not accept goes to the end, so that it delays no other. */
  readonly #recordAll = Effect.gen({ self: this }, function*() {
    let inARow = 0
    for (const [lease, owing] of this.#owed.all) {
      if (this.#underWay.has(lease)) continue
      if (yield* Effect.isSuccess(this.#start(lease, this.#record(lease, owing), Infinity))) inARow = 0
      else {
        this.#owed.moveToEnd(lease)
        if (++inARow === 3) break
      }
    }
  })

  readonly #recording: Effect.Effect<void> = Effect.delay(
    Effect.flatMap(this.#recordAll, () => {
      if (this.#owed.size > 0) return this.#recording
      this.#isRecording = false
      return Effect.void
    }),
    restMillis
  )

  get #lost(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#owed.micros === 0
        ? Effect.void
        : this.#logging(
          Effect.logWarning(`The spend store does not answer: it lacks $${this.#owed.dollars} of this process`)
        )
    )
  }

  get #recordLater(): Effect.Effect<unknown> {
    return Effect.suspend((): Effect.Effect<unknown> => {
      if (this.#isClosed) return this.#lost
      if (this.#isRecording || this.#owed.size === 0) return Effect.void
      this.#isRecording = true
      return Effect.forkIn(this.#recording, this.#scope)
    })
  }

  #release(lease: string, held: Held): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      this.#owed.add(lease, held, Bill.free(held.reservation))
      return this.#recordLater
    })
  }

  #reserveAlone(
    lease: string,
    held: Held,
    limits: Bill.Limits,
    error: StorageUnavailable
  ): Effect.Effect<Bill.Decision, StorageUnavailable> {
    return Effect.suspend((): Effect.Effect<Bill.Decision, StorageUnavailable> => {
      const { bill, reservation } = held
      if (this.#refuses && isLimited(limits)) return Effect.andThen(this.#release(lease, held), Effect.fail(error))
      const day = this.#sums.of(bill, reservation.day)
      const month = this.#sums.of(bill, Bill.monthOf(reservation.day))
      const refused = Bill.refusedBy(limits, reservation.micros, day, month)
      if (refused !== undefined) {
        return Effect.as(this.#release(lease, held), { refused, newest: undefined, day, month })
      }
      this.#flying.set(lease, held)
      this.#sums.add(bill, reservation.day, reservation.micros)
      return Effect.succeed({ refused, newest: undefined, day, month })
    })
  }
}

const resting = /*#__PURE__*/ new StorageUnavailable({ reason: "it has failed a moment ago" })

const tooSlow = /*#__PURE__*/ new StorageUnavailable({ reason: "it takes too long" })

const closed = /*#__PURE__*/ new StorageUnavailable({ reason: "the client was closed" })

const within = <A, E>(effect: Effect.Effect<A, E>, patience = longestStepMillis) =>
  Effect.timeoutOrElse(effect, {
    duration: Math.max(0, Math.min(patience, longestStepMillis)),
    orElse: () => Effect.fail(tooSlow)
  })

/** The end of the layer interrupts its steps, but not the callers that wait for them. */
const unlessClosed = <A, E>(exit: Exit.Exit<A, E>) => Exit.hasInterrupts(exit) ? Effect.fail(closed) : exit

const isLimited = ({ perDay, perMonth }: Bill.Limits): boolean => perDay !== undefined || perMonth !== undefined

const lessened = ({ perDay, perMonth }: Bill.Limits, micros: number): Bill.Limits => ({
  perDay: perDay === undefined ? undefined : Math.max(0, perDay - micros),
  perMonth: perMonth === undefined ? undefined : Math.max(0, perMonth - micros)
})

/** The sums of days and months as the store last knew them, with what this process has spent and reserved since. */
class Sums {
  readonly #sums = new Map<string, number>()

  of(bill: string, time: string): Bill.Amounts {
    return { spent: this.#sums.get(`${bill} ${time}`) ?? 0, inDoubt: 0, reserved: 0 }
  }

  learn(bill: string, { day, micros }: Bill.Reservation, decision: Bill.Decision, lacking: number): void {
    const own = lacking + (decision.refused === undefined ? micros : 0)
    this.#sums.set(`${bill} ${day}`, Bill.sumOf(decision.day) + own)
    this.#sums.set(`${bill} ${Bill.monthOf(day)}`, Bill.sumOf(decision.month) + own)
  }

  add(bill: string, day: string, micros: number): void {
    for (const time of [day, Bill.monthOf(day)]) {
      const key = `${bill} ${time}`
      this.#sums.set(key, Math.max(0, (this.#sums.get(key) ?? 0) + micros))
    }
  }
}
