/** Authenticates requests by bearer token or OAuth 1.0a signature, and authorizes operations. */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import { bearerOf, type Definition } from "@postwire/core/schema/Definition"
import type { AccessLevel } from "@postwire/core/schema/Parameters"
import type { Holder } from "@postwire/core/schema/Quota"
import { onWire, type Scope } from "@postwire/core/schema/Scopes"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { timingSafeEqual } from "node:crypto"
import * as Problem from "../http/Problem.ts"
import type { Rights } from "../store/Credentials.ts"
import type { Store } from "../store/Store.ts"
import * as Nonces from "./Nonces.ts"

/** The sender of a request. */
export interface Caller {
  readonly form: "OAuth 1.0a User Context" | "OAuth 2.0 User Context" | "OAuth 2.0 Application-Only"
  readonly appId: string
  /** The user of the credential; undefined for app-only credentials. */
  readonly userId: string | undefined
  readonly rights: Rights
  /** The scopes of a user's OAuth 2.0 token; other credentials have none. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  /** The access level of the app's project. */
  readonly access: AccessLevel
  /** Identifies the credential for rate limits. */
  readonly key: string
}

/** The caller of an operation that acts for a user. */
export interface UserCaller extends Caller {
  readonly userId: string
}

interface Request {
  readonly method: string
  /** The absolute URL that the client signed. */
  readonly url: string
  readonly authorization: string | undefined
}

export interface Authority {
  readonly store: Store["Service"]
  readonly hmac: typeof OAuth1.HmacSha1.Service
  readonly nonces: Nonces.Nonces
}

/** A caller whose credential is valid. */
export interface Identified {
  readonly caller: Caller
  /** Consumes the nonce, which is valid for one request; `now` is in milliseconds. */
  readonly claim: (now: number) => Effect.Effect<void, Problem.Problem>
}

/** Authenticates a request. `now` is in milliseconds. */
export const identify = (
  authority: Authority,
  now: number,
  request: Request
): Effect.Effect<Identified, Problem.Problem> => {
  const { authorization = "" } = request
  return /^bearer /i.test(authorization)
    ? bearer(authority, now, authorization.slice("bearer ".length).trim())
    : signed(authority, now, request, authorization)
}

const bearer = ({ store }: Authority, now: number, token: string): Effect.Effect<Identified, Problem.Problem> => {
  const found = store.credentials.useBearerToken(Redacted.make(token))
  const app = found && store.credentials.appById(found.appId)
  if (found === undefined || app === undefined) return Problem.unauthorized()
  const { expiresAt = Infinity, rights, scopes, userId } = found
  if (expiresAt <= now) return Problem.unauthorized()
  const caller: Caller = {
    form: userId === undefined ? "OAuth 2.0 Application-Only" : "OAuth 2.0 User Context",
    appId: app.id,
    userId,
    rights,
    scopes: userId === undefined ? undefined : scopes,
    access: app.access,
    key: userId === undefined ? `app ${app.id}` : `user ${app.id} ${userId}`
  }
  return Effect.succeed({ caller, claim: () => Effect.void })
}

const signed = (
  authority: Authority,
  now: number,
  request: Request,
  authorization: string
): Effect.Effect<Identified, Problem.Problem> => {
  const { store } = authority
  const parameters = OAuth1.parseAuthorization(authorization) ?? {}
  const app = store.credentials.appByConsumerKey(parameters["oauth_consumer_key"] ?? "")
  const token = store.credentials.accessToken(parameters["oauth_token"] ?? "")
  if (app === undefined || token === undefined || token.appId !== app.id) return Problem.unauthorized()
  const signature = verified(authority, now, request, parameters, app.consumerSecret, token.secret)
  if (signature === "wrong") return Problem.unauthorized()
  if (signature === "out of time") return Problem.unauthorized("Timestamp out of bounds.")
  const caller: Caller = {
    form: "OAuth 1.0a User Context",
    appId: app.id,
    userId: token.userId,
    rights: token.rights,
    scopes: undefined,
    access: app.access,
    key: `user ${app.id} ${token.userId}`
  }
  return Effect.succeed({
    caller,
    claim: (now) => signature.claim(now) ? Effect.void : Problem.unauthorized("The nonce was used before.")
  })
}

