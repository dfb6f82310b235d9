/** The document that describes the service. */
import * as Operation from "../client/Operation.ts"
import * as Response from "../schema/Response.ts"

/**
 * Fetches the OpenAPI document of the service, about a megabyte of JSON. No credential is sent.
 *
 * ```ts
 * const { data } = yield* getOpenApiDocument()
 * ```
 */
export const getOpenApiDocument = /*#__PURE__*/ Operation.make({
  name: "getOpenApiDocument",
  summary: "Fetches the OpenAPI document of the service.",
  route: "GET /2/openapi.json",
  result: Response.document,
  bearer: "none",
  scopes: [],
  limits: {},
  price: "free",
  effect: "read"
})
