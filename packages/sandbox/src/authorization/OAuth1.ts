/** The three legs of OAuth 1.0a: request token, consent page, access token. */
import { parseAuthorization } from "@postwire/core/auth/OAuth1"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Authentication from "../auth/Authentication.ts"
import { type App, hashOf, type Rights } from "../store/Credentials.ts"
import { outOfBand, type RequestToken } from "../store/RequestTokens.ts"
import { type Answer, type AuthRequest, headers, json, type Parts, refusalWithCode } from "./AuthRequest.ts"
import * as Consent from "./Consent.ts"
import * as Page from "./Page.ts"

/** The path of the page. */
export const path = "/oauth/authorize"

/** The holder of a token. */
interface Holder {
  readonly secret: Redacted.Redacted | undefined
  readonly appId: string
}

/** A correctly signed request. */
interface Signed<H> extends AuthRequest {
  readonly app: App
  readonly holder: H
  /** A parameter from the header, the body or the query. */
  readonly said: (name: string) => string
}

/** A pending sign-in. */
interface Wish {
  readonly app: App
  readonly request: RequestToken
  /** The user to offer first. */
  readonly username: string | undefined
}

type SignerParts = Parts & Omit<Authentication.Authority, "store">

/** Handles requests that are signed with the secret of their token's holder. */
const signer = (parts: SignerParts) =>
<H extends Holder>(
  holderOf: (token: string, now: number, app: App) => H | undefined,
  answer: (signed: Signed<H>) => HttpServerResponse.HttpServerResponse
): Answer =>
(received) => {
  const { form, now, request, url } = received
  const header = parseAuthorization(request.headers["authorization"] ?? "") ?? {}
  const app = parts.store.credentials.appByConsumerKey(header["oauth_consumer_key"] ?? "")
  if (app === undefined) return unauthenticated
  const said = (name: string): string => header[name] ?? form.get(name) ?? url.searchParams.get(name) ?? ""
  const holder = holderOf(said("oauth_token"), now, app)
  if (holder?.appId !== app.id) return expired
  const parameters = { ...Object.fromEntries(form), ...header }
  const verified = ({ href }: URL) => {
    const target = { method: request.method, url: href }
    return Authentication.verified(parts, now, target, parameters, app.consumerSecret, holder.secret)
  }
  const strict = verified(url)
  // Some clients sign parameters that are both in the header and in the query only once.
  const signature = strict === "wrong" ? verified(withoutRepeated(url, header)) : strict
  if (signature === "out of time") return outOfTime
  return signature !== "wrong" && signature.claim(now) ? answer({ ...received, app, holder, said }) : unauthenticated
}

