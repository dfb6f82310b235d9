/** Admin calls about apps and grants. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Problem from "../http/Problem.ts"
import type { App } from "../store/Credentials.ts"
import { call, type Endpoints, fallible, withBody } from "./AdminEndpoint.ts"

const NewApp = Schema.Struct({
  name: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(100))),
  kind: Schema.optionalKey(Schema.Literals(["public", "confidential"])),
  redirects: Schema.optionalKey(Schema.Array(Schema.String)),
  rotation: Schema.optionalKey(Schema.Literals(["lenient", "strict"])),
  access: Schema.optionalKey(Schema.Literals(["standard", "research"])),
  rights: Schema.optionalKey(Schema.Literals(["read", "read-write", "read-write-directmessages"])),
  owner: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,19}$/)))
})

const NewGrant = Schema.Struct({
  app: Schema.optional(Schema.String),
  user: Schema.optional(Schema.String),
  scopes: Schema.optional(Schema.Array(Schema.String))
})

/** An app without its secrets. */
const overview = ({ access, client, id, name, rights }: App) => ({
  id,
  name,
  kind: client.secret === undefined ? "public" : "confidential",
  clientId: client.id,
  redirects: client.redirects,
  rotation: client.rotation,
  access,
  rights
})

export const endpoints: Endpoints = {
  "GET /apps": call(
    "The apps without their secrets, newest first.",
    ({ store }) => ({ apps: store.credentials.apps().map(overview) })
  ),
  "POST /apps": withBody(
    "Makes an app and returns its credentials.",
    NewApp,
    ({ app, store }, { owner, ...options }) => {
      const made = app({ ...options, ...owner !== undefined && { owner: { id: owner } } })
      const { bearerToken, consumerKey, consumerSecret } = made.settings
      const kept = store.credentials.appById(made.id)
      return {
        ...(kept && overview(kept)),
        clientSecret: made.client.secret,
        consumerKey,
        consumerSecret,
        bearerToken
      }
    }
  ),
  "GET /grants": call("The latest logins, newest first, without tokens.", ({ grants }) => ({ grants: grants.list() })),
  "POST /grants": withBody("Signs a user in without a page and returns the tokens.", NewGrant, ({ grants }, grant) => {
    const { accessToken, refreshToken, ...rest } = grants.make(grant)
    return {
      ...rest,
      accessToken: Redacted.value(accessToken),
      refreshToken: refreshToken && Redacted.value(refreshToken)
    }
  }),
  "DELETE /grants/:id": fallible("Revokes a login.", ({ grants }, { id = "" }) => {
    const ended = grants.revoke(id)
    return ended === undefined ? Effect.fail(Problem.noRoute()) : Effect.succeed(ended)
  })
}
