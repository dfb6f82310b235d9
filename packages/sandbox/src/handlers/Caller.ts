import * as Effect from "effect/Effect"
import type { Caller, UserCaller } from "../auth/Authentication.ts"
import * as Problem from "../http/Problem.ts"

/** The caller as a user; app-only callers are refused. */
export const user = (caller: Caller): Effect.Effect<UserCaller, Problem.Problem> =>
  caller.userId === undefined
    ? Effect.fail(Problem.unsupportedAuthentication(["OAuth 1.0a User Context", "OAuth 2.0 User Context"], caller.form))
    : Effect.succeed({ ...caller, userId: caller.userId })
