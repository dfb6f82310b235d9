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
import * as Bill from "../Bill.ts"
import { SpendStoreUnavailable, type Store } from "../SpendStore.ts"
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

/** `refuses`: a request that a limit covers is refused while the store is away. */
export const make = Effect.fnUntraced(function*(
  store: Pick<Store, "reserve" | "settle">,
  refuses: boolean,
  logging: typeof Logging.Service
): Effect.fn.Return<Keeping<SpendStoreUnavailable>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const flying = new Map<string, Held>()
  /** Every charge, from the end of its request until the store has it. */
  const owed = new Owing()
  const sums = new Sums()
  /** Leases with a step that has not ended. */
  const underWay = new Set<string>()
  let failures = 0
  let restsUntil = -Infinity
  let isAway = false
  let isRecording = false
  let isClosed = false

  const answered = Effect.suspend(() => {
    failures = 0
    restsUntil = -Infinity
    if (!isAway) return Effect.void
    isAway = false
    return logging(Effect.logInfo(`The spend store answers again: $${owed.dollars} is recorded now`))
  })

  const failed = ({ reason }: SpendStoreUnavailable) =>
    Effect.flatMap(Monotonic.millis, (now) => {
      if (++failures >= 2) restsUntil = now + restMillis
      if (isAway) return Effect.void
      isAway = true
      const until = refuses ? "Requests under a limit are refused until it answers" : "This process counts for itself"
      return logging(Effect.logWarning(`The spend store does not answer (${reason}). ${until}`))
    })

  /** Starts a step, which continues after the caller's time. */
  const start = <A>(
    lease: string,
    effect: Effect.Effect<A, SpendStoreUnavailable>,
    patience: number
  ): Effect.Effect<A, SpendStoreUnavailable> => {
    const step = Effect.suspend(() => {
      underWay.add(lease)
      return Effect.ensuring(effect, Effect.sync(() => underWay.delete(lease)))
    })
    const immediately = { startImmediately: true }
    return Effect.flatMap(
      // A response without an end may outlive the layer.
      Effect.suspend(() => isClosed ? Effect.forkDetach(step, immediately) : Effect.forkIn(step, scope, immediately)),
      (fiber) => fiber.pollUnsafe() ?? Effect.flatMap(within(Fiber.await(fiber), patience), unlessClosed)
    )
  }

  const step = <A>(lease: string, effect: Effect.Effect<A, SpendStoreUnavailable>, patience: number) =>
    start(lease, Effect.tapError(Effect.tap(effect, answered), failed), patience)

  const reserve = (
    lease: string,
    held: Held,
    limits: Bill.Limits
  ): Effect.Effect<Bill.Decision, SpendStoreUnavailable> =>
    Effect.suspend(() => {
      held.inStore = "perhaps"
      return Effect.map(within(store.reserve(held.bill, lease, held.reservation, limits)), (decision) => {
        held.inStore = decision.refused === undefined ? "yes" : "no"
        return decision
      })
    })

  const settle = (lease: string, { bill }: Held, charge: Bill.Charge) =>
    Effect.tap(within(store.settle(bill, lease, charge)), () => Effect.sync(() => owed.remove(lease)))

  const record = (lease: string, owing: Owed) =>
    Effect.tap(
      owing.inStore === "yes" || isFree(owing.charge)
        ? settle(lease, owing, owing.charge)
        : Effect.andThen(reserve(lease, owing, {}), Effect.suspend(() => settle(lease, owing, owing.charge))),
      answered
    )

  /** Records what it can. A charge that the store does not take goes to the end, so that it delays no other. */
  const recordAll = Effect.gen(function*() {
    let inARow = 0
    for (const [lease, owing] of owed.all) {
      if (underWay.has(lease)) continue
      if (yield* Effect.isSuccess(start(lease, record(lease, owing), Infinity))) inARow = 0
      else {
        owed.moveToEnd(lease)
        if (++inARow === 3) break
      }
    }
  })

  const recording: Effect.Effect<void> = Effect.delay(
    Effect.flatMap(recordAll, () => {
      if (owed.size > 0) return recording
      isRecording = false
      return Effect.void
    }),
    restMillis
  )

  const lost = Effect.suspend(() =>
    owed.micros === 0
      ? Effect.void
      : logging(Effect.logWarning(`The spend store does not answer: it lacks $${owed.dollars} of this process`))
  )

  const recordLater: Effect.Effect<unknown> = Effect.suspend(() => {
    if (isClosed) return lost
    if (isRecording || owed.size === 0) return Effect.void
    isRecording = true
    return Effect.forkIn(recording, scope)
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosed = true
      const rest = owed.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(recordAll, longestStepMillis))
      return Effect.andThen(rest, lost)
    })
  )

  const release = (lease: string, held: Held) =>
    Effect.suspend(() => {
      owed.add(lease, held, Bill.free(held.reservation))
      return recordLater
    })

  const reserveAlone = (
    lease: string,
    held: Held,
    limits: Bill.Limits,
    error: SpendStoreUnavailable
  ): Effect.Effect<Bill.Decision, SpendStoreUnavailable> =>
    Effect.suspend((): Effect.Effect<Bill.Decision, SpendStoreUnavailable> => {
      const { bill, reservation } = held
      if (refuses && isLimited(limits)) return Effect.andThen(release(lease, held), Effect.fail(error))
      const day = sums.of(bill, reservation.day)
      const month = sums.of(bill, Bill.monthOf(reservation.day))
      const refused = Bill.refusedBy(limits, reservation.micros, day, month)
      if (refused !== undefined) return Effect.as(release(lease, held), { refused, newest: undefined, day, month })
      flying.set(lease, held)
      sums.add(bill, reservation.day, reservation.micros)
      return Effect.succeed({ refused, newest: undefined, day, month })
    })

  return {
    reserve: (bill, lease, reservation, limits, patience, restore) =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const held: Held = { bill, reservation, inStore: "no" }
        if (now < restsUntil) return reserveAlone(lease, held, limits, resting)
        const lacking = owed.lacking(bill) + lackingOf(flying.values(), bill)
        const asked = step(lease, reserve(lease, held, lessened(limits, lacking)), patience)
        return Effect.onInterrupt(restore(asked), () => release(lease, held)).pipe(
          Effect.matchEffect({
            onFailure: (error) => reserveAlone(lease, held, limits, error),
            onSuccess: (decision) => {
              if (decision.refused === undefined) flying.set(lease, held)
              sums.learn(bill, reservation, decision, lacking)
              return Effect.succeed(decision)
            }
          })
        )
      }),
    settle: (bill, lease, charge, patience) =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const held = flying.get(lease)
        if (held === undefined) return Effect.succeed(Bill.nothing)
        flying.delete(lease)
        sums.add(bill, held.reservation.day, -held.reservation.micros)
        const estimate = owed.add(lease, held, charge)
        const settling = now < restsUntil || held.inStore !== "yes"
          ? Effect.fail(resting)
          : step(lease, settle(lease, held, charge), patience)
        return settling.pipe(
          Effect.catch(() => Effect.as(recordLater, estimate)),
          Effect.tap(({ micros }) => Effect.sync(() => sums.add(bill, charge.day, micros)))
        )
      })
  }
})

const resting = /*#__PURE__*/ new SpendStoreUnavailable({ reason: "it has failed a moment ago" })

const tooSlow = /*#__PURE__*/ new SpendStoreUnavailable({ reason: "it takes too long" })

const closed = /*#__PURE__*/ new SpendStoreUnavailable({ reason: "the client was closed" })

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
