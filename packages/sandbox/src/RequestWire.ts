/** Which of the two wires a request is on: its path tells, or else the names in its query and its body. */
import * as Body from "@postwire/core/Body"
import type { Definition } from "@postwire/core/Definition"
import { queryKey } from "@postwire/core/Parameters"
import * as WireNames from "@postwire/core/WireNames"
import type { Route } from "./Router.ts"

/** The wire that path and query tell; none when both wires spell them alike. */
export const ofHead = (route: Route, url: URL): WireNames.Wire | undefined => {
  const named = ofQuery(route.definition, url.searchParams)
  // The live service takes `post.fields` at its own paths too; its words are then those of the request.
  return route.wire === "x" && named === "neutral" ? named : route.wire ?? named
}

const ofQuery = (definition: Definition, query: URLSearchParams): WireNames.Wire | undefined => {
  for (const name of Object.keys(definition.query ?? {})) {
    const key = queryKey(name)
    if (WireNames.queryKey(key) === key) continue
    if (query.has(WireNames.queryKey(key))) return "x"
    if (query.has(key)) return "neutral"
  }
  return undefined
}

/** The wire that the names of a body tell. */
export const ofBody = (definition: Definition, body: object): WireNames.Wire | undefined => {
  for (const name of Object.keys(definition.body ?? {})) {
    const position = definition.at?.[name] ?? name
    if (WireNames.bodyKey(position) === position) continue
    if (Body.lookup(body, {}, WireNames.bodyKey(position)) !== undefined) return "x"
    if (Body.lookup(body, {}, position) !== undefined) return "neutral"
  }
  return undefined
}
