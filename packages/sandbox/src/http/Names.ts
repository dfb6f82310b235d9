/** The names of requests in the journal and in faults. */
import { catalogue, type Name } from "@postwire/core/Catalogue"

/** The endpoints of the authorization server. */
export const endpoints = [
  "authorize",
  "exchangeCode",
  "refreshToken",
  "revokeToken",
  "getAppToken",
  "invalidateAppToken",
  "requestToken",
  "authorizeOAuth1",
  "authenticateOAuth1",
  "accessToken",
  "invalidateAccessToken"
] as const

/** An endpoint of the authorization server. */
export type Endpoint = (typeof endpoints)[number]

/** An operation, or an endpoint of the authorization server. */
export type RequestName = Name | Endpoint

/** The name of a delivery to a webhook in faults. */
export const delivery = "deliverEvent"

export const requestNames: ReadonlyArray<RequestName> = [...Object.keys(catalogue) as Array<Name>, ...endpoints]
