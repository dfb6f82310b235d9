/**
 * Charges of requests, and limits of spending. `layer` counts the resources of responses at the current prices, each resource once
 * a day, and refuses a request that might exceed a limit: its largest price is reserved before it is sent. Clients that share a
 * `SpendStore` share one bill per service.
 *
 * @stability experimental
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as AttemptFailure from "../client/AttemptFailure.ts"
import { type Meter, type Outgoing, parseBody, SpendGuard } from "../client/SpendGuard.ts"
import * as UserId from "../client/UserId.ts"
import type { InvalidSettings, SpendLimitReached } from "../errors/Errors.ts"
import { headOf } from "../http/Transport.ts"
import type { Bucket } from "../rate-limit/Policy.ts"
import { ServiceClock } from "../rate-limit/ServiceClock.ts"
import * as Callback from "../runtime/Callback.ts"
import { Logging } from "../runtime/Logging.ts"
import * as Metrics from "../runtime/Metrics.ts"
import * as Response from "../schema/Response.ts"
import type { StorageUnavailable } from "../storage/Storage.ts"
import * as Bill from "./Bill.ts"
import * as Admission from "./internal/admission.ts"
import * as Keeping from "./internal/keeping.ts"
import * as Prices from "./Prices.ts"
import { check, type Checked, type Settings, Total } from "./SpendSettings.ts"
import * as SpendStore from "./SpendStore.ts"

export { check, type Limit, type Settings, type Spent, Total } from "./SpendSettings.ts"

/** A total that starts at zero. */
export const layerTotal: Layer.Layer<Total> = /*#__PURE__*/ Layer.sync(
  Total,
  () => ({ spent: 0, inDoubt: 0, reserved: 0 })
)

/** The guards of a layer. */
class Guards {
  readonly #checked: Checked
  readonly #here: typeof Total.Service
  readonly #store: Keeping.Keeping<StorageUnavailable>
  readonly #admit: ReturnType<typeof Admission.make>
  /** The clocks of services by their addresses. */
  readonly #clocks = new Map<string, ServiceClock>()

  constructor(
    checked: Checked,
    here: typeof Total.Service,
    store: Keeping.Keeping<StorageUnavailable>,
    logging: typeof Logging.Service
  ) {
    this.#checked = checked
    this.#here = here
    this.#store = store
    /** Distinguishes the requests of this layer from those of others. */
    const own = globalThis.crypto.randomUUID()
    let last = 0
    const { limits, total } = checked
    this.#admit = Admission.make({ store, limits, total, here, logging, newLease: () => `${own}:${++last}` })
  }

