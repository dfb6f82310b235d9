/**
 * Prices of the service: per resource that is read and per request that writes, in whole micro-dollars. The declaration of an
 * operation names its row (`price`). The service does not document that for each operation: it is our interpretation.
 *
 * @stability experimental
 */
import { type Definition, pageSizeOf } from "../schema/Definition.ts"
import { eventPrices, isEventType } from "../schema/models/Activity.ts"
import type { Price, Priced, ReadRow } from "../schema/Price.ts"
import * as Links from "../text/Links.ts"
import { august, february } from "../wire/NameTables.ts"
import * as WireNames from "../wire/WireNames.ts"
import { current, type Prices } from "./internal/priceTable.ts"

export type { Price, Priced, ReadRow, RequestRow } from "../schema/Price.ts"
export * from "./internal/priceTable.ts"

/** The parts of a request that decide its price. */
export interface Ask {
  /** The maximum number of items in the response. */
  readonly items: number
  /** Expansions, which add related objects, in the names of any dialect. */
  readonly expansions: ReadonlyArray<string>
  /** True if the written text has a link. */
  readonly hasUrl: boolean
}

/** Tests whether an amount is charged for each request, and not for what its response holds. */
export const isPerRequest = (price: Price): price is "unknown" | Extract<Price, { readonly request: unknown }> =>
  price === "unknown" || (typeof price === "object" && "request" in price)

/** The largest amount that one request may be charged; 0 where that is unknown. */
export const mostOf = (
  price: Price,
  { expansions, hasUrl, items }: Ask,
  prices: Prices,
  ownership: Ownership = "other"
): number => {
  if (price === "free") return 0
  if (price === "unknown") return prices.unknown ?? 0
  if ("request" in price) return prices.request[hasUrl ? price.withUrl ?? price.request : price.request]
  if ("event" in price) return items * Math.max(...eventRows.map((row) => prices.read[row]))
  let each = ownership === "owned" && price.owned === true ? prices.ownedRead : prices.read[price.read]
  if (prices.includes) {
    for (const expansion of expansions) {
      const [kind, count] = brought.get(expansion) ?? none
      each += prices.read[kind] * count
    }
  }
  return items * each
}

/** The parts of a request that decide its price, from its encoded query and body. */
export const askOf = (
  { items, price }: Priced,
  { body, query }: { readonly query: string; readonly body?: unknown }
): Ask => {
  if (typeof price === "string") return { items: 0, expansions: [], hasUrl: false }
  if ("request" in price) {
    return { items: 1, expansions: [], hasUrl: price.withUrl !== undefined && typeof body === "string" && hasUrl(body) }
  }
  const asked = new URLSearchParams(query)
  const listed = lookups.map((name) => asked.get(name)).find((list) => list !== null)
  const most = Number(asked.get("max_results") ?? NaN)
  return {
    items: typeof listed === "string" ? listOf(listed).length : most > 0 ? most : items,
    expansions: listOf(asked.get("expansions")),
    hasUrl: false
  }
}

/** Tests whether the text of a body has a link, or a deep link is attached. */
const hasUrl = (body: string): boolean => {
  const members: unknown = JSON.parse(body)
  const text = member(members, "text")
  return (typeof text === "string" && hasLink(text)) || member(members, "direct_message_deep_link") !== undefined
}

/** The largest amount that one call, or one page of it, may be charged: of an operation in general, or with parameters. */
export const most = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>> = {},
  prices: Prices = current
): number => {
  const { direct_message_deep_link: leadsAway, expansions, text } = parameters
  return mostOf(
    definition.price,
    {
      items: itemsOf(definition, parameters),
      expansions: listOf(expansions),
      hasUrl: leadsAway !== undefined || (typeof text === "string" ? hasLink(text) : !("text" in parameters))
    },
    prices
  )
}

/** Tests whether the service finds a link in a text. */
export const hasLink = (text: string): boolean => Links.find(text).length > 0

/** The maximum number of items in a response. */
const itemsOf = (definition: Definition, parameters: Readonly<Record<string, unknown>>): number => {
  for (const name of lookups) {
    if (definition.query?.[name] !== undefined && parameters[name] !== undefined) return listOf(parameters[name]).length
  }
  const { max_results: asked } = parameters
  return typeof asked === "number" ? asked : pageSizeOf(definition)
}

/** The parameters that list the resources to look up: each element yields at most one. */
const lookups = ["ids", "usernames"] as const

const listOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.map(String) : typeof value === "string" && value !== "" ? value.split(",") : []

/** Maps the neutral names and those of both dialects, since a request has the names of its dialect. */
const inAllWords = <A>(byName: Readonly<Record<string, A>>): ReadonlyMap<string, A> =>
  new Map(
    Object.entries(byName).flatMap(([name, value]) =>
      [name, WireNames.expansion(february, name), WireNames.expansion(august, name)].map((said) =>
        [said, value] as const
      )
    )
  )

