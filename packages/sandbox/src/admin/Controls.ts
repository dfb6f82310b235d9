/** The programmatic interface of a sandbox. Its calls are synchronous, like its state. */
import type { WireName } from "@postwire/core/schema/WireName"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import * as Nonces from "../auth/Nonces.ts"
import * as Secrets from "../auth/Secrets.ts"
import * as BroadcastTimes from "../events/BroadcastTimes.ts"
import * as Deliveries from "../events/Deliveries.ts"
import * as Events from "../events/Events.ts"
import * as Trigger from "../events/Trigger.ts"
import * as Faults from "../faults/Faults.ts"
import type { Fixtures } from "../fixtures/Fixtures.ts"
import * as Arrangement from "../fixtures/index.ts"
import * as ServiceClock from "../http/ServiceClock.ts"
import * as Journal from "../journal/Journal.ts"
import * as Bill from "../limits/Bill.ts"
import * as Plan from "../limits/Plan.ts"
import * as RateLimits from "../limits/RateLimits.ts"
import * as Usage from "../limits/Usage.ts"
import * as Seed from "../seed/Seed.ts"
import type * as Service from "../service/Service.ts"
import { Store, StoreUnavailable } from "../store/Store.ts"
import * as Hub from "../streams/Hub.ts"
import * as Load from "../streams/Load.ts"
import * as Budget from "./Budget.ts"
import * as Grants from "./Grants.ts"
import type { Options, Population } from "./Options.ts"
import { populate, type Template } from "./Population.ts"

/** The state of a sandbox and the calls that control it. */
export interface Controls extends Fixtures {
  /** The base URL, with the port if there is one. */
  readonly baseUrl: string
  /** The accepted wires: all, or the one of the option `wire`. */
  readonly wires: ReadonlyArray<WireName>
  /** The seeded user ada and credentials of every form. */
  readonly seeded: Seed.Seeded
  readonly store: Store["Service"]
  readonly clock: ServiceClock.ServiceClock
  readonly faults: Faults.Faults
  readonly journal: Journal.Journal
  /** The entries of the journal, oldest first. */
  readonly requests: ReadonlyArray<Journal.Entry>
  readonly budget: Budget.Budget
  /** The charges of apps, in dollars. */
  readonly bill: Bill.Bill
  /** The plan of all apps. A reset or a restore returns to that of the option. */
  readonly plan: Pick<Plan.Control, "current" | "set">
  /** The stream connections and the items sent on them. */
  readonly streams: Omit<Hub.Hub, "connect" | "clear" | "deliverActivity" | "endAll" | "onChange">
  /** The latest requests to webhooks. `resend` sends one again. */
  readonly deliveries: Pick<Deliveries.Deliveries, "entry" | "list" | "resend">
  /** Creates posts at a constant rate until it is stopped or has created `posts`. Replaces the previous load. */
  readonly load: (options: Load.Options) => Load.Load
  /** The latest load. */
  readonly loading: Load.Load | undefined
  /**
   * Makes an event of activity, by doing what it is about where the sandbox can. Default user: ada. `set` has the `text` of a
   * post or message, the value of a profile `after` the change, or values at dotted paths of the payload.
   */
  readonly trigger: (request: Omit<Trigger.Request, "user_id"> & { readonly user_id?: string }) => Events.Triggered
  /** The authorizations that users have given to apps. */
  readonly grants: Grants.Grants
  /** The bearer token of `/_sandbox`. */
  readonly adminToken: Redacted.Redacted
  /** The state as the bytes of an SQLite file, for `restore` or the option `file`. */
  readonly snapshot: () => Uint8Array
  /**
   * Replaces the state by a snapshot; throws if the bytes are not one. Faults, budget and (unless kept) the journal are not
   * part of a snapshot and are reset. The clock is unchanged.
   */
  readonly restore: (snapshot: Uint8Array, options?: { readonly keepJournal?: boolean | undefined }) => void
  /**
   * Resets the sandbox to its initial state, or to another population. Another seed has other credentials. Objects returned
   * by `user`, `app` and `ada` before become invalid.
   */
  readonly reset: (population?: Population) => void
}

