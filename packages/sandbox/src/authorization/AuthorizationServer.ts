/** The authorization server: routes, faults and responses. */
import { HmacSha1 } from "@postwire/core/auth/OAuth1"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { isSecretName } from "../auth/Secrets.ts"
import type * as Faults from "../faults/Faults.ts"
import * as FaultyResponse from "../faults/FaultyResponse.ts"
import type { Endpoint } from "../http/Names.ts"
import * as Problem from "../http/Problem.ts"
import type * as Journal from "../journal/Journal.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import * as AppTokens from "./AppTokens.ts"
import * as Authorize from "./Authorize.ts"
import type * as AuthRequest from "./AuthRequest.ts"
import * as OAuth1 from "./OAuth1.ts"
import * as Tokens from "./Tokens.ts"

export interface Parts extends AuthRequest.Parts {
  readonly faults: Faults.Faults
  readonly delivered: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>
}

/** An endpoint. Faults apply only to named ones. */
interface Route {
  readonly name: Endpoint | undefined
  readonly answer: AuthRequest.Answer
}

export const make = Effect.fnUntraced(function*(parts: Parts) {
  const { delivered, faults } = parts
  const authorize = Authorize.make(parts)
  const tokens = Tokens.make(parts)
  const appTokens = AppTokens.make(parts)
  const oauth1 = OAuth1.make({ ...parts, hmac: yield* HmacSha1 })
  const at = (name: Endpoint, answer: AuthRequest.Answer) => (): Route => ({ name, answer })
  const routes: Readonly<Record<string, (form: URLSearchParams) => Route>> = {
    [`GET ${Authorize.path}`]: at("authorize", authorize.show),
    [`POST ${Authorize.path}`]: at("authorize", authorize.decide),
    "POST /2/oauth2/token": (form) => {
      const type = form.get("grant_type")
      return type === "authorization_code"
        ? { name: "exchangeCode", answer: tokens.exchange }
        : type === "refresh_token"
        ? { name: "refreshToken", answer: tokens.refresh }
        : { name: undefined, answer: tokens.refuse }
    },
    "POST /2/oauth2/revoke": at("revokeToken", tokens.revoke),
    "POST /oauth2/token": at("getAppToken", appTokens.get),
    "POST /oauth2/invalidate_token": at("invalidateAppToken", appTokens.invalidate),
    "POST /oauth/request_token": at("requestToken", oauth1.requestToken),
    [`GET ${OAuth1.path}`]: at("authorizeOAuth1", oauth1.authorize),
    [`POST ${OAuth1.path}`]: at("authorizeOAuth1", oauth1.decide),
    "GET /oauth/authenticate": at("authenticateOAuth1", oauth1.authenticate),
    "POST /oauth/access_token": at("accessToken", oauth1.accessToken),
    "POST /1.1/oauth/invalidate_token.json": at("invalidateAccessToken", oauth1.invalidate)
  }
  return {
    /** True if a request is for one of its endpoints. */
    isFor: (method: string, { pathname }: URL): boolean => `${method} ${pathname}` in routes,
    /** Answers a request and records it in `trace`. */
    answer: Effect.fnUntraced(function*(
      request: HttpServerRequest.HttpServerRequest,
      url: URL,
      trace: Journal.Trace
    ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Problem.Problem | FaultyResponse.ConnectionLost> {
      const route = routes[`${request.method} ${url.pathname}`]
      if (route === undefined) return yield* Problem.noRoute()
      const form = yield* RequestBody.form(request)
      const { answer, name } = route(form)
      if (form.size > 0) trace.body = Object.fromEntries(form)
      trace.secrets = [...form, ...url.searchParams].filter(([name]) => isSecretName(name)).map(([, value]) => value)
      if (name !== undefined) trace.operation = name
      const now = yield* Clock.currentTimeMillis
      const work = Effect.sync(() => answer({ request, url, form, now }))
      const fault = name === undefined ? undefined : faults.next(name)
      if (fault === undefined) return yield* work
      trace.fault = fault
      return yield* FaultyResponse.meet(fault, work, refuse, delivered(request))
    })
  }
})

const refuse = (status: number) => Problem.response(Problem.ofStatus(status))
