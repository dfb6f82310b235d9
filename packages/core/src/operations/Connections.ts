/** The app's connections to streams: lists and ends them. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { Connection, endpoints } from "../schema/models/Connection.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { app } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/** The outcome of ending connections. */
const ended = /*#__PURE__*/ Schema.Struct({
  /** The number of ended connections. */
  successful_kills: Schema.Int,
  /** The number of connections that could not be ended. */
  failed_kills: Schema.Int,
  results: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({
      uuid: Schema.String,
      success: Schema.Boolean,
      error_message: /*#__PURE__*/ Schema.optionalKey(Schema.String)
    }))
  )
})

/**
 * Lists the connections of the app to streams: which stream, since when and from where; of those that have ended, when and why.
 * Credential: the app's bearer token. `status` is `active` unless it is given; `max_results` is 1 to 100 (default 10).
 *
 * ```ts
 * const connections = getConnections.items({ endpoints: ["filtered_stream"] })
 * ```
 */
export const getConnections = /*#__PURE__*/ Operation.makePaged({
  name: "getConnections",
  summary: "Lists the connections of the app to streams.",
  route: "GET /2/connections",
  query: {
    status: /*#__PURE__*/ Parameters.choice(["active", "inactive", "all"], { default: "active" }),
    endpoints: /*#__PURE__*/ Parameters.list(endpoints),
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 10 }),
    pagination_token: Parameters.token,
    ...Selectors.connection
  },
  result: /*#__PURE__*/ Response.many(Connection),
  limits: {},
  paging: { token: "pagination_token", directions: "forward" },
  bearer: "app",
  scopes: [],
  price: "free",
  effect: "read"
})

/**
 * Ends 1 to 100 connections of the app to streams. Credential: the app's bearer token.
 *
 * ```ts
 * const ended = yield* deleteConnections({ uuids: ["4f1f2c0e-6a3c-4f5e-9d3b-0a4d1f0c7a11"] })
 * ```
 */
export const deleteConnections = /*#__PURE__*/ app({
  name: "deleteConnections",
  summary: "Ends connections of the app to streams.",
  route: "DELETE /2/connections",
  body: { uuids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.textArray({ minimum: 1, maximum: 100 })) },
  result: /*#__PURE__*/ Response.value(ended),
  limits: {},
  effect: "toggle"
})

/**
 * Ends every connection of the app to streams. Credential: the app's bearer token.
 *
 * ```ts
 * const ended = yield* deleteAllConnections()
 * ```
 */
export const deleteAllConnections = /*#__PURE__*/ app({
  name: "deleteAllConnections",
  summary: "Ends every connection of the app to streams.",
  route: "DELETE /2/connections/all",
  result: /*#__PURE__*/ Response.value(ended),
  limits: { perWindow: 25 },
  effect: "toggle"
})

/**
 * Ends every connection of the app to one stream. Credential: the app's bearer token.
 *
 * ```ts
 * const ended = yield* deleteEndpointConnections({ endpoint_id: "filtered_stream" })
 * ```
 */
export const deleteEndpointConnections = /*#__PURE__*/ app({
  name: "deleteEndpointConnections",
  summary: "Ends every connection of the app to one stream.",
  route: "DELETE /2/connections/:endpoint_id",
  path: { endpoint_id: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.choice(endpoints)) },
  result: /*#__PURE__*/ Response.value(ended),
  limits: {},
  effect: "toggle"
})
