/** The OAuth 2.0 consent page and its authorization code. */
import { fromWire, meanings } from "@postwire/core/schema/Scopes"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import type { App } from "../store/Credentials.ts"
import { type Answer, type Parts, refusal } from "./AuthRequest.ts"
import * as Consent from "./Consent.ts"
import * as Page from "./Page.ts"

/** The path of the page. */
export const path = "/i/oauth2/authorize"

/** An authorization request of an app. */
interface Wish {
  readonly app: App
  readonly redirect: string
  readonly state: string | undefined
  readonly scope: string
  readonly challenge: string
  readonly method: "S256" | "plain"
}

/** The endpoints of the page and its form. */
export const make = (parts: Parts): { readonly show: Answer; readonly decide: Answer } => {
  const { store } = parts
  const back = ({ redirect, state }: Pick<Wish, "redirect" | "state">, parameters: Readonly<Record<string, string>>) =>
    HttpServerResponse.redirect(Consent.withParameters(redirect, { ...parameters, state }), { status: 303 })
  const consent = Consent.make<Wish>(parts, {
    action: path,
    appOf: ({ app }) => app,
    wishes: ({ scope }) =>
      namesOf(scope).flatMap((name) => fromWire(name).map((scope) => ({ name, meaning: meanings[scope] }))),
    redirect: ({ redirect }) => redirect,
    allow: (wish, user, now) => {
      const { app, challenge, method, redirect, scope } = wish
      const consent = { appId: app.id, userId: user.id, redirect, challenge, method, scope }
      return back(wish, { code: Redacted.value(store.authorizationCodes.insert(consent, now)) })
    },
    deny: (wish) => back(wish, { error: "access_denied", error_description: "The user denied the request." })
  })
  return {
    decide: consent.decide,
    show: ({ request: { headers }, url: { searchParams: query } }) => {
      // Programs that check the request before they send the user here get JSON.
      const refused = (reason: string) =>
        headers["accept"] === "application/json"
          ? refusal("invalid_request", reason)
          : Page.notice("Cannot sign in", reason, 400)
      const said = (name: string): string | undefined => query.get(name) ?? undefined
      const twice = [...new Set(query.keys())].filter((name) => query.getAll(name).length > 1)
      const app = store.credentials.appByClientId(said("client_id") ?? "")
      const redirect = said("redirect_uri")
      // The app is unverified, so the user is not redirected to it.
      if (app === undefined || twice.includes("client_id")) {
        return refused(
          said("client_id") === undefined
            ? "The parameter client_id is missing."
            : `There is no app with the client id ${said("client_id")}.`
        )
      }
      if (redirect === undefined || twice.includes("redirect_uri") || !app.client.redirects.includes(redirect)) {
        return refused(
          redirect === undefined
            ? "The parameter redirect_uri is missing."
            : `The redirect URL ${redirect} is not registered for ${app.name}. Registered are: ` +
              `${app.client.redirects.join(", ") || "none"}. They must be the same, character by character.`
        )
      }
      const state = twice.includes("state") ? undefined : said("state")
      const fault = (error: string, description: string) =>
        back({ redirect, state }, { error, error_description: description })
      if (twice.length > 0) return fault("invalid_request", `There is more than one parameter [${twice.join(", ")}].`)
      const type = said("response_type")
      if (type === undefined) return fault("invalid_request", "Missing required parameter [response_type].")
      if (type !== "code") return fault("unsupported_response_type", "Value passed for response_type was invalid.")
      if (state !== undefined && state.length > 500) {
        return fault("invalid_request", "Value passed for the state was longer than 500 characters.")
      }
      const names = namesOf(said("scope") ?? "")
      if (names.length === 0) return fault("invalid_scope", "Missing required parameter [scope].")
      const unknown = names.filter((name) => fromWire(name).length === 0)
      if (unknown.length > 0) {
        return fault("invalid_scope", `Value passed for the scope was invalid: ${unknown.join(" ")}`)
      }
      const challenge = said("code_challenge") ?? ""
      if (challenge === "") return fault("invalid_request", "Missing required parameter [code_challenge].")
      if (!/^[\w.~-]{1,128}$/.test(challenge)) {
        return fault("invalid_request", "Value passed for the code challenge was invalid.")
      }
      const method = methods.get(said("code_challenge_method") ?? "plain")
      return method === undefined
        ? fault("invalid_request", "Value passed for the code challenge method was invalid.")
        : consent.ask({ app, redirect, state, scope: names.join(" "), challenge, method })
    }
  }
}

const methods = new Map<string, Wish["method"]>([["S256", "S256"], ["s256", "S256"], ["plain", "plain"]])

const namesOf = (scope: string): ReadonlyArray<string> => [...new Set(scope.split(" ").filter((name) => name !== ""))]
