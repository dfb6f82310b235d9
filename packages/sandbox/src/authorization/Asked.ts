/** Requests to the authorization server, and what its endpoints answer programs with. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import { isSame } from "../auth/Authentication.ts"
import type * as Nonces from "../auth/Nonces.ts"
import type { App } from "../store/Credentials.ts"
import type { Store } from "../store/Store.ts"

/** What the authorization server reads and changes. */
export interface Parts {
  readonly store: Store["Service"]
  readonly nonces: Nonces.Nonces
  /** How often the state was replaced. */
  readonly epoch: () => number
}

/** A request to the authorization server. */
export interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly url: URL
  /** What a form in the body holds; nothing without one. */
  readonly form: URLSearchParams
  /** The service's time in milliseconds. */
  readonly now: number
}

/** Answers a request. */
export type Answer = (asked: Asked) => HttpServerResponse.HttpServerResponse

/** Nothing that is between a program and the service keeps tokens. */
export const headers = { "cache-control": "no-store", pragma: "no-cache" }

/** An answer for a program. */
export const json = (body: object, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, {
    status,
    headers: status === 401 ? { ...headers, "www-authenticate": "Basic realm=\"sandbox\"" } : headers
  })

/** A refusal as OAuth 2.0 has them. */
export const refusal = (error: string, description: string, status = 400): HttpServerResponse.HttpServerResponse =>
  json({ error, error_description: description }, status)

/** A refusal as the older endpoints have them. */
export const refusalWithCode = (
  status: number,
  error: { readonly code: number; readonly message: string; readonly label?: string }
): HttpServerResponse.HttpServerResponse => json({ errors: [error] }, status)

/** The name and the password of a `Basic` header, both in escapes as OAuth 2.0 has them. */
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

/** Whether a password is the secret; an app without a secret has no password. */
export const isSecretOf = (secret: App["client"]["secret"], password: string): boolean =>
  secret !== undefined && isSame(Redacted.value(secret), password)