  of(bill: string): SpendGuard {
    return {
      guard: (...request) => Effect.suspend(() => this.#guard(bill, ...request)),
      metered: (use) => ({
        guard: (...request) => Effect.suspend(() => this.#metered(bill, use, ...request))
      })
    }
  }

  #clockOf(bill: string): ServiceClock {
    const known = this.#clocks.get(bill) ?? new ServiceClock()
    this.#clocks.set(bill, known)
    return known
  }

  /** Charges what was reserved, and reports it. */
  #settle(
    { bill, needed }: Admission.Request,
    lease: string,
    charge: Bill.Charge,
    patience: number
  ): Effect.Effect<Response.Cost> {
    return Effect.flatMap(this.#store.settle(bill, lease, charge, patience), (settled) => {
      this.#here.reserved -= needed
      this.#here[charge.inDoubt ? "inDoubt" : "spent"] += settled.micros
      const cost = {
        dollars: Prices.dollarsOf(settled.micros),
        charged: settled.charged,
        repeats: settled.repeats
      }
      if (settled.micros + settled.charged + settled.repeats === 0) return Effect.succeed(cost)
      const { account, day, inDoubt, operation } = charge
      const { onSpend } = this.#checked
      if (onSpend !== undefined) Callback.call(onSpend, { ...cost, operation, account, day, inDoubt })
      const state = inDoubt ? "in doubt" : "spent"
      const spend = Metrics.spend.of({ "postwire.operation": operation, "postwire.spend.state": state })
      return Effect.as(Metric.update(spend, cost.dollars), cost)
    })
  }

  #guard(bill: string, outgoing: Outgoing, bucket: Bucket, send: Send, ask: Ask): Guarded {
    const { prepared, terms } = outgoing
    const { price } = prepared.priced
    if (price === "free") return send
    const { appOwner, limits, prices, total } = this.#checked
    if (price === "unknown" && prices.unknown === undefined) {
      return Admission.unpriced(bucket.operation, { ...limits, total }) ?? send
    }
    const ownership = ownershipOf(outgoing, appOwner)
    const needed = Prices.mostOf(price, Prices.askOf(prepared.priced, prepared), prices, ownership)
    const request = { bill, service: this.#clockOf(bill), ...purposeOf(outgoing, bucket), needed, terms, ask }
    const resourcesOf = (body: unknown) =>
      Prices.isPerRequest(price) ? [] : Prices.resourcesOf(price, body, prices, ownership)
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.#admit(request, restore), ({ day, lease }) => {
        const before = outgoing.sent
        return Effect.onExit(restore(send), (exit) => {
          const charge = outgoing.sent > before
            ? chargeOf(request, prepared, exit, day, resourcesOf)
            : Effect.succeed(Bill.free({ ...request, day }))
          // An interrupted caller does not wait for the store.
          const patience = Exit.isSuccess(exit) ? terms.left : 0
          return Effect.map(
            Effect.flatMap(charge, (charge) => this.#settle(request, lease, charge, patience)),
            (cost) => Exit.isSuccess(exit) ? Response.markCost(exit.value, cost) : undefined
          )
        })
      })
    )
  }

  /** Opening costs nothing. The price of the next item stays reserved while the response continues. */
  #metered(
    bill: string,
    use: (meter: Meter) => void,
    outgoing: Outgoing,
    bucket: Bucket,
    send: Send,
    ask: Ask
  ): Guarded {
    const { prepared, terms } = outgoing
    const { price } = prepared.priced
    if (price === "free") return send
    if (Prices.isPerRequest(price)) return this.#guard(bill, outgoing, bucket, send, ask)
    const { prices } = this.#checked
    const needed = Prices.mostOf(price, { ...Prices.askOf(prepared.priced, prepared), items: 1 }, prices)
    const service = this.#clockOf(bill)
    const request = { bill, service, ...purposeOf(outgoing, bucket), needed, terms, ask }
    let held: Admission.Admitted | undefined
    const reserve = (terms: Outgoing["terms"], restore: Keeping.Restore) =>
      Effect.map(this.#admit({ ...request, terms }, restore), (admitted) => {
        held = admitted
      })
    const release = (resources: Bill.Charge["resources"]) =>
      Effect.clockWith((clock): Effect.Effect<unknown> => {
        if (held === undefined) return Effect.void
        const { lease, day: reserved } = held
        held = undefined
        const time = service.now(clock) ?? (service.isSilent ? clock.currentTimeMillisUnsafe() : undefined)
        const day = time === undefined ? reserved : Bill.dayOf(time)
        return this.#settle(request, lease, { ...Bill.free({ ...request, day }), resources }, Infinity)
      })
    const meter: Meter = {
      end: Effect.uninterruptible(Effect.asVoid(release([]))),
      count: (bodies) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.andThen(
            Effect.suspend(() => release(Prices.resourcesOf(price, Prices.together(bodies), prices))),
            reserve({ left: Infinity }, restore)
          )
        )
    }
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(
        reserve(terms, restore),
        Effect.onExit(restore(send), (exit) => {
          if (Exit.isFailure(exit) || exit.value.status < 200 || exit.value.status >= 300) return release([])
          return Effect.clockWith((clock) => {
            service.learn(exit.value.headers, clock)
            use(meter)
            return Effect.void
          })
        })
      )
    )
  }
}

