/**
 * A store of bills that may be away. Every step has a limited time. Charges that the store lacks are kept here, within
 * bounds, and recorded when it answers again. Until then they reduce the limits that the store checks.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Bill from "../Bill.ts"
import type { Logging } from "../Logging.ts"
import * as Monotonic from "../Monotonic.ts"
import type { Resources } from "../Prices.ts"
import { SpendStoreUnavailable, type Store } from "../SpendStore.ts"

/** Makes an effect interruptible inside of a region that is not. */
export type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The steps of a bill. `patience` limits how long the caller waits, in milliseconds. */
export interface Keeping<E> {
  /** Fails when the store does not answer and a limit must not be exceeded. Called in an uninterruptible region. */
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

/** Charges beyond this many ids are kept without their ids, so that none of them is found to be a repeat. */
const mostIds = 50_000

interface Held {
  readonly bill: string
  readonly reservation: Bill.Reservation
  /** A step whose answer was lost may have been done. */
  readonly inStore: "yes" | "perhaps" | "no"
}

interface Owed extends Held {
  readonly charge: Bill.Charge
  readonly micros: number
}

/** `refuses`: a request that a limit covers is refused while the store is away. */
export const make = Effect.fnUntraced(function*(
  store: Pick<Store, "reserve" | "settle">,
  refuses: boolean,
  logging: typeof Logging.Service
): Effect.fn.Return<Keeping<SpendStoreUnavailable>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const flying = new Map<string, Held>()
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

  /** Starts a step, which goes to its end also when the caller has no more time. */
  const start = <A>(
    lease: string,
    effect: Effect.Effect<A, SpendStoreUnavailable>,
    patience: number
  ): Effect.Effect<A, SpendStoreUnavailable> =>
    Effect.suspend(() => {
      underWay.add(lease)
      const ending = Effect.ensuring(effect, Effect.sync(() => underWay.delete(lease)))
      const immediately = { startImmediately: true }
      return Effect.flatMap(
        // A response without an end may outlive the layer.
        isClosed ? Effect.forkDetach(ending, immediately) : Effect.forkIn(ending, scope, immediately),
        (fiber): Effect.Effect<A, SpendStoreUnavailable> =>
          fiber.pollUnsafe() ?? Effect.timeoutOrElse(Fiber.join(fiber), {
            duration: Math.max(0, Math.min(patience, longestStepMillis)),
            orElse: () => Effect.fail(new SpendStoreUnavailable({ reason: "it takes too long" }))
          })
      )
    })

  const step = <A>(lease: string, effect: Effect.Effect<A, SpendStoreUnavailable>, patience: number) =>
    start(lease, Effect.tapError(Effect.tap(effect, answered), failed), patience)

  const owe = (lease: string, held: Held, charge: Bill.Charge): Effect.Effect<Bill.Settled> =>
    Effect.suspend(() => {
      const estimate = Bill.settledOf(charge, ({ ids }) => ids.length)
      owed.add(lease, { ...held, charge, micros: estimate.micros })
      if (isClosed) return Effect.as(lost, estimate)
      if (isRecording) return Effect.succeed(estimate)
      isRecording = true
      return Effect.as(Effect.forkIn(recording, scope), estimate)
    })

  const record = Effect.fnUntraced(function*(lease: string, { bill, charge, inStore, reservation }: Owed) {
    owed.close(lease)
    const isRelease = charge.micros === 0 && charge.resources.length === 0
    if (inStore !== "yes" && !isRelease) yield* store.reserve(bill, lease, reservation, {})
    yield* store.settle(bill, lease, charge)
    owed.remove(lease)
    yield* answered
  })

  /** Records what it can. A charge that the store does not take goes to the end, so that it delays no other. */
  const recordAll = Effect.gen(function*() {
    let inARow = 0
    for (const [lease, charge] of owed.all) {
      if (underWay.has(lease)) continue
      if (yield* Effect.isSuccess(start(lease, record(lease, charge), longestStepMillis))) inARow = 0
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

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosed = true
      const rest = owed.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(recordAll, longestStepMillis))
      return Effect.andThen(rest, lost)
    })
  )

  const reserveAlone = (
    lease: string,
    held: Held,
    limits: Bill.Limits,
    error: SpendStoreUnavailable
  ): Effect.Effect<Bill.Decision, SpendStoreUnavailable> =>
    Effect.suspend((): Effect.Effect<Bill.Decision, SpendStoreUnavailable> => {
      const { bill, reservation } = held
      const release = held.inStore === "no" ? Effect.void : owe(lease, held, Bill.free(reservation))
      if (refuses && isLimited(limits)) return Effect.andThen(release, Effect.fail(error))
      const day = sums.of(bill, reservation.day)
      const month = sums.of(bill, Bill.monthOf(reservation.day))
      const refused = Bill.refusedBy(limits, reservation.micros, day, month)
      if (refused !== undefined) return Effect.as(release, { refused, newest: undefined, day, month })
      flying.set(lease, held)
      sums.add(bill, reservation.day, reservation.micros)
      return Effect.succeed({ refused, newest: undefined, day, month })
    })

