/** The credential that a request carries: whether it can be used, its header, and what tells it from others. */
import * as Redacted from "effect/Redacted"
import * as Credentials from "./Credentials.ts"
import * as Errors from "./Errors.ts"
import * as OAuth1 from "./OAuth1.ts"
import type { Prepared } from "./Prepare.ts"

const names = {
  bearer: ["bearerToken"],
  oauth1: ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"]
} as const

/** The kind that a request carries. */
export const kindOf = ({ userAuth }: Pick<Prepared, "userAuth">): Errors.CredentialKind =>
  userAuth ? "oauth1" : "bearer"

/** The token that stands for the user or the app; an empty one where there is none. */
export const tokenOf = (
  { userAuth }: Pick<Prepared, "userAuth">,
  { accessToken = none, bearerToken = none }: Credentials.Values
): Redacted.Redacted => userAuth ? accessToken : bearerToken

const none = /*#__PURE__*/ Redacted.make("")

/**
 * What stands in the way of using the chosen credential: a setting that is missing, or one that no header can carry. A
 * service of credentials may give anything.
 */
export const unusable = (
  prepared: Prepared,
  values: Credentials.Values
): Errors.MissingAccessToken | Errors.InvalidParameters | undefined => {
  const credential = kindOf(prepared)
  const { operation } = prepared
  const missing = (name: keyof Credentials.Values) => {
    const value = values[name]
    return value === undefined || Redacted.value(value) === ""
  }
  const needed: ReadonlyArray<keyof Credentials.Values> = names[credential]
  if (needed.some(missing)) {
    return new Errors.MissingAccessToken({ operation, credential, missing: needed.filter(missing) })
  }
  for (const name of needed) {
    const rule = Credentials.fault(name, values[name] ?? none)
    if (rule !== undefined) return Errors.invalidParameter(operation, name, rule, undefined)
  }
  return undefined
}

/** The header of a request whose credential can be used. `now` is milliseconds by the service's clock. */
export const header = (
  prepared: Prepared,
  values: Credentials.Values,
  url: string,
  now: number,
  hmac: typeof OAuth1.HmacSha1.Service
): string => {
  const plain = (name: typeof Credentials.names[number]) => Redacted.value(values[name] ?? none)
  if (!prepared.userAuth) return `Bearer ${plain("bearerToken")}`
  return OAuth1.sign({
    method: prepared.method,
    url,
    consumerKey: plain("consumerKey"),
    consumerSecret: plain("consumerSecret"),
    token: plain("accessToken"),
    tokenSecret: plain("accessTokenSecret"),
    nonce: OAuth1.nonce(),
    timestamp: Math.floor(now / 1000),
    hmac
  })
}

/** Tells tokens and services apart without giving them away: rate limits may be shared with other processes. */
export const makeFingerprintOf = (options: {
  readonly baseUrl: string
  readonly hmacSha1: typeof OAuth1.HmacSha1.Service
}) => {
  const fingerprints = new WeakMap<Redacted.Redacted, string>()
  return (token: Redacted.Redacted): string => {
    let fingerprint = fingerprints.get(token)
    if (fingerprint === undefined) {
      fingerprint = options.hmacSha1(Redacted.value(token), options.baseUrl).slice(0, 16)
      fingerprints.set(token, fingerprint)
    }
    return fingerprint
  }
}
