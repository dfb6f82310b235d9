/** Parameters and settings that operations share. */
import * as Operation from "../../client/Operation.ts"
import type { Definition } from "../../schema/Definition.ts"
import * as Parameters from "../../schema/Parameters.ts"

/** The path of an operation on the resource `:id`. */
export const path = { id: /*#__PURE__*/ Parameters.required(Parameters.id) }

/** The page of a listing: up to 100 items. */
export const hundred = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 100 }),
  pagination_token: Parameters.token
}

/** The page of a listing of users: up to 1,000. */
export const thousand = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 1000, default: 100 }),
  pagination_token: Parameters.token
}

/** The bounds of a listing in time. */
export const span = {
  start_time: Parameters.timestamp,
  end_time: Parameters.timestamp,
  since_id: Parameters.id,
  until_id: Parameters.id
}

/** A listing whose pages go in both directions. */
export const pages = { paging: { token: "pagination_token", directions: "both" }, effect: "read" } as const

/** A declaration without the members that its family has. */
export type Own<Shared extends keyof Definition> = Omit<Definition, Shared | "paging" | "live">

// Functions, as bundlers do not drop a declaration that has the members of another object.

/** Declares a change that can be undone, for the authenticated user. */
export const toggle = <const D extends Own<"userAuth" | "limits" | "effect">>(own: D) =>
  Operation.make({ ...own, userAuth: true, limits: { perWindow: 50 }, effect: "toggle" })

/** Declares a free operation of the app. */
export const app = <const D extends Own<"bearer" | "scopes" | "price">>(own: D) =>
  Operation.make({ ...own, bearer: "app", scopes: [], price: "free" })
