/** Checks a call against what an account was granted. Separate from `Authorization`, which programs without accounts use too. */
import type { Call, Values } from "../../auth/Credentials.ts"
import { type CredentialsError, MissingScope } from "../../errors/Errors.ts"

/** Returns a call with the kind of credential that an account has, or an error: the bearer token is lost, or lacks a scope. */
export const admit = <C extends Call>(given: C, values: Values): C | MissingScope | CredentialsError => {
  const call = choose(given, values)
  const { bearerToken, grant } = values
  if (grant === undefined || call.userAuth) return call
  if (bearerToken === undefined) return grant.lost ?? call
  const { account, scopes: granted } = grant
  if (granted === undefined) return call
  const missing = call.scopes.filter((scope) => !granted.includes(scope))
  return missing.length === 0 ? call : new MissingScope({ operation: call.operation, account, missing, granted })
}

/**
 * Chooses the credential if the caller has not: an account with OAuth 2.0 tokens only cannot sign, whatever the operation's
 * default.
 */
const choose = <C extends Call>(call: C, { accessToken, bearerToken }: Values): C => {
  const { accepts, isChosen, userAuth } = call
  const [has, other] = userAuth ? [accessToken, bearerToken] : [bearerToken, accessToken]
  return !isChosen && has === undefined && other !== undefined && accepts.includes(userAuth ? "bearer" : "oauth1")
    ? { ...call, userAuth: !userAuth }
    : call
}
