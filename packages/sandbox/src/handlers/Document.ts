import { catalogue } from "@postwire/core/Catalogue"
import { type Definition, partsOf, routesOf, successStatus } from "@postwire/core/schema/Definition"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import type { Handler } from "./Handler.ts"

/** Describes the operations of the sandbox in the names of the request's wire: paths, methods and summaries. */
export const getOpenApiDocument: Handler<"getOpenApiDocument"> = ({ wire }) => {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, { definition }] of Object.entries<{ readonly definition: Definition }>(catalogue)) {
    if (definition.name !== name) continue
    for (const [, route] of routesOf(definition)) {
      const [method, path] = partsOf(route)
      const template = Wire.named[wire].path(path).replace(/:(\w+)/g, "{$1}")
      const responses = { [successStatus(definition)]: { description: "Success" } }
      ;(paths[template] ??= {})[method.toLowerCase()] ??= {
        operationId: name,
        summary: definition.summary,
        responses
      }
    }
  }
  return Effect.succeed({
    document: { openapi: "3.0.0", info: { title: "The operations of the sandbox", version: "2.167" }, paths }
  })
}
