/**
 * What requests are charged, and limits of it. `layer` counts what the answers hold at the prices in force, each resource
 * once a day, and keeps a request back that might pass a limit: what it may cost at most is reserved before it is sent.
 * Clients that share a `SpendStore` share one bill for each service.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Bill from "./Bill.ts"
import { type InvalidSettings, SpendLimitReached } from "./Errors.ts"
import * as Failure from "./Failure.ts"
import * as Hook from "./Hook.ts"
import * as Identity from "./Identity.ts"
import type { Bucket } from "./internal/Budget.ts"
import { type Meter, type Outgoing, SpendGuard } from "./internal/SpendGuard.ts"
import * as SpendKeeping from "./internal/SpendKeeping.ts"
import { Logging } from "./Logging.ts"
import * as Monotonic from "./Monotonic.ts"
import * as Prices from "./Prices.ts"
import * as Response from "./Response.ts"
import { check, type Checked, type Settings } from "./SpendSettings.ts"
import * as SpendStore from "./SpendStore.ts"
import { headOf } from "./Transport.ts"

export { check, type Limit, type Settings, type Spent } from "./SpendSettings.ts"

/** Dollars that were spent, by operation and state (`spent` or `in doubt`). */
export const dollars = /*#__PURE__*/ Metric.counter("postwire_spend_dollars", {
  description: "Dollars that requests were charged, or may have been",
  incremental: true
})

/** What counts towards the limit `total`, in micro-dollars. One that is provided may begin with what was spent before. */
export class Total extends /*#__PURE__*/ Context.Service<Total, { -readonly [K in keyof Bill.Amounts]: number }>()(
  "@postwire/core/Spend/Total"
) {}

/** A total that begins with nothing. */
export const layerTotal: Layer.Layer<Total> = /*#__PURE__*/ Layer.sync(
  Total,
  () => ({ spent: 0, inDoubt: 0, reserved: 0 })
)

/** Counts what the clients that it is provided to are charged. Without a `SpendStore` it keeps their bills in memory. */
export const layer = (settings: Settings = {}): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    SpendGuard,
    Effect.gen(function*() {
      const checked = yield* check(settings)
      const store = yield* Effect.serviceOption(SpendStore.SpendStore)
      const total = yield* Effect.serviceOption(Total)
      return make(
        checked,
        total._tag === "None" ? { spent: 0, inDoubt: 0, reserved: 0 } : total.value,
        store._tag === "None"
          ? SpendStore.makeMemory()
          : yield* SpendKeeping.make(store.value, checked.refuses, yield* Logging)
      )
    })
  )

