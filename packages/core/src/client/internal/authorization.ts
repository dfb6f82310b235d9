/** The credential that a request carries: whether it can be used, and its header. */
import * as Redacted from "effect/Redacted"
import * as Credentials from "../../auth/Credentials.ts"
import * as Errors from "../../errors/Errors.ts"
import type { Prepared } from "../../wire/RequestEncoder.ts"

const names = {
  bearer: ["bearerToken"],
  oauth1: ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"]
} as const

/** The kind that a request carries. */
export const kindOf = ({ userAuth }: Pick<Prepared, "userAuth">): Exclude<Errors.CredentialKind, "app"> =>
  userAuth ? "oauth1" : "bearer"

/** The token that stands for the user or the app; an empty one where there is none. */
export const tokenOf = (
  { userAuth }: Pick<Prepared, "userAuth">,
  { accessToken = none, bearerToken = none }: Credentials.Values
): Redacted.Redacted => userAuth ? accessToken : bearerToken

const none = /*#__PURE__*/ Redacted.make("")

/** Whether two credentials have one bearer token. */
export const isSameToken = (one: Credentials.Values, other: Credentials.Values): boolean =>
  Redacted.value(one.bearerToken ?? none) === Redacted.value(other.bearerToken ?? none)

/** What budgets and exports know a credential by: the token, or whoever holds it where tokens change. */
export const holderOf = (prepared: Pick<Prepared, "userAuth">, values: Credentials.Values): Redacted.Redacted =>
  values.grant?.holder ?? tokenOf(prepared, values)

/**
 * What stands in the way of using the chosen credential: a setting that is missing, or one that no header can carry. A
 * service of credentials may give anything.
 */
export const unusable = (
  prepared: Prepared,
  values: Credentials.Values,
  sign: Credentials.Sign | undefined
): Errors.MissingAccessToken | Errors.InvalidParameters | undefined => {
  const credential = kindOf(prepared)
  const { operation } = prepared
  const missing = (name: typeof Credentials.names[number]) => {
    const value = values[name]
    return value === undefined || Redacted.value(value) === ""
  }
  const needed: ReadonlyArray<typeof Credentials.names[number]> = names[credential]
  if (needed.some(missing)) {
    return new Errors.MissingAccessToken({ operation, credential, missing: needed.filter(missing) })
  }
  for (const name of needed) {
    const rule = Credentials.fault(name, values[name] ?? none)
    if (rule !== undefined) return Errors.invalidParameter(operation, name, rule, undefined)
  }
  if (prepared.userAuth && sign === undefined) {
    return Errors.invalidParameter(operation, "user_auth", "needs credentials with a way to sign", undefined)
  }
  return undefined
}

/** The header of a request whose credential can be used: then, where it is needed, there is a way to sign. `now` is milliseconds by the service's clock. */
export const header = (
  prepared: Prepared,
  values: Credentials.Values,
  url: string,
  now: number,
  sign: Credentials.Sign | undefined
): string => {
  const plain = (name: typeof Credentials.names[number]) => Redacted.value(values[name] ?? none)
  if (!prepared.userAuth) return `Bearer ${plain("bearerToken")}`
  return sign!({
    method: prepared.method,
    url,
    consumerKey: plain("consumerKey"),
    consumerSecret: plain("consumerSecret"),
    token: plain("accessToken"),
    tokenSecret: plain("accessTokenSecret"),
    timestamp: Math.floor(now / 1000)
  })
}