/** Creates the controls and the parts of the service that they control. */
export const make = Effect.fnUntraced(function*(
  options: Options,
  { baseUrl, template }: { readonly baseUrl: () => string; readonly template?: Template | undefined }
) {
  const store = yield* Store
  const { faults: faulty = 0, seed = 1 } = options
  const clock = yield* ServiceClock.make(options.start)
  const adminToken = options.adminToken ?? Redacted.make(randomBytes(24).toString("base64url"))
  const faults = Faults.make(seed)
  const journal = Journal.make()
  const limits = RateLimits.make()
  const postCap = RateLimits.postCap(options.postCap ?? 10_000_000)
  const usage = Usage.make()
  const nonces = Nonces.make()
  const bill = Bill.make({ store, now: clock.now, cap: options.spendCap })
  const plan = Plan.make(options.plan)
  if (faulty > 0) faults.add({ probability: faulty })
  const makeLoad = yield* Load.make({ store, now: clock.now })
  let loading: Load.Load | undefined

  let epoch = 0
  let population: Population = options
  let seeded = yield* Effect.try({
    try: () =>
      template === undefined
        ? populate(store, population, clock.now())
        : store.restore(template.snapshot, () => template.seeded),
    catch: (cause) => new StoreUnavailable({ file: options.file ?? ":memory:", cause })
  })
  const fixtures = Arrangement.make({ store, clock, seeded: () => seeded, baseUrl })
  const budget = Budget.make({
    limits,
    postCap,
    now: clock.now,
    appId: () => store.credentials.appByConsumerKey(seeded.consumerKey)?.id,
    userId: () => seeded.ada.id,
    clear: () => {
      limits.clear()
      postCap.clear()
      usage.clear()
    }
  })
  const secrets = Secrets.make(
    () => store.credentials,
    () => [adminToken, seeded.userBearerToken, seeded.appBearerToken]
  )
  const deliveries = yield* Deliveries.make({
    store,
    clock,
    faults,
    bill,
    hide: (text) => secrets.of(undefined)(text)
  })
  const streams = yield* Hub.make({
    store,
    now: clock.now,
    seed,
    baseUrl,
    deliverPost: (webhook, post) => deliveries.deliverPost(webhook, post),
    maxConnections: options.streamConnections ?? 1,
    maxRules: options.streamRules ?? 1_000
  })
  const scene = { store, now: clock.now, baseUrl }
  const events = yield* Events.make({
    ...scene,
    publish: ({ appId, event, row, webhook }) => {
      streams.deliverActivity(appId, event, row)
      if (webhook !== undefined) deliveries.deliver(webhook, event, row)
    }
  })
  const broadcastTimes = yield* BroadcastTimes.make({ store, clock })
  const grants = Grants.make({ store, now: clock.now, seeded: () => seeded })
  const forget = (): void => {
    epoch++
    loading?.stop()
    loading = undefined
    streams.clear()
    deliveries.clear()
    budget.clear()
    nonces.clear()
    bill.setCap(options.spendCap)
    plan.reset()
    broadcastTimes.forget()
    faults.clear()
    if (faulty > 0) faults.add({ probability: faulty })
  }

  const controls: Controls = {
    user: fixtures.user,
    app: fixtures.app,
    get ada() {
      return fixtures.ada
    },
    get settings() {
      return fixtures.settings
    },
    get requests() {
      return journal.entries()
    },
    get baseUrl() {
      return baseUrl()
    },
    wires: options.wire === undefined ? Wire.names : [options.wire],
    get seeded() {
      return seeded
    },
    store,
    clock,
    faults,
    journal,
    budget,
    bill,
    plan,
    streams,
    deliveries,
    load: (options) => {
      loading?.stop()
      return loading = makeLoad(options)
    },
    get loading() {
      return loading
    },
    trigger: ({ user_id = seeded.ada.id, ...request }) => Trigger.trigger(scene, events, { ...request, user_id }),
    grants,
    adminToken,
    snapshot: store.snapshot,
    restore: (snapshot, { keepJournal = false } = {}) => {
      seeded = store.restore(snapshot, (next) => {
        next.verify()
        // The credentials of this sandbox also work on a snapshot of another population.
        return Seed.isIn(next, seeded) ? seeded : populate(next, population, clock.now())
      })
      forget()
      if (!keepJournal) journal.clear()
    },
    reset: (other = {}) => {
      const next = { ...options, ...other }
      const back = clock.mark()
      // Seeding must not be delivered to streams.
      loading?.stop()
      streams.clear()
      deliveries.clear()
      try {
        if (next.start === undefined) clock.reset()
        else clock.set(next.start)
        seeded = store.transaction(() => {
          store.clear()
          return populate(store, next, clock.now())
        })
      } catch (error) {
        back()
        throw error
      }
      population = next
      fixtures.clear()
      forget()
      journal.clear()
    }
  }
  const parts: Omit<Service.Parts, "delivered"> = {
    store,
    clock,
    faults,
    journal,
    limits,
    postCap,
    usage,
    bill,
    plan,
    nonces,
    streams,
    deliveries,
    secrets,
    epoch: () => epoch
  }
  return { controls, parts }
})
