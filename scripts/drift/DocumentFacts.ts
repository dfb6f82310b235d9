/** The facts of an OpenAPI document. */
import { type JsonSchema, nameOf, type View } from "./JsonSchema.ts"
import type { DocumentOperation, OpenApiDocument } from "./OpenApiDocument.ts"
import { type Credential, type Fact, fact, type Facts, keyOf, type ServiceFacts } from "./ServiceFacts.ts"

/** The names of resource schemas in documents. */
export const resources: ReadonlyMap<string, string> = new Map([
  ["Community", "community"],
  ["CommunityNote", "note"],
  ["ComplianceJob", "compliance_job"],
  ["Connection", "connection"],
  ["DirectMessageEvent", "dm_event"],
  ["DmEvent", "dm_event"],
  ["Analytics", "analytics"],
  ["Broadcast", "broadcast"],
  ["BroadcastChatMessage", "broadcast_chat_message"],
  ["ChatConversation", "chat_conversation"],
  ["ChatMessageEvent", "chat_message_event"],
  ["MediaAnalytics", "media_analytics"],
  ["News", "news"],
  ["Note", "note"],
  ["PublicKey", "public_key"],
  ["Like", "like_with_post_author"],
  ["LikeWithPostAuthor", "like_with_post_author"],
  ["LikeWithTweetAuthor", "like_with_post_author"],
  ["List", "list"],
  ["Media", "media"],
  ["PersonalizedTrend", "personalized_trend"],
  ["Place", "place"],
  ["Poll", "poll"],
  ["Post", "post"],
  ["PostAnalytics", "analytics"],
  ["Problem", "problem"],
  ["Space", "space"],
  ["Topic", "topic"],
  ["Trend", "trend"],
  ["Tweet", "post"],
  ["Usage", "usage"],
  ["User", "user"]
])

/** The facts of the routes that `isWanted` selects. */
export const documentFacts = (
  document: OpenApiDocument,
  isWanted: (key: string) => boolean = () => true
): ServiceFacts => {
  const found = new Map<string, Facts>()

  const kindOf = ({ $ref }: JsonSchema): string | undefined => $ref && resources.get(nameOf($ref))

  /** The members of a resource, recorded at its first occurrence. */
  const resource = (kind: string, schema: JsonSchema): string => {
    if (!found.has(kind)) {
      found.set(kind, {})
      found.set(kind, members(document.view(schema), ""))
    }
    return kind
  }

  /** The type of a value or of an array. */
  const typeOf = (schema: JsonSchema, view: View): string => {
    const kind = kindOf(schema)
    if (kind !== undefined) return resource(kind, schema)
    if (view.items !== undefined) return `array of ${typeOf(view.items, document.view(view.items))}`
    const [type = "any", ...others] = view.types
    return others.length > 0 ? "any" : type
  }

  const valueOf = (schema: JsonSchema, required: boolean, style?: string): Fact => {
    const view = document.view(schema)
    const item = view.items && document.view(view.items)
    return fact({
      type: typeOf(schema, view),
      required,
      values: item === undefined ? view.values : item.values,
      bounds: { ...item?.bounds, ...view.bounds },
      style
    })
  }

  const members = (view: View, place: string, depth = 0): Facts => {
    const facts: Record<string, Fact> = {}
    for (const [name, schema] of view.properties) {
      const at = `${place}${name}`
      facts[at] = valueOf(schema, view.required.has(name))
      // Schemas may be recursive.
      if (kindOf(schema) !== undefined || depth > 8) continue
      const inside = document.view(schema)
      const item = inside.items
      if (item === undefined) Object.assign(facts, members(inside, `${at}.`, depth + 1))
      else if (kindOf(item) === undefined) Object.assign(facts, members(document.view(item), `${at}[].`, depth + 1))
    }
    return facts
  }

  const parameter = (given: DocumentOperation["parameters"][number]): Fact =>
    valueOf(given.schema, given.required, styleOf(given, document.view(given.schema).items !== undefined))

  const routes = document.operations.map((operation) => [keyOf(operation), operation] as const)
    .filter(([key]) => isWanted(key))
    .map(([key, operation]) => {
      const { body, bodyTypes, id, parameters, path, security, servers, success, successStatuses, successTypes } =
        operation
      const inside = (...places: ReadonlyArray<string>) => parameters.filter((given) => places.includes(given.in))
      const named = (...places: ReadonlyArray<string>): Facts =>
        Object.fromEntries(inside(...places).map((given) => [given.name, parameter(given)] as const))
      const inPath = new Map(inside("path").map((given) => [given.name, given]))
      return {
        key,
        name: id,
        path: [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => {
          const given = inPath.get(name)
          return given === undefined ? valueOf({}, true) : parameter({ ...given, required: true })
        }),
        query: named("query"),
        headers: named("header", "cookie"),
        body: body === undefined ? {} : members(document.view(body), ""),
        bodyTypes,
        result: success === undefined ? {} : members(document.view(success), ""),
        resultTypes: successTypes,
        promised: [],
        statuses: successStatuses,
        servers: servers.length === 0 ? undefined : servers,
        credentials: security.length === 0
          ? undefined
          : [...new Set(security.flatMap(({ scheme }) => credentialOf(scheme, document.schemeKind(scheme))))].sort(),
        scopes: security.find(({ scopes }) => scopes.length > 0)?.scopes.toSorted()
      }
    })
  return {
    version: document.version,
    routes,
    resources: Object.fromEntries([...found].sort(([a], [b]) => a < b ? -1 : 1))
  }
}

const credentialOf = (scheme: string, kind: string | undefined): ReadonlyArray<Credential> => {
  if (kind?.startsWith("oauth2")) return ["user"]
  if (kind === "http oauth") return ["oauth1"]
  return kind === "http bearer" ? [scheme === "UserToken" ? "user" : "app"] : []
}

/** The style of a parameter, if it is not the usual one. */
const styleOf = (
  { explode, in: place, style = place === "path" || place === "header" ? "simple" : "form" }:
    DocumentOperation["parameters"][number],
  isList: boolean
): string | undefined => {
  const isExploded = explode ?? style === "form"
  if (place === "query" && isList) {
    return style === "form" && !isExploded ? "commas" : `${style}${isExploded ? ", exploded" : ""}`
  }
  return style === "form" || style === "simple" ? undefined : style
}
