// The operations of the sandbox and credentials to call them.
import { call } from "./AdminCalls.mjs"

/**
 * @import { Operation } from "../admin/Description.ts"
 * @typedef {{ readonly user: { readonly id: string; readonly username: string }; readonly bearerToken: string; readonly appBearerToken: string }} Credentials
 */

/** @type {ReadonlyArray<Operation>} */
export let operations = []
/** The endpoints of the authorization server, by name. @type {ReadonlyArray<string>} */
let endpoints = []
/** The accepted wires. @type {ReadonlyArray<string>} */
export let wires = []
/** @type {Credentials | undefined} */
export let credentials

export const load = async () => {
  const [described, found] = await Promise.all([call("GET", "/operations"), call("GET", "/credentials")])
  operations = described.operations
  endpoints = described.authorization
  wires = described.wires
  credentials = found
}

/** The names of all operations and endpoints. @returns {ReadonlyArray<string>} */
export const names = () => [...operations.map(({ name }) => name), ...endpoints]

/** True if the operation takes the token of an app without a user. @param {Operation} operation */
export const takesApps = ({ credentials }) => credentials.includes("OAuth 2.0 Application-Only")

/** True if the operation takes the token of a user. @param {Operation} operation */
export const takesUsers = (operation) => operation.credentials.length > Number(takesApps(operation))

/** The token of the user, or of the app only. @param {string} holder */
export const tokenOf = (holder) => (holder === "app" ? credentials?.appBearerToken : credentials?.bearerToken) ?? ""

/** A replaced state has other credentials. */
export const loadCredentials = async () => {
  credentials = await call("GET", "/credentials")
}