export const make = (parts: SignerParts) => {
  const { store } = parts
  const { credentials, grants, requestTokens, users } = store

  const signed = signer(parts)
  const allow = (request: RequestToken, userId: string): HttpServerResponse.HttpServerResponse => {
    const verifier = Redacted.value(requestTokens.allow(request, userId))
    return request.callback === outOfBand
      ? Page.page({
        title: "Your PIN",
        body: Page.html`<h1>Enter this PIN in the app</h1>
<p class="pin">${verifier}</p>
<p>It can be used once, within 15 minutes.</p>`
      })
      : leadTo(request, { oauth_token: request.token, oauth_verifier: verifier })
  }
  const consent = Consent.make<Wish>(parts, {
    action: path,
    appOf: ({ app }) => app,
    wishes: ({ request: { rights } }) =>
      meanings.slice(0, levels.indexOf(rights) + 1).map((meaning, i) => ({ meaning, name: levels[i] ?? "" })),
    redirect: ({ request: { callback } }) => callback === outOfBand ? undefined : callback,
    username: ({ username }) => username,
    allow: ({ request }, user) => allow(request, user.id),
    deny: ({ app, request }) => {
      requestTokens.remove(request.token)
      return request.callback === outOfBand
        ? Page.notice("Access denied", `${app.name} cannot act for you. You can close this page.`)
        : leadTo(request, { denied: request.token })
    }
  })
  /** The pending sign-in of a URL. */
  const wishOf = ({ now, url: { searchParams } }: AuthRequest): Wish | undefined => {
    const request = requestTokens.byToken(searchParams.get("oauth_token") ?? "", now)
    const app = request && credentials.appById(request.appId)
    return request === undefined || app === undefined || request.userId !== undefined
      ? undefined
      : { app, request, username: searchParams.get("screen_name") ?? undefined }
  }

  return {
    requestToken: signed((_, __, { id }) => ({ appId: id, secret: undefined }), ({ app, now, said }) => {
      const callback = said("oauth_callback")
      if (callback !== outOfBand && !app.client.redirects.includes(callback)) return notApproved
      const access = said("x_auth_access_type")
      const most = access === "read" ? "read" : access === "write" ? "read-write" : app.rights
      const { secret, token } = requestTokens.insert({ appId: app.id, callback, rights: lesser(most, app.rights) }, now)
      return fields({
        oauth_token: token,
        oauth_token_secret: Redacted.value(secret),
        oauth_callback_confirmed: "true"
      })
    }),
    authorize: (request: AuthRequest) => {
      const wish = wishOf(request)
      return wish === undefined ? tooLate : consent.ask(wish)
    },
    authenticate: (received: AuthRequest) => {
      const wish = wishOf(received)
      if (wish === undefined) return tooLate
      const { app, request, username } = wish
      const isForced = received.url.searchParams.get("force_login") === "true"
      // The sandbox has no sessions: without a name, the user who approved the app last is signed in.
      const user = username === undefined ? undefined : users.byUsername(username)
      const grant = isForced || request.callback === outOfBand || (username !== undefined && user === undefined)
        ? undefined
        : grants.signed(app.id, user?.id)
      return grant?.rights === request.rights ? allow(request, grant.userId) : consent.ask(wish)
    },
    decide: consent.decide,
    accessToken: signed(requestTokens.byToken, ({ app, holder, now, said }) => {
      const { rights, userId, verifierHash } = holder
      if (userId === undefined || hashOf(Redacted.make(said("oauth_verifier"))) !== verifierHash) return wrongVerifier
      requestTokens.remove(holder.token)
      const { secret, token } = grants.openSigned({ app, userId, rights, now })
      return fields({
        oauth_token: token,
        oauth_token_secret: Redacted.value(secret),
        user_id: userId,
        screen_name: users.byId(userId)?.username ?? ""
      })
    }),
    invalidate: signed(credentials.accessToken, ({ app, holder: { token }, now }) => {
      const grant = grants.ofToken(Redacted.make(token))
      if (grant === undefined) credentials.forgetToken(app.id, Redacted.make(token))
      else grants.end(grant.id, "revoked", now)
      return json({ access_token: token })
    })
  }
}

/** Removes query parameters that the header repeats. */
const withoutRepeated = (url: URL, header: Readonly<Record<string, string>>): URL => {
  const other = new URL(url)
  for (const [name, value] of url.searchParams) if (header[name] === value) other.searchParams.delete(name)
  return other
}

/** In ascending order. */
const levels: ReadonlyArray<Rights> = ["read", "read-write", "read-write-directmessages"]

/** The permission that each level adds. */
const meanings = [
  "Read the posts that you can see, and see whom you follow, mute and block",
  "Post, repost, like, follow, mute and block as you",
  "Read and send direct messages as you"
]

const lesser = (a: Rights, b: Rights): Rights => levels.indexOf(a) < levels.indexOf(b) ? a : b

/** A form-encoded response. */
const fields = (values: Record<string, string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(new URLSearchParams(values).toString(), {
    contentType: "application/x-www-form-urlencoded",
    headers
  })

const leadTo = ({ callback }: RequestToken, parameters: Readonly<Record<string, string>>) =>
  HttpServerResponse.redirect(Consent.withParameters(callback, parameters), { status: 303 })

const tooLate = Page.notice(
  "Cannot sign in",
  "Its request token is unknown, already used, or older than 15 minutes. Start again in the app.",
  400
)

const unauthenticated = refusalWithCode(401, { code: 32, message: "Could not authenticate you." })

const outOfTime = refusalWithCode(401, { code: 135, message: "Timestamp out of bounds." })

const expired = refusalWithCode(401, { code: 89, message: "Invalid or expired token." })

const notApproved = refusalWithCode(403, {
  code: 415,
  message: "Callback URL not approved for this client application. Approved callback URLs can be adjusted in your " +
    "application settings"
})

const wrongVerifier = HttpServerResponse.text(
  "Error processing your OAuth request: Invalid oauth_verifier parameter",
  { status: 401, headers }
)