const make = (
  { appOwner, limits, onSpend, prices, total }: Checked,
  here: typeof Total.Service,
  store: SpendKeeping.Keeping<SpendStore.SpendStoreUnavailable>
) => {
  /** What tells the requests of this layer from those of others. */
  const own = globalThis.crypto.randomUUID()
  let last = 0
  const isLimited = limits.perDay !== undefined || limits.perMonth !== undefined
  /** Milliseconds by which the service's clock is ahead: days are the service's. */
  let ahead = 0

  const isOwned = ({ prepared: { identityAt, template, userAuth }, url, values }: Outgoing): boolean => {
    if (appOwner === undefined) return false
    // Every read of what is someone's has their id there.
    const read = /\/2\/users\/(\d+)\//.exec(url)?.[1]
    if (read !== appOwner || !template.includes("/2/users/:")) return false
    const token = values.accessToken
    const user = userAuth
      ? token && Identity.ofAccessToken(Redacted.value(token))
      : values.grant?.userId ?? (identityAt === undefined ? undefined : read)
    return user === appOwner
  }

  /** What may be charged, for what, and to whom. */
  const purposeOf = ({ values }: Outgoing, { credential, key, operation }: Bucket) => ({
    operation,
    account: values.grant?.account ?? `${credential} ${key.slice(key.lastIndexOf(" ") + 1)}`
  })

  /** Reserves an amount, and says on which day. It waits for what others have reserved and may not need. */
  const admit = (
    bill: string,
    lease: string,
    { account, operation }: ReturnType<typeof purposeOf>,
    needed: number,
    terms: Outgoing["terms"],
    restore: SpendKeeping.Restore
  ): Effect.Effect<string, SpendLimitReached> => {
    let pause = shortestPauseMillis
    const attempt: Effect.Effect<string, SpendLimitReached> = Effect.clockWith((clock) => {
      const day = Bill.dayOf(clock.currentTimeMillisUnsafe() + ahead)
      const reached = (period: SpendLimitReached["period"], amounts: Bill.Amounts, limit: number) => ({
        operation,
        period,
        spent: Prices.dollarsOf(Bill.sumOf(amounts)),
        limit: Prices.dollarsOf(limit),
        needed: Prices.dollarsOf(needed),
        resetAt: endOf(period, day)
      })
      const refuse = (period: SpendLimitReached["period"], amounts: Bill.Amounts, limit: number) => {
        const { inDoubt, spent } = amounts
        // What is in flight is often charged less than it may be.
        if (spent + inDoubt + needed > limit || pause > terms.left) {
          return Effect.fail(new SpendLimitReached(reached(period, amounts, limit)))
        }
        const millis = pause
        terms.left -= millis
        pause = Math.min(pause * 2, longestPauseMillis)
        return Effect.andThen(restore(Effect.sleep(millis)), attempt)
      }
      if (Bill.sumOf(here) + needed > total) return refuse("total", here, total)
      here.reserved += needed
      const begun = Monotonic.millisUnsafe(clock)
      // A request that no limit covers does not need the store.
      const patience = isLimited ? terms.left : terms.left / 2
      const reservation = { day, operation, account, micros: needed }
      return Effect.onExitPrimitive(
        store.reserve(bill, lease, reservation, limits, patience, restore),
        (exit) => {
          terms.left -= Monotonic.millisUnsafe(clock) - begun
          if (Exit.isFailure(exit) || exit.value.refused !== undefined) here.reserved -= needed
          return undefined
        }
      ).pipe(Effect.matchEffect({
        onFailure: ({ reason }) => {
          const [period, limit] = limits.perDay === undefined
            ? ["month", limits.perMonth] as const
            : ["day", limits.perDay] as const
          const known = reached(period, Bill.noAmounts, limit ?? Infinity)
          return Effect.fail(new SpendLimitReached({ ...known, resetAt: undefined, unavailable: reason }))
        },
        onSuccess: (decision) => {
          const { refused } = decision
          if (refused === undefined) return Effect.succeed(day)
          return refuse(refused, decision[refused], (refused === "day" ? limits.perDay : limits.perMonth) ?? Infinity)
        }
      }))
    })
    return attempt
  }

  /** Charges what was reserved, and tells of it. */
  const settle = (
    bill: string,
    lease: string,
    needed: number,
    charge: Bill.Charge,
    patience: number
  ): Effect.Effect<Response.Cost> =>
    Effect.flatMap(store.settle(bill, lease, charge, patience), (settled) => {
      here.reserved -= needed
      here[charge.inDoubt ? "inDoubt" : "spent"] += settled.micros
      const cost = {
        dollars: Prices.dollarsOf(settled.micros),
        charged: settled.charged,
        repeats: settled.repeats
      }
      if (settled.micros + settled.charged + settled.repeats === 0) return Effect.succeed(cost)
      const { account, day, operation } = charge
      if (onSpend !== undefined) {
        Hook.tell(onSpend, { ...cost, operation, account, day, inDoubt: charge.inDoubt })
      }
      const state = charge.inDoubt ? "in doubt" : "spent"
      return Effect.as(Metric.update(Metric.withAttributes(dollars, { operation, state }), cost.dollars), cost)
    })

  const leaseOf = () => `${own}:${++last}`

  const guard = (
    bill: string,
    outgoing: Outgoing,
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, HttpClientError>
  ): Effect.Effect<HttpClientResponse, HttpClientError | SpendLimitReached> => {
    const { prepared, terms } = outgoing
    const { price } = prepared.priced
    if (price === "free") return send
    const owned = isOwned(outgoing)
    const needed = Prices.mostOf(price, Prices.askOf(prepared.priced, prepared), prices, owned)
    const purpose = purposeOf(outgoing, bucket)
    const lease = leaseOf()

    const chargeOf = (
      exit: Exit.Exit<HttpClientResponse, HttpClientError>,
      day: string,
      isSent: boolean
    ): Effect.Effect<Bill.Charge> => {
      const charge = Bill.free({ day, ...purpose })
      const inDoubt = { ...charge, micros: needed, inDoubt: true }
      if (!isSent) return Effect.succeed(charge)
      if (Exit.isFailure(exit)) return Effect.succeed(mayBeCharged(exit.cause, prepared) ? inDoubt : charge)
      const response = exit.value
      if (response.status < 200 || response.status >= 300) return Effect.succeed(charge)
      return Effect.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        ahead = aheadOf(response, now, ahead)
        const charged = { ...charge, day: Bill.dayOf(now + ahead) }
        if ("request" in price) return Effect.succeed({ ...charged, micros: needed, isCharged: true })
        return Effect.match(response.text, {
          onFailure: () => inDoubt,
          onSuccess: (text) => {
            try {
              return { ...charged, resources: Prices.resourcesOf(price, JSON.parse(text), prices, owned) }
            } catch {
              return inDoubt
            }
          }
        })
      })
    }

    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(admit(bill, lease, purpose, needed, terms, restore), (day) => {
        const before = outgoing.sent
        return Effect.onExit(
          restore(send),
          (exit) =>
            Effect.flatMap(
              chargeOf(exit, day, outgoing.sent > before),
              (charge) =>
                // A caller that has given up does not wait for the store.
                Effect.map(settle(bill, lease, needed, charge, Exit.isSuccess(exit) ? terms.left : 0), (cost) => {
                  if (Exit.isSuccess(exit)) {
                    Response.markCost(exit.value, cost)
                  }
                })
            )
        )
      })
    )
  }

  /** Opening costs nothing. What the next item may cost is reserved as long as the response goes on. */
  const metered = (
    bill: string,
    use: (meter: Meter) => void,
    outgoing: Outgoing,
    bucket: Bucket,
    send: Effect.Effect<HttpClientResponse, HttpClientError>
  ): Effect.Effect<HttpClientResponse, HttpClientError | SpendLimitReached> => {
    const { prepared, terms } = outgoing
    const { price } = prepared.priced
    if (price === "free" || "request" in price) return send
    const needed = Prices.mostOf(price, { ...Prices.askOf(prepared.priced, prepared), items: 1 }, prices)
    const purpose = purposeOf(outgoing, bucket)
    let lease: string | undefined
    const reserve = (terms: Outgoing["terms"], restore: SpendKeeping.Restore) => {
      const next = leaseOf()
      return Effect.map(admit(bill, next, purpose, needed, terms, restore), (day) => {
        lease = next
        return day
      })
    }
    const release = (charge: Bill.Charge) =>
      Effect.suspend((): Effect.Effect<unknown> => {
        const held = lease
        lease = undefined
        return held === undefined ? Effect.void : settle(bill, held, needed, charge, Infinity)
      })
    const today = Effect.map(Clock.currentTimeMillis, (now) => Bill.dayOf(now + ahead))
    const end = Effect.flatMap(today, (day) => release(Bill.free({ day, ...purpose })))
    const meter: Meter = {
      end: Effect.uninterruptible(Effect.asVoid(end)),
      count: (bodies) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(today, (day) => {
            const resources = Prices.resourcesOf(price, Prices.together(bodies), prices)
            return Effect.andThen(
              release({ ...Bill.free({ day, ...purpose }), resources }),
              Effect.asVoid(reserve({ left: Infinity }, restore))
            )
          })
        )
    }
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(
        reserve(terms, restore),
        Effect.onExit(restore(send), (exit) => {
          if (Exit.isFailure(exit) || exit.value.status < 200 || exit.value.status >= 300) return end
          return Effect.map(Clock.currentTimeMillis, (now) => {
            ahead = aheadOf(exit.value, now, ahead)
            use(meter)
          })
        })
      )
    )
  }

  return (bill: string): SpendGuard => ({
    guard: (outgoing, bucket, send) => Effect.suspend(() => guard(bill, outgoing, bucket, send)),
    metered: (use) => ({
      guard: (outgoing, bucket, send) => Effect.suspend(() => metered(bill, use, outgoing, bucket, send))
    })
  })
}

/** How long one waits for what others have reserved. */
const shortestPauseMillis = 25
const longestPauseMillis = 1_000

/** Whether a request without a whole answer may be charged. A head that refuses it says that it is not. */
const mayBeCharged = (cause: Cause.Cause<HttpClientError>, prepared: Outgoing["prepared"]): boolean => {
  const head = headOf(cause)
  if (head !== undefined && head.status >= 300) return false
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined || Failure.mayHaveApplied(Failure.ofTransport(error, prepared, undefined))
}

/** How far the clock of a service is ahead, by its answer. A cache between the two does not know the time. */
const aheadOf = ({ headers }: HttpClientResponse, now: number, known: number): number => {
  const served = Date.parse(headers["date"] ?? "")
  if (Number.isNaN(served) || headers["age"] !== undefined) return known
  // A header has whole seconds.
  return Math.abs(served - now) > 2_000 ? served - now : 0
}

/** When a limit begins anew. */
const endOf = (period: SpendLimitReached["period"], day: string): Date | undefined => {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number)
  return period === "total"
    ? undefined
    : new Date(period === "day" ? Date.UTC(year, month - 1, date + 1) : Date.UTC(year, month, 1))
}
