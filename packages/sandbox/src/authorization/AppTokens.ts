/** App-only tokens: one per app, unchanged until it is invalidated. */
import * as Redacted from "effect/Redacted"
import type { App } from "../store/Credentials.ts"
import { type Answer, type AuthRequest, basicOf, isSecretOf, json, type Parts, refusalWithCode } from "./AuthRequest.ts"

export const make = ({ store }: Parts): { readonly get: Answer; readonly invalidate: Answer } => {
  const appOf = ({ request }: AuthRequest): App | undefined => {
    const basic = basicOf(request)
    const app = store.credentials.appByConsumerKey(basic?.name ?? "")
    return app !== undefined && isSecretOf(app.consumerSecret, basic?.password ?? "") ? app : undefined
  }
  return {
    get: (request) => {
      const app = appOf(request)
      if (app === undefined) return unverified
      const type = request.form.get("grant_type")
      if (type === null) {
        return refusalWithCode(403, {
          code: 170,
          label: "forbidden_missing_parameter",
          message: "Missing required parameter: grant_type"
        })
      }
      return type === "client_credentials"
        ? json({ token_type: "bearer", access_token: Redacted.value(store.credentials.appToken(app)) })
        : unverified
    },
    invalidate: (request) => {
      const app = appOf(request)
      if (app === undefined) return unverified
      const token = request.form.get("access_token") ?? ""
      return store.credentials.invalidateAppToken(app, Redacted.make(token))
        ? json({ access_token: token })
        : refusalWithCode(401, { code: 89, message: "Invalid or expired token" })
    }
  }
}

const unverified = refusalWithCode(403, {
  code: 99,
  label: "authenticity_token_error",
  message: "Unable to verify your credentials"
})