/** Counts the charges of the clients that it is provided to. Without a `SpendStore`, their bills are in memory. */
export const layer = (settings: Settings = {}): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    SpendGuard,
    Effect.gen(function*() {
      const checked = yield* check(settings)
      const store = yield* Effect.serviceOption(SpendStore.SpendStore)
      const total = yield* Effect.serviceOption(Total)
      const logging = yield* Logging
      const guards = new Guards(
        checked,
        total._tag === "None" ? { spent: 0, inDoubt: 0, reserved: 0 } : total.value,
        store._tag === "None"
          ? SpendStore.makeMemory()
          : yield* Keeping.make(store.value, checked.refuses, logging),
        logging
      )
      return (bill: string) => guards.of(bill)
    })
  )

type Send = Effect.Effect<HttpClientResponse, HttpClientError>

type Ask = Effect.Effect<Response.Headers | undefined>

type Guarded = Effect.Effect<HttpClientResponse, HttpClientError | SpendLimitReached>

const ownershipOf = (
  { prepared: { identityAt, template, userAuth }, url, values }: Outgoing,
  appOwner: string | undefined
): Prices.Ownership => {
  // Every read of a user's resources has their id there.
  const read = /\/2\/users\/(\d+)\//.exec(url)?.[1]
  if (appOwner === undefined || read !== appOwner || !template.includes("/2/users/:")) return "other"
  const token = values.accessToken
  const user = userAuth
    ? token && UserId.ofAccessToken(Redacted.value(token))
    : values.grant?.userId ?? (identityAt === undefined ? undefined : read)
  return user === undefined ? "perhaps owned" : user === appOwner ? "owned" : "other"
}

/** The purpose of a request's charge. */
const purposeOf = ({ values }: Outgoing, { credential, key, operation }: Bucket) => ({
  operation,
  account: values.grant?.account ?? `${credential} ${key.slice(key.lastIndexOf(" ") + 1)}`
})

/** The charge of a request that was sent. `resourcesOf` counts the resources of its body, where they are charged. */
const chargeOf = (
  request: Admission.Request,
  prepared: Outgoing["prepared"],
  exit: Exit.Exit<HttpClientResponse, HttpClientError>,
  day: string,
  resourcesOf: (body: unknown) => Bill.Charge["resources"]
): Effect.Effect<Bill.Charge> => {
  const { account, needed, operation, service } = request
  const charge = Bill.free({ day, operation, account })
  const inDoubt = { ...charge, micros: needed, inDoubt: true }
  if (Exit.isFailure(exit)) return Effect.succeed(mayBeCharged(exit.cause, prepared) ? inDoubt : charge)
  const response = exit.value
  return Effect.clockWith((clock) => {
    const served = service.learn(response.headers, clock)
    if (response.status < 200 || response.status >= 300) return Effect.succeed(charge)
    const charged = served === undefined ? charge : { ...charge, day: Bill.dayOf(served) }
    if (Prices.isPerRequest(prepared.priced.price)) {
      return Effect.succeed({ ...charged, micros: needed, isCharged: true })
    }
    return Effect.match(response.text, {
      onFailure: () => inDoubt,
      onSuccess: (text) => {
        try {
          return { ...charged, resources: resourcesOf(parseBody(response, text)) }
        } catch {
          return inDoubt
        }
      }
    })
  })
}

/** Tests whether a request without a complete response may be charged. A status of 300 or more excludes it. */
const mayBeCharged = (cause: Cause.Cause<HttpClientError>, prepared: Outgoing["prepared"]): boolean => {
  const head = headOf(cause)
  if (head !== undefined && head.status >= 300) return false
  const error = cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined || AttemptFailure.mayHaveApplied(AttemptFailure.ofTransport(error, prepared, undefined))
}