  return {
    reserve: (bill, lease, reservation, limits, patience, restore) =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const held = { bill, reservation }
        if (now < restsUntil) return reserveAlone(lease, { ...held, inStore: "no" }, limits, resting)
        const lacking = owed.lacking(bill) + lackingOf(flying.values(), bill)
        const asked = step(lease, store.reserve(bill, lease, reservation, lessened(limits, lacking)), patience)
        const perhaps: Held = { ...held, inStore: "perhaps" }
        return Effect.onInterrupt(restore(asked), () => owe(lease, perhaps, Bill.free(reservation))).pipe(
          Effect.matchEffect({
            onFailure: (error) => reserveAlone(lease, perhaps, limits, error),
            onSuccess: (decision) => {
              if (decision.refused === undefined) flying.set(lease, { ...held, inStore: "yes" })
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
        const alone = Effect.tap(
          owe(lease, held, charge),
          ({ micros }) => Effect.sync(() => sums.add(bill, charge.day, micros))
        )
        if (now < restsUntil || held.inStore !== "yes") return alone
        const settling = Effect.tap(store.settle(bill, lease, charge), () => Effect.sync(() => owed.remove(lease)))
        return Effect.matchEffect(step(lease, settling, patience), {
          onFailure: () => alone,
          onSuccess: (settled) => {
            sums.add(bill, charge.day, settled.micros)
            return Effect.succeed(settled)
          }
        })
      })
  }
})

const resting = /*#__PURE__*/ new SpendStoreUnavailable({ reason: "it has failed a moment ago" })

const isLimited = ({ perDay, perMonth }: Bill.Limits): boolean => perDay !== undefined || perMonth !== undefined

const lessened = ({ perDay, perMonth }: Bill.Limits, micros: number): Bill.Limits => ({
  perDay: perDay === undefined ? undefined : Math.max(0, perDay - micros),
  perMonth: perMonth === undefined ? undefined : Math.max(0, perMonth - micros)
})

const lackingOf = (all: Iterable<Held>, bill: string): number => {
  let sum = 0
  for (const { bill: other, inStore, reservation: { micros } } of all) {
    if (inStore !== "yes" && other === bill) sum += micros
  }
  return sum
}

/** Charges that the store lacks, the oldest first. */
class Owing {
  readonly #charges = new Map<string, Owed>()
  /** The leases of charges that more can be added to. */
  readonly #sums = new Map<string, string>()
  #ids = 0

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

  /** What may be charged without the store's knowledge. */
  lacking(bill: string): number {
    return lackingOf(this.#charges.values(), bill)
  }

  add(lease: string, owed: Owed): void {
    const ids = idsOf(owed.charge)
    if (this.#ids + ids <= mostIds) {
      this.#ids += ids
      this.#charges.set(lease, owed)
      return
    }
    const { bill, charge: { account, day, inDoubt, operation }, inStore } = owed
    const key = JSON.stringify([bill, day, operation, account, inDoubt])
    // A lease that the store may hold has to be settled itself.
    const into = inStore === "no" ? this.#sums.get(key) ?? lease : lease
    if (inStore === "no") this.#sums.set(key, into)
    this.#charges.set(into, together(owed, this.#charges.get(into)))
  }

  /** Nothing can be added any more to a charge that the store may know. */
  close(lease: string): void {
    for (const [key, sum] of this.#sums) if (sum === lease) this.#sums.delete(key)
  }

  remove(lease: string): void {
    const owed = this.#charges.get(lease)
    if (owed !== undefined) this.#ids -= idsOf(owed.charge)
    this.#charges.delete(lease)
  }

  moveToEnd(lease: string): void {
    const owed = this.#charges.get(lease)
    if (owed === undefined) return
    this.#charges.delete(lease)
    this.#charges.set(lease, owed)
  }
}

const idsOf = ({ resources }: Bill.Charge): number => resources.reduce((sum, { ids }) => sum + ids.length, 0)

/** Two charges of one purpose without the ids of their resources. */
const together = (owed: Owed, other: Owed | undefined): Owed => {
  const resources = new Map<string, Resources>()
  for (const { ids, kind, micros, unnamed } of [...owed.charge.resources, ...other?.charge.resources ?? []]) {
    const key = `${kind} ${micros}`
    const count = ids.length + unnamed + (resources.get(key)?.unnamed ?? 0)
    resources.set(key, { kind, micros, ids: [], unnamed: count })
  }
  const { charge, micros, reservation } = owed
  return {
    ...owed,
    micros: micros + (other?.micros ?? 0),
    reservation: { ...reservation, micros: reservation.micros + (other?.reservation.micros ?? 0) },
    charge: { ...charge, micros: charge.micros + (other?.charge.micros ?? 0), resources: [...resources.values()] }
  }
}

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
