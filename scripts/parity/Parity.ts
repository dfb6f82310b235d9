/** Sends recorded requests to the sandbox, and compares its answers with the recorded ones. */
import type { Name } from "../../packages/core/src/Catalogue.ts"
import { bearerOf, partsOf, routesOf } from "../../packages/core/src/schema/Definition.ts"
import { x202602 } from "../../packages/core/src/wire/Wire.ts"
import { type Endpoint, endpoints } from "../drift/Endpoint.ts"
import { type Exchange, membersOf } from "./Exchange.ts"
import * as Stage from "./Stage.ts"

/** How the answer to one request deviates. */
export interface Parity {
  readonly exchange: Exchange
  /** The operation; without one, nothing was sent. */
  readonly operation: string | undefined
  readonly deviations: ReadonlyArray<string>
}

/** The deviations of the answers; where things are in several states, of the answer that is nearest to the recorded one. */
export const measure = async (exchanges: ReadonlyArray<Exchange>): Promise<ReadonlyArray<Parity>> => {
  const stage = await Stage.make()
  const snapshot = stage.sandbox.snapshot()
  const measured: Array<Parity> = []
  for (const exchange of exchanges) {
    const endpoint = endpointOf(exchange)
    if (endpoint === undefined) {
      measured.push({ exchange, operation: undefined, deviations: [] })
      continue
    }
    const found: Array<ReadonlyArray<string>> = []
    let choices = 1
    for (let choice = 0; choice < choices && found[0]?.length !== 0; choice++) {
      stage.sandbox.restore(snapshot)
      const answer = await send(exchange, endpoint, stage, choice)
      choices = answer.choices
      found.push(deviationsOf(exchange, answer))
      found.sort((a, b) => distanceOf(a, exchange) - distanceOf(b, exchange))
    }
    measured.push({ exchange, operation: endpoint.definition.name, deviations: found[0] ?? [] })
  }
  await stage.stop()
  return measured
}

/** The members that deviations are about, those inside of a missing one as well. */
const distanceOf = (deviations: ReadonlyArray<string>, { members }: Exchange): number =>
  deviations.reduce((sum, deviation) => {
    const place = deviation.replace(/: missing$/, "")
    return sum + (place === deviation ? 1 : Object.keys(members).filter((other) => other.startsWith(place)).length)
  }, deviations.some((deviation) => deviation.startsWith("status")) ? 1_000 : 0)

const all = endpoints(x202602)

const endpointOf = ({ body, method, path, query }: Exchange): Endpoint | undefined => {
  const found = all.filter((endpoint) =>
    endpoint.method === method && endpoint.path.replaceAll(/:\w+/g, "{}") === path.replaceAll(/\{\w+\}/g, "{}")
  )
  const sent = JSON.stringify([body, query])
  return found.find(({ selectedBy }) => sent.includes(`"${selectedBy}"`)) ?? found[0]
}

/** An answer of the sandbox; a body of JSON is parsed. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

const send = async (
  { body, method, path, query, status }: Exchange,
  { definition, selectedBy }: Endpoint,
  { sandbox, things, unseen }: Stage.Stage,
  choice: number
): Promise<Answer & { readonly choices: number }> => {
  if (status === 429) sandbox.budget.leave(definition.name as Name, 0)
  const used = new Map<Stage.Kind, number>()
  const thing = (name: string, state = ""): string => {
    const kind = kindOf(name, path, method)
    if (state !== "") return unseen[state]?.[kind] ?? "1"
    const next = used.get(kind) ?? choice
    used.set(kind, next + 1)
    return things[kind][next % things[kind].length] ?? "1"
  }
  const filled = (name: string, text: string): string =>
    text.replaceAll(/\{(\w*)\}/g, (_, state: string) => thing(name, state))
  const names = [...partsOf(new Map(routesOf(definition)).get(selectedBy) ?? "")[1].matchAll(/:(\w+)/g)]
  const target = path.replaceAll(/\{(\w*)\}/g, (_, state: string) => {
    const name = names.shift()?.[1] ?? ""
    return name === definition.identity ? sandbox.ada.id : thing(name, state)
  })
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, name === "query" ? Stage.needle : filled(name, value)])
  )
  const token = bearerOf(definition) === "app" ? sandbox.settings.appBearerToken : sandbox.settings.bearerToken
  const response = await fetch(`${sandbox.baseUrl}${target}${search.size === 0 ? "" : `?${search}`}`, {
    method,
    headers: status === 401 ? {} : { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(withThings(body, thing)) })
  })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") === true
  return {
    status: response.status,
    body: isJson ? JSON.parse(text) : text,
    choices: Math.max(...[...used.keys()].map((kind) => things[kind].length))
  }
}

let texts = 0

/** A body with things of the sandbox; the items of a list have its name. */
const withThings = (value: unknown, thing: (name: string) => string, name = ""): unknown =>
  value === "{}" || name === "url"
    ? thing(name)
    : value === "text"
    ? `text ${++texts}${name === "text" ? " https://example.com" : ""}`
    : Array.isArray(value)
    ? value.map((item) => withThings(item, thing, name))
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withThings(member, thing, key)]))
    : value

