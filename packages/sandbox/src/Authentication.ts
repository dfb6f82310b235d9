/** Who sends a request: bearer tokens looked up, OAuth 1.0a signatures verified, and what that lets them do. */
import * as OAuth1 from "@postwire/core/OAuth1"
import type { Definition } from "@postwire/core/Operation"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { timingSafeEqual } from "node:crypto"
import * as Problem from "./Problem.ts"
import type { Rights } from "./store/Credentials.ts"
import type { Store } from "./store/Store.ts"

/** The sender of a request. */
export interface Caller {
  readonly form: "OAuth 1.0a User Context" | "OAuth 2.0 User Context" | "OAuth 2.0 Application-Only"
  readonly appId: string
  /** The user whom the credential stands for; none for an app alone. */
  readonly userId: string | undefined
  readonly rights: Rights
  /** Tells credentials apart where windows are counted. */
  readonly key: string
}

/** The caller of an operation that acts for a user. */
export interface UserCaller extends Caller {
  readonly userId: string
}

interface Request {
  readonly method: string
  /** Absolute, as the client signed it. */
  readonly url: string
  readonly authorization: string | undefined
}

/** Finds out who sends a request. */
export const authenticate = (
  store: Store["Service"],
  hmac: typeof OAuth1.HmacSha1.Service,
  request: Request
): Effect.Effect<Caller, Problem.Problem> => {
  const { authorization = "" } = request
  const caller = /^bearer /i.test(authorization)
    ? bearer(store, authorization.slice("bearer ".length).trim())
    : signed(store, hmac, request, authorization)
  return caller === undefined ? Effect.fail(Problem.unauthorized()) : Effect.succeed(caller)
}

const bearer = (store: Store["Service"], token: string): Caller | undefined => {
  const found = store.credentials.bearerToken(Redacted.make(token))
  return found === undefined ? undefined : {
    form: found.userId === undefined ? "OAuth 2.0 Application-Only" : "OAuth 2.0 User Context",
    appId: found.appId,
    userId: found.userId,
    rights: found.rights,
    key: found.userId === undefined ? `app ${found.appId}` : `user ${found.appId} ${found.userId}`
  }
}

const signed = (
  store: Store["Service"],
  hmac: typeof OAuth1.HmacSha1.Service,
  request: Request,
  authorization: string
): Caller | undefined => {
  const parameters = OAuth1.parseAuthorization(authorization)
  const app = store.credentials.appByConsumerKey(parameters?.["oauth_consumer_key"] ?? "")
  const token = store.credentials.accessToken(parameters?.["oauth_token"] ?? "")
  if (parameters === undefined || app === undefined || token === undefined || token.appId !== app.id) return undefined
  if (parameters["oauth_signature_method"] !== "HMAC-SHA1") return undefined
  const expected = OAuth1.signature({
    method: request.method,
    url: request.url,
    parameters,
    consumerSecret: Redacted.value(app.consumerSecret),
    tokenSecret: Redacted.value(token.secret),
    hmac
  })
  return same(expected, parameters["oauth_signature"] ?? "")
    ? {
      form: "OAuth 1.0a User Context",
      appId: app.id,
      userId: token.userId,
      rights: token.rights,
      key: `user ${app.id} ${token.userId}`
    }
    : undefined
}

const same = (a: string, b: string): boolean => {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

const userForms = ["OAuth 1.0a User Context", "OAuth 2.0 User Context"] as const

/** The forms of authorization that an operation takes. */
export const formsOf = (definition: Definition): ReadonlyArray<Caller["form"]> => {
  if (definition.userAuth === undefined) {
    return definition.identity === undefined
      ? ["OAuth 2.0 Application-Only", "OAuth 2.0 User Context"]
      : ["OAuth 2.0 User Context"]
  }
  return definition.userAuth ? userForms : [...userForms, "OAuth 2.0 Application-Only"]
}

/** Refuses a caller who may not use an operation. `identity` is the user id in the path, where the operation has one. */
export const authorize = (
  definition: Definition,
  caller: Caller,
  identity: string | undefined
): Effect.Effect<void, Problem.Problem> => {
  const forms = formsOf(definition)
  if (!forms.includes(caller.form)) return Effect.fail(Problem.unsupportedAuthentication(forms, caller.form))
  if (identity !== undefined && identity !== caller.userId) {
    return Effect.fail(Problem.invalidRequest(
      `The \`id\` path parameter value [${identity}] must be the same as the authenticating user [${caller.userId}].`,
      { id: identity }
    ))
  }
  if (!isAllowed(definition, caller.rights)) {
    return Effect.fail(Problem.forbidden(
      "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."
    ))
  }
  return Effect.void
}

const isAllowed = (definition: Definition, rights: Rights): boolean => {
  if (isDirectMessage(definition)) return rights === "read-write-directmessages"
  return definition.effect === "read" || rights !== "read"
}

const isDirectMessage = ({ route }: Definition): boolean =>
  (typeof route === "string" ? [route] : Object.values(route)).some((path) => path.includes("/2/dm_"))
