/** Which calls the credentials of an account are for. Apart from `Authorization`, for a program without accounts has no need of it. */
import type { Call, Values } from "../../auth/Credentials.ts"
import { type CredentialsError, MissingScope } from "../../errors/Errors.ts"

/**
 * A call with the kind of credential that an account has, or what stands in its way: the bearer token is lost, or was granted
 * without a scope.
 */
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
 * The caller may leave the choice: an account that signed in with OAuth 2.0 alone has nothing to sign with, whatever the default
 * of the operation is.
 */
const choose = <C extends Call>(call: C, { accessToken, bearerToken }: Values): C => {
  const { accepts, isChosen, userAuth } = call
  const [has, other] = userAuth ? [accessToken, bearerToken] : [bearerToken, accessToken]
  return !isChosen && has === undefined && other !== undefined && accepts.includes(userAuth ? "bearer" : "oauth1")
    ? { ...call, userAuth: !userAuth }
    : call
}
