/** How well the client reads what a document allows: random valid bodies, refused or with members that cannot be reached. */
import * as SchemaAST from "effect/SchemaAST"
import * as ResponseDecoder from "../../packages/core/src/wire/ResponseDecoder.ts"
import * as TextNumbers from "../../packages/core/src/wire/TextNumbers.ts"
import type { Wire } from "../../packages/core/src/wire/Wire.ts"
import * as Random from "../../packages/sandbox/src/text/random.ts"
import { type Endpoint, endpoints } from "../drift/Endpoint.ts"
import type { DocumentOperation, OpenApiDocument } from "../drift/OpenApiDocument.ts"
import { keyOf } from "../drift/ServiceFacts.ts"
import { valueOf } from "./Bodies.ts"

/** What was found of one route. */
export interface Reading {
  readonly operation: string
  readonly route: string
  readonly bodies: number
  /** Bodies that the client took for undecodable. */
  readonly refused: number
  /** Members of bodies that were read which the result has under neither name. */
  readonly lost: number
  /** Bodies of which the client reports that a part is not as expected. */
  readonly anomalous: number
  /** Why, most frequent first, each with the number of the first body that shows it. */
  readonly reasons: ReadonlyArray<Reason>
}

interface Reason {
  readonly reason: string
  readonly times: number
  readonly body: number
}

/** A route that the catalogue and a document share. */
export type Shared = readonly [endpoint: Endpoint, operation: DocumentOperation]

/** The routes, of the catalogue if no others are given, that a document has, with its operations. */
export const shared = (document: OpenApiDocument, wire: Wire, routes = endpoints(wire)): ReadonlyArray<Shared> => {
  const operations = new Map(document.operations.map((operation) => [keyOf(operation), operation]))
  return routes.flatMap((endpoint) => {
    const operation = operations.get(keyOf(endpoint))
    // A document says no more of a file, or of itself, than that it is one.
    return operation === undefined || ["Bytes", "Document"].includes(endpoint.definition.result._tag)
      ? []
      : [[endpoint, operation] as const]
  })
}

/** The `index`th valid body of an operation: the same for the same seed. What the declaration requires is in it. */
export const bodyOf = (
  document: OpenApiDocument,
  [{ definition }, { id, success = {} }]: Shared,
  seed: number,
  index: number,
  nulls = 0
): unknown => {
  const presence = presences[index % presences.length] ?? 0
  const required = requiredBy(definition)
  const make = (more: string) =>
    valueOf(document, success, Random.make(seed, `${id} ${index}`), {
      presence,
      nulls,
      always: (place) => place === more || isIdentity(place) || required.has(neutral(place))
    })
  const body = make("")
  // With neither data nor errors it is no answer.
  return isAnswer(body) ? body : make("data")
}

const requirements = new Map<string, ReadonlySet<string>>()

/** The members of an answer that its declaration requires. */
const requiredBy = ({ name, result }: Endpoint["definition"]): ReadonlySet<string> => {
  const known = requirements.get(name) ?? requiredIn(ResponseDecoder.dataOf(result).ast, "data")
  requirements.set(name, known)
  return known
}

const requiredIn = (ast: SchemaAST.AST, place: string): ReadonlySet<string> => {
  switch (ast._tag) {
    case "Arrays":
      return ast.rest[0] === undefined ? new Set() : requiredIn(ast.rest[0], `${place}[]`)
    case "Union":
      // Only members that all forms require.
      return ast.types.map((type) => requiredIn(type, place)).reduce((all, some) =>
        new Set([...all].filter((at) => some.has(at)))
      )
    case "Objects":
      return new Set(ast.propertySignatures.flatMap(({ name, type }) => {
        const at = `${place}.${String(name)}`
        return [...SchemaAST.isOptional(type) ? [] : [at], ...requiredIn(type, at)]
      }))
    default:
      return new Set()
  }
}

/** From nothing but what must be there to everything. */
const presences = [0, 0.25, 0.5, 0.75, 1]

/** What a resource is known by. A document may call it optional; a resource without it is none. */
const isIdentity = (place: string): boolean => /^(data(\[\])?|includes\.\w+\[\])\.(id|media_key)$/.test(place)

