/** Requests to the authorization server, and responses for programs. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import { isSame } from "../auth/Authentication.ts"
import type * as Nonces from "../auth/Nonces.ts"
import type { App } from "../store/Credentials.ts"
import type { Store } from "../store/Store.ts"

export interface Parts {
  readonly store: Store["Service"]
  readonly nonces: Nonces.Nonces
  /** The number of times that the state was replaced. */
  readonly epoch: () => number
}

/** A request to the authorization server. */
export interface AuthRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  /** The form in the body; empty if there is none. */
  readonly form: URLSearchParams
  /** The service's time in milliseconds. */
  readonly now: number
}

export type Answer = (request: AuthRequest) => HttpServerResponse.HttpServerResponse

/** Prevents caching of tokens. */
export const headers = { "cache-control": "no-store", pragma: "no-cache" }

export const json = (body: object, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, {
    status,
    headers: status === 401 ? { ...headers, "www-authenticate": "Basic realm=\"sandbox\"" } : headers
  })

/** An OAuth 2.0 error response. */
export const refusal = (error: string, description: string, status = 400): HttpServerResponse.HttpServerResponse =>
  json({ error, error_description: description }, status)

/** An error response of the older endpoints. */
export const refusalWithCode = (
  status: number,
  error: { readonly code: number; readonly message: string; readonly label?: string }
): HttpServerResponse.HttpServerResponse => json({ errors: [error] }, status)

/** The percent-decoded name and password of a `Basic` header. */
export const basicOf = (
  { headers }: HttpServerRequest.HttpServerRequest
): { readonly name: string; readonly password: string } | undefined => {
  const value = /^basic +([\w+/=-]+)$/i.exec(headers["authorization"] ?? "")?.[1]
  const text = value === undefined ? "" : Buffer.from(value, "base64").toString()
  const colon = text.indexOf(":")
  if (colon < 0) return undefined
  try {
    const [name, password] = [text.slice(0, colon), text.slice(colon + 1)].map(decodeURIComponent)
    return name === undefined || password === undefined ? undefined : { name, password }
  } catch {
    return undefined
  }
}

/** True if a password is the secret. An app without a secret has no valid password. */
export const isSecretOf = (secret: App["client"]["secret"], password: string): boolean =>
  secret !== undefined && isSame(Redacted.value(secret), password)