type Brought = readonly [kind: "post" | "user", count: number]

/**
 * The resources that each expansion adds per item, and their assumed maximum. The service has no limit for mentions; those beyond
 * the maximum are charged as well.
 */
const brought = /*#__PURE__*/ inAllWords<Brought>({
  "affiliation.user_id": ["user", 1],
  "attachments.media_source_post": ["post", 4],
  author_id: ["user", 1],
  creator_id: ["user", 1],
  edit_history_post_ids: ["post", 6],
  "entities.mentions.username": ["user", 10],
  "entities.note.mentions.username": ["user", 10],
  host_ids: ["user", 3],
  in_reply_to_user_id: ["user", 1],
  invited_user_ids: ["user", 10],
  most_recent_post_id: ["post", 1],
  owner_id: ["user", 1],
  participant_ids: ["user", 50],
  pinned_post_id: ["post", 1],
  "referenced_posts.id": ["post", 2],
  "referenced_posts.id.author_id": ["user", 2],
  sender_id: ["user", 1],
  speaker_ids: ["user", 13]
})

const none: Brought = ["post", 0]

/** The owner of the app reads their own resources, or not: `perhaps owned` if the user of a bearer token is unknown. */
export type Ownership = "owned" | "perhaps owned" | "other"

/** Resources of one kind in a response, and the price of each, which is charged once a day. */
export interface Resources {
  /** The row. Owned reads, and those that may be, are counted separately. */
  readonly kind: ReadRow | `${Exclude<Ownership, "other">} ${ReadRow}`
  /** Micro-dollars for each. */
  readonly micros: number
  /** Distinct ids. Resources without one are counted in `unnamed`. */
  readonly ids: ReadonlyArray<string>
  readonly unnamed: number
}

/** The resources in the response body of a read, in neutral field names or those of the service. */
export const resourcesOf = (
  price: Exclude<Price, string | { readonly request: unknown }>,
  body: unknown,
  prices: Prices,
  ownership: Ownership = "other"
): ReadonlyArray<Resources> => {
  if ("event" in price) return eventsIn(member(body, "data"), prices)
  const { owned: mayBeOwned, read } = price
  const whose = mayBeOwned === true ? ownership : "other"
  const data = member(body, "data")
  const found = [
    identified(
      whose === "other" ? read : `${whose} ${read}`,
      whose === "owned" ? prices.ownedRead : prices.read[read],
      data === undefined || data === null ? [] : Array.isArray(data) ? data : [data]
    )
  ]
  if (prices.includes) {
    const includes = member(body, "includes")
    found.push(
      identified("post", prices.read.post, [...arrayAt(includes, "posts"), ...arrayAt(includes, "tweets")]),
      identified("user", prices.read.user, arrayAt(includes, "users"))
    )
  }
  const byKind = new Map<Resources["kind"], Resources>()
  for (const some of found) {
    const same = byKind.get(some.kind)
    byKind.set(
      some.kind,
      same === undefined
        ? some
        : { ...same, ids: [...new Set([...same.ids, ...some.ids])], unnamed: same.unnamed + some.unnamed }
    )
  }
  return [...byKind.values()].filter(({ ids, unnamed }) => ids.length + unnamed > 0)
}

const eventRows = /*#__PURE__*/ Object.values(eventPrices).filter((row) => row !== "free")

/** Related objects of an event are not charged. An unlisted type is charged like a post. */
const eventsIn = (data: unknown, prices: Prices): ReadonlyArray<Resources> => {
  const byRow = new Map<ReadRow, Array<unknown>>()
  for (const event of Array.isArray(data) ? data : [data]) {
    const type = String(member(event, "event_type"))
    const row = isEventType(type) ? eventPrices[type] : "post"
    if (row !== "free") byRow.set(row, [...byRow.get(row) ?? [], event])
  }
  return Array.from(byRow, ([row, events]) => identified(row, prices.read[row], events, "event_uuid"))
}

/** Merges the resources of several bodies into one. */
export const together = (bodies: ReadonlyArray<object>): object => {
  const included = (name: string) => bodies.flatMap((body) => arrayAt(member(body, "includes"), name))
  return {
    data: bodies.flatMap((body) => member(body, "data") ?? []),
    includes: { posts: included("posts"), users: included("users") }
  }
}

const identified = (
  kind: Resources["kind"],
  micros: number,
  items: ReadonlyArray<unknown>,
  name: "id" | "event_uuid" = "id"
): Resources => {
  const ids = new Set<string>()
  let unnamed = 0
  for (const item of items) {
    const id = member(item, name)
    if (typeof id === "string" && id !== "") ids.add(id)
    else unnamed++
  }
  return { kind, micros, ids: [...ids], unnamed }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const arrayAt = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const found = member(value, name)
  return Array.isArray(found) ? found : []
}
