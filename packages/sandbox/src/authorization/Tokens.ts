/**
 * OAuth 2.0 tokens: code exchange, refresh and revocation. JSON is accepted in place of a form, as by the service: a widely
 * used client sends it.
 */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import type { App } from "../store/Credentials.ts"
import { accessSeconds, type Tokens } from "../store/Grants.ts"
import { type Answer, type AuthRequest, basicOf, isSecretOf, json, type Parts, refusal } from "./AuthRequest.ts"

type Refusal = { readonly refused: HttpServerResponse.HttpServerResponse }

/** The endpoints by grant type. */
export const make = ({ store }: Parts) => {
  /** Authenticates the client by its secret, or by its id if it has none. */
  const clientOf = ({ form, request }: AuthRequest): App | Refusal => {
    const id = form.get("client_id")
    if (request.headers["authorization"] !== undefined) {
      const basic = basicOf(request)
      const app = store.credentials.appByClientId(basic?.name ?? "")
      return app === undefined || !isSecretOf(app.client.secret, basic?.password ?? "")
        ? unauthorized
        : id !== null && id !== app.client.id
        ? { refused: invalid("Value passed for the client id did not match the authorization header.") }
        : app
    }
    if (id === null) return { refused: invalid("Missing required parameter [client_id].") }
    const app = store.credentials.appByClientId(id)
    if (app === undefined) return { refused: invalid("Value passed for the client id was invalid.") }
    return app.client.secret === undefined ? app : unauthorized
  }
  /** Checks the client, and that all required parameters are present and none is repeated. */
  const forApp = (
    required: ReadonlyArray<string>,
    answer: (app: App, said: (name: string) => string, now: number) => HttpServerResponse.HttpServerResponse
  ): Answer =>
  (request) => {
    const { form, now } = request
    const twice = [...form.keys()].find((name) => form.getAll(name).length > 1)
    if (twice !== undefined) return invalid(`There is more than one parameter [${twice}].`)
    const app = clientOf(request)
    if ("refused" in app) return app.refused
    const said = (name: string): string => form.get(name) ?? ""
    const missing = required.filter((name) => said(name) === "")
    return missing.length > 0 ? invalid(`Missing required parameter [${missing.join(", ")}].`) : answer(app, said, now)
  }
  return {
    exchange: forApp(["code", "redirect_uri", "code_verifier"], (app, said, now) => {
      const tokens = store.authorizationCodes.exchange({
        app,
        code: Redacted.make(said("code")),
        redirect: said("redirect_uri"),
        verifier: said("code_verifier"),
        now
      })
      return tokens === undefined ? invalid("Value passed for the authorization code was invalid.") : given(tokens)
    }),
    refresh: forApp(["refresh_token"], (app, said, now) => {
      const tokens = store.grants.refresh(app, Redacted.make(said("refresh_token")), now)
      return tokens === undefined ? invalid("Value passed for the token was invalid.") : given(tokens)
    }),
    revoke: forApp(["token"], (app, said, now) => {
      const token = Redacted.make(said("token"))
      const grant = store.grants.ofToken(token)
      if (grant?.appId === app.id) store.grants.end(grant.id, "revoked", now)
      else store.credentials.forgetToken(app.id, token)
      // Succeeds for invalid tokens too, as revocation requires.
      return json({ revoked: true })
    }),
    /** The response to unknown grant types. */
    refuse: ({ form }: AuthRequest) =>
      form.get("grant_type") === null
        ? invalid("Missing required parameter [grant_type].")
        : refusal("unsupported_grant_type", "Value passed for the grant type was invalid.")
  }
}

const invalid = (description: string) => refusal("invalid_request", description)

const unauthorized: Refusal = {
  refused: refusal("unauthorized_client", "Missing valid authorization header", 401)
}

const given = ({ accessToken, refreshToken, scope }: Tokens) =>
  json({
    token_type: "bearer",
    expires_in: accessSeconds,
    access_token: Redacted.value(accessToken),
    scope,
    ...(refreshToken === undefined ? {} : { refresh_token: Redacted.value(refreshToken) })
  })
