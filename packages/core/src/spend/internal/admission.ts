/** Decides whether a request may be sent: the most that it may be charged has to fit into every limit. */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Outgoing } from "../../client/SpendGuard.ts"
import { SpendLimitReached } from "../../errors/Errors.ts"
import type { ServiceClock } from "../../rate-limit/ServiceClock.ts"
import type { Logging } from "../../runtime/Logging.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Headers } from "../../schema/Response.ts"
import type { StorageUnavailable } from "../../storage/Storage.ts"
import * as Bill from "../Bill.ts"
import * as Prices from "../Prices.ts"
import type { Checked } from "../SpendSettings.ts"
import type { Keeping, Restore } from "./keeping.ts"

/** The environment that all requests of a layer share. */
export interface Environment extends Pick<Checked, "limits" | "total"> {
  readonly store: Keeping<StorageUnavailable>
  /** The amounts that count towards `total`, in micro-dollars. */
  readonly here: { -readonly [K in keyof Bill.Amounts]: number }
  readonly newLease: () => string
  readonly logging: typeof Logging.Service
}

/** A request that may be charged. */
export interface Request extends Pick<Bill.Reservation, "operation" | "account"> {
  readonly bill: string
  readonly service: ServiceClock
  /** In micro-dollars. */
  readonly needed: number
  readonly terms: Outgoing["terms"]
  /** The headers of a response that costs nothing; `undefined` without a response. */
  readonly ask: Effect.Effect<Headers | undefined>
}

/** A request that may be sent. */
export interface Admitted {
  readonly lease: string
  readonly day: string
}

/** A wait for reservations of others. */
const shortestPauseMillis = 25
const longestPauseMillis = 1_000

/** Shorter waits are not reported. */
const noteworthyMillis = 5_000

/** Makes the step that reserves the amount of a request. It waits while only reservations of others leave no room. */
export const make = (environment: Environment) => {
  const { here, limits, logging, newLease, store, total } = environment
  const isLimited = limits.perDay !== undefined || limits.perMonth !== undefined

  return (request: Request, restore: Restore): Effect.Effect<Admitted, SpendLimitReached> => {
    const { account, ask, bill, needed, operation, service, terms } = request
    let pause = shortestPauseMillis
    let waited = 0
    /** The day to reserve on if the service does not respond to a request for its time. */
    let supposed: string | undefined

    const refuse = (period: SpendLimitReached["period"], amounts: Bill.Amounts, limit: number, day: string) => {
      const { inDoubt, reserved, spent } = amounts
      // Requests in flight are often charged less than they may be.
      if (spent + inDoubt + needed > limit || pause > terms.left) {
        return Effect.fail(
          new SpendLimitReached({
            ...reached(request, period, limit, day),
            spent: Prices.dollarsOf(Bill.sumOf(amounts))
          })
        )
      }
      const millis = pause
      terms.left -= millis
      const isNews = waited < noteworthyMillis && waited + millis >= noteworthyMillis
      waited += millis
      pause = Math.min(pause * 2, longestPauseMillis)
      const told = isNews
        ? logging(Effect.logWarning(
          `${operation} waits: requests in flight have reserved $${
            Prices.dollarsOf(reserved).toFixed(2)
          } of the limit of the ${period}`
        ))
        : Effect.void
      return told.pipe(Effect.andThen(restore(Effect.sleep(millis))), Effect.andThen(attempt))
    }

    const reserve = (clock: Clock.Clock, lease: string, day: string) => {
      here.reserved += needed
      // A request that no limit covers does not need the store.
      const patience = isLimited ? terms.left : terms.left / 2
      const reservation = { day, operation, account, micros: needed }
      return Effect.onExitPrimitive(
        within(terms, clock, store.reserve(bill, lease, reservation, limits, patience, restore)),
        (exit) => {
          if (Exit.isFailure(exit) || exit.value.refused !== undefined) here.reserved -= needed
          return undefined
        }
      )
    }

    const attempt: Effect.Effect<Admitted, SpendLimitReached> = Effect.clockWith((clock) => {
      const time = service.now(clock)
      const day = time === undefined && supposed !== undefined
        ? supposed
        : Bill.dayOf(time ?? clock.currentTimeMillisUnsafe())
      if (Bill.sumOf(here) + needed > total) return refuse("total", here, total, day)
      const lease = newLease()
      return Effect.matchEffect(reserve(clock, lease, day), {
        onFailure: ({ reason }) => Effect.fail(unchecked(request, limits, day, reason)),
        onSuccess: (decision) => {
          const { newest, refused } = decision
          const limit = (refused === "day" ? limits.perDay : refused === "month" ? limits.perMonth : undefined) ??
            Infinity
          // A day begins by the clock of the service: that of this machine may be wrong. A request that exceeds a whole limit
          // fits into no day.
          const isDoubtful = isLimited && needed <= limit && time === undefined && (newest ?? supposed) !== day
          if (isDoubtful && !service.isSilent) {
            return release(lease, refused, day).pipe(
              Effect.andThen(Effect.suspend(() => within(terms, clock, restore(service.request(ask, terms.left))))),
              Effect.flatMap(() => {
                // A service that names no time is taken to have the clock of this machine.
                if (!service.isSilent) supposed = newest ?? day
                return attempt
              })
            )
          }
          if (refused === undefined) return Effect.succeed({ lease, day })
          return refuse(refused, decision[refused], limit, day)
        }
      })
    })

    const release = (lease: string, refused: Bill.Decision["refused"], day: string): Effect.Effect<unknown> => {
      if (refused !== undefined) return Effect.void
      here.reserved -= needed
      return store.settle(bill, lease, Bill.free({ day, operation, account }), terms.left)
    }

    return attempt
  }
}

/** Runs a step within the time of the call. */
const within = <A, E>(terms: Request["terms"], clock: Clock.Clock, step: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const begun = Monotonic.millisUnsafe(clock)
  return Effect.onExitPrimitive(step, () => {
    terms.left -= Monotonic.millisUnsafe(clock) - begun
    return undefined
  })
}

/** The refusal of a request whose price is unknown; `undefined` without a limit. */
export const unpriced = (
  operation: string,
  { perDay, perMonth, total }: Environment["limits"] & Pick<Environment, "total">
): Effect.Effect<never, SpendLimitReached> | undefined => {
  const [period, limit] = perDay !== undefined
    ? ["day", perDay] as const
    : perMonth !== undefined
    ? ["month", perMonth] as const
    : ["total", total] as const
  return limit === Infinity ? undefined : Effect.fail(
    new SpendLimitReached({ operation, period, limit: Prices.dollarsOf(limit), needed: Infinity, spent: 0 })
  )
}

/** The error of a limit that the store could not check. */
const unchecked = (request: Request, { perDay, perMonth = Infinity }: Bill.Limits, day: string, unavailable: string) =>
  new SpendLimitReached({
    ...reached(request, perDay === undefined ? "month" : "day", perDay ?? perMonth, day),
    resetAt: undefined,
    spent: 0,
    unavailable
  })

const reached = (
  { needed, operation }: Request,
  period: SpendLimitReached["period"],
  limit: number,
  day: string
) => ({
  operation,
  period,
  limit: Prices.dollarsOf(limit),
  needed: Prices.dollarsOf(needed),
  resetAt: endOf(period, day)
})

/** The reset of a limit. */
const endOf = (period: SpendLimitReached["period"], day: string): Date | undefined => {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number)
  return period === "total"
    ? undefined
    : new Date(period === "day" ? Date.UTC(year, month - 1, date + 1) : Date.UTC(year, month, 1))
}