const kinds: ReadonlyArray<readonly [pattern: RegExp, kind: Stage.Kind]> = [
  [/ url$/, "address"],
  [/\/rules ids$/, "rule"],
  [/ usernames?$/, "username"],
  [/ (\w*user_ids?|participant_ids?)$/, "user"],
  [/ media_\w+$/, "media"],
  [/ list_id$/, "list"],
  [/ webhook_id$/, "webhook"],
  [/ subscription_id$/, "subscription"],
  [/ folder_id$/, "folder"],
  [/ article_id$/, "article"],
  [/ (event|dm)_id$/, "message"],
  [/ dm_conversation_id$/, "conversation"],
  [/ woeid$/, "woeid"],
  [/ \w+_(post|tweet)_id$/, "post"],
  [/^(DELETE|PUT) \/2\/tweets.* id$/, "owned post"],
  [/^\w+ \/2\/users.* ids?$/, "user"],
  [/^\w+ \/2\/lists.* id$/, "list"],
  [/^\w+ \/2\/spaces.* ids?$/, "space"],
  [/^\w+ \/2\/news.* id$/, "story"],
  [/^\w+ \/2\/communities.* id$/, "community"],
  [/^\w+ \/2\/compliance.* id$/, "job"]
]

const kindOf = (name: string, path: string, method: string): Stage.Kind =>
  kinds.find(([pattern]) => pattern.test(`${method} ${path} ${name}`))?.[1] ?? "post"

/** How an answer deviates from the recorded one. */
export const deviationsOf = ({ members, query, status }: Exchange, answer: Answer): ReadonlyArray<string> => {
  const isStatus = status === undefined ? answer.status < 300 : answer.status === status
  if (!isStatus) return [`status ${answer.status}, recorded ${status ?? "a success"}`]
  const found = membersOf(answer.body)
  const isInside = (place: string, all: Exchange["members"]): boolean =>
    !place.includes(".") && !place.endsWith("[]") || parentOf(place) in all
  return [
    ...Object.keys(members).filter((place) => !(place in found) && isInside(place, found) && !isToken(place))
      .map((place) => `${place}: missing`),
    ...Object.keys(found).filter((place) =>
      !(place in members) && isInside(place, members) && !isToken(place) && !isRequested(place, query)
    ).map((place) => `${place}: not recorded`),
    ...Object.entries(found).filter(([place, type]) => !(members[place] ?? type).split(" | ").includes(type))
      .map(([place, type]) => `${place}: ${type}, recorded ${members[place]}`)
  ]
}

const parentOf = (place: string): string => place.replace(/(\[\]|\.[^.[]+)$/, "")

/** Checks whether a member depends on how much there is: tokens of further pages. */
const isToken = (place: string): boolean => /^meta\.(next|previous)_token$/.test(place)

/** Checks whether a member is there because it was requested, if the resource has it. */
const isRequested = (place: string, query: Exchange["query"]): boolean => {
  const names = Object.entries(query).flatMap(([name, value]) =>
    /fields$|expansions/.test(name) ? value.split(/[,.]/) : []
  )
  return place.split(/\[\]|\./).some((part) => names.includes(part)) ||
    (place.startsWith("includes.") && query["expansions"] !== undefined)
}

/** The figures of a source, or of all. */
export interface Counts {
  readonly exchanges: number
  readonly operations: number
  readonly equal: number
  /** Answers with the recorded status and members, and with others. */
  readonly more: number
  readonly deviating: number
  /** Exchanges of operations that the catalogue does not have. */
  readonly unknown: number
}

/** Counts exchanges by their source. */
export const counts = (measured: ReadonlyArray<Parity>): Readonly<Record<string, Counts>> =>
  Object.fromEntries(
    [...Map.groupBy(measured, ({ exchange }) => exchange.from.replace(/:.*/, "")), ["All", measured] as const].map((
      [source, group]
    ) => {
      const known = group.filter(({ operation }) => operation !== undefined)
      const deviating = known.filter(({ deviations }) => deviations.length > 0)
      const more = deviating.filter(({ deviations }) => deviations.every((text) => text.endsWith(": not recorded")))
      return [source, {
        exchanges: group.length,
        operations: new Set(known.map(({ operation }) => operation)).size,
        equal: known.length - deviating.length,
        more: more.length,
        deviating: deviating.length - more.length,
        unknown: group.length - known.length
      }]
    })
  )
