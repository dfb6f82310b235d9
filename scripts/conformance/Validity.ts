/** Holds random bodies against the document itself with an independent validator: the generator could be wrong, too. */
import * as OpenApi30 from "@hyperjump/json-schema/openapi-3-0"
import * as OpenApi31 from "@hyperjump/json-schema/openapi-3-1"
import * as Predicate from "effect/Predicate"
import type { DocumentOperation } from "../drift/OpenApiDocument.ts"

/** Why a body is not what an operation of the document answers; empty where it is. */
export type Validator = (operation: DocumentOperation, body: unknown) => Promise<ReadonlyArray<string>>

/** The validator of a document, given as text. */
export const make = (text: string, name: string): Validator => {
  // Members beside a reference mean nothing in OpenAPI 3.0, and its meta-schema refuses them.
  const json = JSON.parse(
    text,
    (_, value: unknown) =>
      Predicate.hasProperty(value, "$ref") && typeof value.$ref === "string" ? { $ref: value.$ref } : value
  )
  const is31 = String(json.openapi).startsWith("3.1")
  const { registerSchema, validate } = is31 ? OpenApi31 : OpenApi30
  const uri = `https://document.example/${name}`
  registerSchema(json, uri, `https://spec.openapis.org/oas/${is31 ? "3.1/dialect/base" : "3.0/schema"}`)
  return async ({ method, path }, body) => {
    const responses = json.paths[path][method.toLowerCase()].responses
    const status = Object.keys(responses).find((status) => status.startsWith("2")) ?? "default"
    const at = ["paths", path, method.toLowerCase(), "responses", status, "content", "application/json", "schema"]
    const pointer = at.map((step) => `/${encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join(
      ""
    )
    const output = await validate(`${uri}#${pointer}`, body as never, "BASIC")
    return output.valid
      ? []
      : (output.errors ?? []).map(({ instanceLocation, keyword }) => `${instanceLocation} ${keyword}`)
  }
}