/** A valid signature. */
export interface Signature {
  /** Returns false if the nonce was used before. */
  readonly claim: (now: number) => boolean
}

/** Verifies the signature of a request. `parameters` are those of the OAuth header and of a form in the body. */
export const verified = (
  { hmac, nonces }: Omit<Authority, "store">,
  now: number,
  { method, url }: Pick<Request, "method" | "url">,
  parameters: Readonly<Record<string, string>>,
  consumerSecret: Redacted.Redacted,
  tokenSecret: Redacted.Redacted | undefined
): Signature | "wrong" | "out of time" => {
  const { oauth_nonce: nonce = "", oauth_signature_method, oauth_timestamp = "", oauth_version = "1.0" } = parameters
  if (oauth_signature_method !== "HMAC-SHA1" || oauth_version !== "1.0" || nonce === "") return "wrong"
  const timestamp = /^[0-9]{1,12}$/.test(oauth_timestamp) ? Number(oauth_timestamp) : Number.NaN
  if (!(Math.abs(timestamp - Math.floor(now / 1000)) <= Nonces.toleranceSeconds)) return "out of time"
  const expected = OAuth1.signature({
    method,
    url,
    parameters,
    consumerSecret: Redacted.value(consumerSecret),
    tokenSecret: tokenSecret && Redacted.value(tokenSecret),
    hmac
  })
  if (!isSame(expected, parameters["oauth_signature"] ?? "")) return "wrong"
  // Nonces are stored only after the signature was verified.
  const holder = parameters["oauth_token"] ?? parameters["oauth_consumer_key"] ?? ""
  return { claim: (now) => nonces.claim(holder, timestamp, nonce, now) }
}

/** Compares secrets in constant time. */
export const isSame = (a: string, b: string): boolean => {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** The sender of a request without a credential, for operations that accept any. */
export const nobody: Caller = {
  form: "OAuth 2.0 Application-Only",
  appId: "0",
  userId: undefined,
  rights: "read",
  scopes: undefined,
  access: "standard",
  key: "nobody"
}

/** The forms of authorization that an operation accepts. */
export const formsOf = (definition: Definition): ReadonlyArray<Caller["form"]> => {
  const bearer = bearerOf(definition)
  const isTaken = (holder: Holder) => bearer === "any" || bearer === "none" || bearer === holder
  return [
    ...(definition.userAuth === undefined ? [] : ["OAuth 1.0a User Context"] as const),
    ...(isTaken("user") ? ["OAuth 2.0 User Context"] as const : []),
    ...(isTaken("app") ? ["OAuth 2.0 Application-Only"] as const : [])
  ]
}

/** Fails if the caller may not use an operation. `identity` is the user id in the path, if the operation has one. */
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
  const { access, scopes } = definition
  const missing = caller.scopes === undefined ? [] : scopes.filter((scope) => caller.scopes?.includes(scope) === false)
  if (missing.length > 0) {
    return Effect.fail(
      Problem.forbidden(lacking(missing), { onX: lacking(missing.map((scope) => onWire("x", scope))) })
    )
  }
  if (access === "research" && caller.access !== access) return Effect.fail(Problem.notEnrolled())
  if (!isAllowed(definition, caller.rights)) {
    return Effect.fail(Problem.forbidden(
      "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."
    ))
  }
  return Effect.void
}

const lacking = (scopes: ReadonlyArray<string>): string => `The token lacks the scopes [${scopes.join(", ")}].`

const isAllowed = (definition: Definition, rights: Rights): boolean => {
  if (definition.scopes.some((scope) => scope.startsWith("dm."))) return rights === "read-write-directmessages"
  return definition.effect === "read" || rights !== "read"
}
