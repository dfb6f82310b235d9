/** The credential of a request: its kind, its token and the `Authorization` header. */
import * as Redacted from "effect/Redacted"
import * as Credentials from "../../auth/Credentials.ts"
import * as Errors from "../../errors/Errors.ts"
import type { Prepared } from "../../wire/RequestEncoder.ts"

/** The kind of credential that a request carries. */
export const kindOf = ({ userAuth }: Pick<Prepared, "userAuth">): Exclude<Errors.CredentialKind, "app"> =>
  userAuth ? "oauth1" : "bearer"

/** The parts of a request that choose its credential. */
type Choice = Pick<Prepared, "bearer" | "userAuth">

/** The token of the user or the app; empty if there is none. */
export const tokenOf = (
  { bearer, userAuth }: Choice,
  { accessToken = none, appBearerToken, bearerToken = none }: Credentials.Values
): Redacted.Redacted => userAuth ? accessToken : bearer === "app" && appBearerToken || bearerToken

const none = /*#__PURE__*/ Redacted.make("")

/** The token that identifies a credential for rate limits and exports, or its holder if tokens are renewed. */
export const holderOf = (choice: Choice, values: Credentials.Values): Redacted.Redacted =>
  values.grant?.holder ?? tokenOf(choice, values)

/** The names of the settings that a request needs. */
const namesOf = (
  { bearer, userAuth }: Choice,
  { appBearerToken, bearerToken }: Credentials.Values
): ReadonlyArray<typeof Credentials.names[number]> =>
  userAuth
    ? Credentials.signing
    : bearer === "app" && (appBearerToken !== undefined || bearerToken === undefined)
    ? ofApp
    : ofBearer

const ofApp = ["appBearerToken"] as const
const ofBearer = ["bearerToken"] as const

/** Makes the header of a request, if it needs one. `now` is in milliseconds by the service's clock. */
export type Authorize = (url: string, now: number) => string | undefined

/** The header of requests with a bearer token. */
export const withBearer = (token: string): Authorize => {
  const header = `Bearer ${token}`
  return () => header
}

const withoutCredential: Authorize = () => undefined

/** Makes the function that returns a way to authorize a request, or the reason why its credential cannot be used. */
export const make = (sign: Credentials.Sign | undefined) => {
  let last = { token: "", authorize: withBearer("") }
  return (prepared: Prepared, values: Credentials.Values): ReturnType<typeof authorizeWith> => {
    if (prepared.bearer === "none") return withoutCredential
    if (prepared.userAuth) return authorizeWith(prepared, values, sign)
    const token = Redacted.value(tokenOf(prepared, values))
    if (token !== "" && token === last.token) return last.authorize
    const authorize = authorizeWith(prepared, values, sign)
    if (!(authorize instanceof Error)) last = { token, authorize }
    return authorize
  }
}

const authorizeWith = (
  prepared: Prepared,
  values: Credentials.Values,
  sign: Credentials.Sign | undefined
): Authorize | Errors.MissingAccessToken | Errors.InvalidParameters => {
  const { method, operation, userAuth } = prepared
  const names = namesOf(prepared, values)
  const missing: Array<string> = []
  const [first = "", consumerSecret = "", token = "", tokenSecret = ""] = names.map((name) => {
    const secret = Redacted.value(values[name] ?? none)
    if (secret === "") missing.push(name)
    return secret
  })
  if (missing.length > 0) return new Errors.MissingAccessToken({ operation, credential: kindOf(prepared), missing })
  for (const name of names) {
    const rule = Credentials.fault(name, values[name] ?? none)
    if (rule !== undefined) return Errors.invalidParameter(operation, name, rule, undefined)
  }
  if (!userAuth) return withBearer(first)
  if (sign === undefined) {
    return Errors.invalidParameter(operation, "user_auth", "needs credentials with a way to sign", undefined)
  }
  return (url, now) =>
    sign({ method, url, consumerKey: first, consumerSecret, token, tokenSecret, timestamp: Math.floor(now / 1000) })
}
