/**
 * Charges apps for responses by the prices in the operation declarations. A resource is charged once per app and UTC day.
 * Refusals are free; a response that is lost in transit is charged.
 */
import type { Name } from "@postwire/core/Catalogue"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Kind } from "@postwire/core/schema/Model"
import * as Prices from "@postwire/core/spend/Prices"
import type { Caller } from "../auth/Authentication.ts"
import * as Problem from "../http/Problem.ts"
import type * as Projection from "../projection/Projection.ts"
import type { Answer as Charged, Resources } from "../store/Charges.ts"
import type { Store } from "../store/Store.ts"
import * as Usage from "./Usage.ts"

/** A response to charge. */
export interface Answer {
  readonly operation: Name
  readonly definition: Definition
  readonly caller: Pick<Caller, "appId" | "userId">
  /** The path parameters of the request. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly resources: ReadonlyArray<Projection.Resource>
  readonly parameters: Readonly<Record<string, unknown>>
  /** The data returned by the handler. */
  readonly data: unknown
  /** The service's time in milliseconds. */
  readonly now: number
  /** True for a further part of a response whose request was already counted. */
  readonly continues?: boolean
}

/** The bill with the calls of the service. */
export type Ledger = ReturnType<typeof make>

/** The bill and its cap. */
export type Bill = Omit<Ledger, "charge" | "refusal">

export type Statement = ReturnType<Bill["statement"]>

/** The charges of one app. */
export type Account = Statement["apps"][number]

/** The dependencies of a bill. */
export interface Options {
  readonly store: Store["Service"]
  readonly cap: number | undefined
  /** Milliseconds. */
  readonly now: () => number
  readonly prices?: Prices.Prices
}

/** True if an amount of dollars can be a cap. */
export const isCap = (dollars: number): boolean => dollars >= 0 && dollars <= 1e9

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** The first day of the calendar month (UTC) and of the next one. */
const cycleOf = (now: number) => {
  const [begin, end] = Usage.monthOf(now)
  return { from: dayOf(begin), to: dayOf(end) }
}

/** Determines the charges of a response. */
const pricer = ({ credentials, posts }: Store["Service"], prices: Prices.Prices) => {
  const isOwned = ({ caller: { appId, userId }, params: { id } }: Answer): boolean =>
    userId !== undefined && id === userId && credentials.ownerOf(appId) === userId

  /** True if the created post has a link, or a deep link to direct messages. */
  const hasLink = ({ data, parameters }: Answer): boolean =>
    parameters["direct_message_deep_link"] !== undefined ||
    typeof data === "object" && data !== null && "id" in data &&
      posts.byId(String(data.id))?.entities?.urls !== undefined

  const resourcesOf = (answer: Answer): ReadonlyArray<Resources> => {
    const { definition: { price }, resources } = answer
    if (typeof price === "string" || "request" in price) return []
    if ("event" in price) {
      return Array.from(
        Map.groupBy(resources, ({ row }) => row),
        ([row, events]) => row === undefined ? [] : { row, micros: prices.read[row], ids: events.map(({ id }) => id) }
      ).flat()
    }
    const main = price.owned === true && isOwned(answer)
      ? { row: `owned ${price.read}`, micros: prices.ownedRead }
      : { row: price.read, micros: prices.read[price.read] }
    const ids = (place: Projection.Resource["place"], of?: Kind) =>
      resources.flatMap((resource) =>
        resource.place === place && (of ?? resource.kind) === resource.kind ? resource.id : []
      )
    return [
      { ...main, ids: ids("data") },
      ...(prices.includes ? (["post", "user"] as const) : []).map((kind) => ({
        row: kind,
        micros: prices.read[kind],
        ids: ids("includes", kind)
      }))
    ].filter(({ ids }) => ids.length > 0)
  }

  const requestOf = (answer: Answer): number | undefined => {
    const { price } = answer.definition
    if (typeof price === "string" || !("request" in price)) return undefined
    const { request, withUrl = request } = price
    return prices.request[withUrl !== request && hasLink(answer) ? withUrl : request]
  }

  return { requestOf, resourcesOf }
}

export const make = ({ cap: given, now: clock, prices = Prices.current, store }: Options) => {
  let cap = given
  const { charges, credentials } = store

  const { requestOf, resourcesOf } = pricer(store, prices)

  const spent = (appId: string, now: number): number => {
    const { from, to } = cycleOf(now)
    return charges.between(appId, from, to)
  }

  /** Charges that a full disk could not store: reads keep working and are charged once there is space. */
  const owed: Array<Charged> = []
  const settle = (): void => {
    try {
      for (let first = owed[0]; first !== undefined; first = owed[0]) {
        charges.add(first)
        owed.shift()
      }
    } catch (failure) {
      if (!Problem.isOfDisk(failure)) throw failure
    }
  }

  return {
    charge: (answer: Answer): void => {
      owed.push({
        appId: answer.caller.appId,
        day: dayOf(answer.now),
        operation: answer.operation,
        request: requestOf(answer),
        continues: answer.continues === true,
        resources: resourcesOf(answer)
      })
      settle()
    },
    /** The refusal for an app that has reached its cap. */
    refusal: (appId: string, now: number): Problem.Problem | undefined =>
      cap === undefined || spent(appId, now) < Prices.microsOf(cap)
        ? undefined
        : Problem.spendCapReached(appId, cycleOf(now).to),
    /** The current bill. */
    statement: () => {
      settle()
      const now = clock()
      const all = charges.all()
      return {
        /** The date of the price list. */
        prices: prices.since,
        cycle: cycleOf(now),
        /** The dollars that an app may spend in a cycle. */
        cap,
        /** The total of all apps and days. */
        dollars: Prices.dollarsOf(all.reduce((sum, { micros }) => sum + micros, 0)),
        apps: [...new Set(all.map(({ appId }) => appId))].map((app) => ({
          app,
          name: credentials.appById(app)?.name ?? "",
          /** In the current billing cycle. */
          dollars: Prices.dollarsOf(spent(app, now)),
          /** The charges by day and operation, oldest day first. */
          lines: all.filter(({ appId }) => appId === app).map(({ appId: _, micros, ...line }) => ({
            ...line,
            dollars: Prices.dollarsOf(micros)
          }))
        }))
      }
    },
    /**
     * Sets or removes the dollars that each app may spend in a billing cycle. The request that exceeds it is answered in
     * full; later ones are refused with 403 until the next cycle.
     */
    setCap: (dollars: number | undefined): void => {
      if (dollars !== undefined && !isCap(dollars)) {
        throw new RangeError("The cap must be a non-negative amount of dollars")
      }
      cap = dollars
    },
    /** Deletes all charges. */
    clear: (): void => {
      owed.length = 0
      charges.clear()
    }
  }
}