const isAnswer = (body: unknown): boolean =>
  isObject(body) &&
  ((body["data"] ?? undefined) !== undefined || (Array.isArray(body["errors"]) && body["errors"].length > 0))

/** Reads bodies of a route. */
export const measure = (
  [{ definition, path }, { method }]: Shared,
  wire: Wire,
  bodies: ReadonlyArray<unknown>
): Reading => {
  const reasons = new Map<string, { times: number; body: number }>()
  const note = (reason: string, body: number): void => {
    const known = reasons.get(reason)
    if (known === undefined) reasons.set(reason, { times: 1, body })
    else known.times++
  }
  let refused = 0
  let lost = 0
  let anomalous = 0
  // A document says of numbers that are sent as text only that they are text.
  const toDigits = TextNumbers.conversion(
    ResponseDecoder.dataOf(definition.result),
    (value) => typeof value === "string" ? String(value.length) : value
  )
  const toNumbers = TextNumbers.reader(ResponseDecoder.dataOf(definition.result))
  for (const [i, given] of bodies.entries()) {
    const body = structuredClone(given)
    if (isObject(body)) toDigits?.(body["data"])
    const text = JSON.stringify(body)
    const response = ResponseDecoder.decode(definition, wire, text, {})
    if (response instanceof ResponseDecoder.Undecodable) {
      refused++
      note(`refused: ${withoutIndexes(response.reason)}`, i)
      continue
    }
    const sent: unknown = JSON.parse(text)
    if (isObject(sent)) toNumbers?.(sent["data"])
    const missing = missingOf(sent, response.body)
    lost += missing.length
    for (const place of new Set(missing)) note(`lost: ${place}`, i)
    const anomalies = anomaliesOf(response)
    if (anomalies.length > 0) anomalous++
    for (const place of new Set(anomalies)) note(`anomaly: ${place}`, i)
  }
  return {
    operation: definition.name,
    route: `${method} ${path}`,
    bodies: bodies.length,
    refused,
    lost,
    anomalous,
    reasons: [...reasons].map(([reason, seen]) => ({ reason, ...seen })).sort((a, b) => b.times - a.times)
  }
}

const withoutIndexes = (reason: string): string => reason.replace(/\[\d+\]/g, "[]").replace(/\s+/g, " ")

const anomaliesOf = (response: object): ReadonlyArray<string> => {
  const anomalies: unknown = "anomalies" in response ? response.anomalies : []
  return Array.isArray(anomalies)
    ? anomalies.map((anomaly: unknown) =>
      withoutIndexes(isObject(anomaly) ? `${String(anomaly["path"])}: ${String(anomaly["expected"])}` : String(anomaly))
    )
    : []
}

/** The places of a body whose value the result has under neither its own nor its neutral name. Null is absence. */
export const missingOf = (sent: unknown, got: unknown, place = ""): ReadonlyArray<string> => {
  if (sent === null) return []
  if (Array.isArray(sent)) {
    if (!Array.isArray(got) || got.length !== sent.length) return [place]
    return sent.flatMap((item, i) => missingOf(item, got[i], `${place}[]`))
  }
  if (isObject(sent)) {
    if (!isObject(got)) return [place]
    return Object.entries(sent).flatMap(([name, value]) => {
      const at = place === "" ? name : `${place}.${name}`
      // Some members are brought to where the newest words have them.
      const entities = place === "data[]" && isObject(got["entities"]) ? [got["entities"]] : []
      const places = [got, ...entities].flatMap((within) =>
        [name, neutral(name)].filter((candidate) => Object.hasOwn(within, candidate))
          .map((candidate) => missingOf(value, within[candidate], at))
      )
      return places.find((missing) => missing.length === 0) ?? places[0] ?? (value === null ? [] : [at])
    })
  }
  return sent === got || (typeof sent === "string" && neutral(sent) === got) ? [] : [place]
}

/** The neutral spelling of a name or of a known value, wherever it stands. */
const neutral = (name: string): string =>
  name === "tweet_author_id"
    ? "liked_post_author_id"
    : name.replaceAll("retweet", "repost").replaceAll("tweet", "post").replace("twitter_", "")

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
