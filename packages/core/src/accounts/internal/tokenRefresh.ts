/**
 * Renews the tokens of an account: reads what is kept of it, and where that is of no use any more, asks the service for others; one
 * client of all that share a store at a time.
 *
 * A refresh token is used once. So what it brought is durable before anything uses it, and is not given up when it cannot be kept.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Retry from "../../client/Retry.ts"
import {
  type CredentialsError,
  LoginRequired,
  ServerFailure,
  type TokenStoreFailure,
  TransportFailure,
  UnexpectedStatus
} from "../../errors/Errors.ts"
import type { Account, App, OAuth2Tokens } from "../Account.ts"
import * as OAuth2 from "../OAuth2.ts"

/** Where the record of an account is kept. */
export interface Keeping {
  /** The name of the account; empty where it is in no store. */
  readonly name: string
  readonly read: Effect.Effect<Option.Option<Account>, TokenStoreFailure>
  /** When it ends, the record is durable. */
  readonly write: (account: Account) => Effect.Effect<void, TokenStoreFailure>
  /** Fails where the record could not be written: before a refresh token is spent. */
  readonly probe: (account: Account) => Effect.Effect<void, TokenStoreFailure>
  readonly lock: Effect.Effect<void, TokenStoreFailure, Scope.Scope>
}

/** What a request for other tokens can fail with, once settings are checked. */
export type RequestError = Exclude<OAuth2.RequestError, { readonly _tag: "InvalidSettings" }>

/** What renewals need. */
export interface Environment {
  readonly keeping: Keeping
  /** The service that the client speaks to. */
  readonly baseUrl: string
  /** Has the secret of the app where the record has not. */
  readonly app: App | undefined
  /** Asks the service, once. */
  readonly refresh: (
    request: Pick<OAuth2.Refresh, "app" | "refreshToken" | "scopes">
  ) => Effect.Effect<OAuth2Tokens, RequestError>
}

/** An account whose tokens can be used, and until when (by the wall clock) without another look. */
export interface Usable {
  readonly account: Account
  readonly until: number
}

/** The renewals of one client. They are for one fiber at a time. */
export interface Renewal {
  /** What is kept, or other tokens if it is due, or if its access token is the one that the service refused. */
  readonly settle: (refused: string | undefined) => Effect.Effect<Usable, CredentialsError>
  /** What is kept, unless it is due or refused. The service is not asked. */
  readonly find: (refused: string | undefined) => Effect.Effect<Usable | undefined, CredentialsError>
  /** Writes the tokens that could not be written. */
  readonly flush: Effect.Effect<void, CredentialsError>
  /** Whether there are such. */
  readonly isUnsaved: () => boolean
  /** Whether a refresh token is being spent, or what it brought is being written. */
  readonly isOut: () => boolean
  /** The record as it was read or written last. */
  readonly last: () => Account | undefined
}

/** Tokens are renewed so long before they expire, in milliseconds, or at half of their life if that is later. */
const marginMillis = 60_000

/** Pauses in milliseconds between attempts to write tokens. */
const rewritePauses = [100, 400]

/** A secret as text; empty where there is none. */
export const plain = (secret: Redacted.Redacted | undefined): string =>
  secret === undefined ? "" : Redacted.value(secret)

/** Where there is nothing to renew with, tokens are used until the service refuses them. */
const dueAt = ({ expiresAt, refreshToken, renewedAt }: OAuth2Tokens): number =>
  refreshToken === undefined ? Infinity : expiresAt - Math.min(marginMillis, Math.max(0, expiresAt - renewedAt) / 2)

/** Makes them. */
export const make = ({ app: given, baseUrl, keeping, refresh }: Environment): Renewal => {
  const { lock, name, probe, read, write } = keeping
  let last: Account | undefined
  let isOut = false
  /**
   * Tokens that the service gave and no store has, and the refresh token that was spent on them. They give way to another login,
   * and where the account was removed.
   */
  let unsaved: { readonly account: Account; readonly spent: string } | undefined
  /** The refresh token that may have been spent: the answer was lost. */
  let doubtful: string | undefined
  /** The refresh token that is of no use, and why. */
  let useless: { readonly refreshToken: string; readonly error: LoginRequired } | undefined

  const loginRequired = (reason: LoginRequired["reason"], detail?: string) =>
    new LoginRequired({ account: name, reason, detail })

  /** The record, and as a usable one unless it is due or refused. Tokens that wait to be written come before it. */
  const look = Effect.fnUntraced(function*(refused: string | undefined) {
    const waiting = unsaved
    const found = yield* Effect.result(read)
    // A write that failed may have torn the record: these tokens are all that is left of it.
    if (waiting !== undefined && Result.isFailure(found) && isDamage(found.failure)) {
      return { account: waiting.account, refreshToken: waiting.spent, usable: undefined }
    }
    const account = Option.getOrUndefined(yield* Effect.fromResult(found))
    last = unsaved = undefined
    if (account === undefined) return yield* loginRequired("absent")
    if (account.baseUrl !== baseUrl) {
      return yield* loginRequired("absent", `it is an account of ${account.baseUrl}, not of ${baseUrl}`)
    }
    const { oauth1, oauth2 } = account
    if (oauth2 === undefined && oauth1 === undefined) return yield* loginRequired("absent")
    last = account
    const refreshToken = plain(oauth2?.refreshToken)
    if (waiting?.spent === refreshToken) {
      unsaved = waiting
      return { account, refreshToken, usable: undefined }
    }
    const until = oauth2 === undefined ? Infinity : dueAt(oauth2)
    const isGood = plain(oauth2?.accessToken) !== refused && (yield* Clock.currentTimeMillis) < until
    return { account, refreshToken, usable: isGood || oauth2 === undefined ? { account, until } : undefined }
  })

  const settle = Effect.fnUntraced(
    function*(refused: string | undefined): Effect.fn.Return<Usable, CredentialsError> {
      const { refreshToken, usable } = yield* look(refused)
      if (usable !== undefined) return usable
      if (useless?.refreshToken === refreshToken) return yield* useless.error
      return yield* Effect.scoped(Effect.andThen(lock, renew(refused, 1)))
    }
  )

  /** The lock is held. */
  const renew = Effect.fnUntraced(
    function*(refused: string | undefined, attempt: number): Effect.fn.Return<Usable, CredentialsError> {
      const { account, refreshToken, usable } = yield* look(refused)
      if (usable !== undefined) return usable
      if (unsaved !== undefined) return yield* save(unsaved, refused)
      const { oauth2: tokens } = account
      const app = appOf(account)
      if (tokens?.refreshToken === undefined || app === undefined) return yield* loginRequired("not renewable")
      yield* probe(account)
      isOut = true
      const { scopes } = tokens
      const answer = yield* Effect.result(refresh({ app, refreshToken: tokens.refreshToken, scopes }))
      if (Result.isSuccess(answer)) {
        doubtful = undefined
        unsaved = { account: { ...account, oauth2: answer.success }, spent: refreshToken }
        return yield* save(unsaved, refused)
      }
      return yield* refusedWith(answer.failure, refreshToken, refused, attempt)
    },
    Effect.ensuring(Effect.sync(() => {
      isOut = false
    }))
  )

  /** There is no answer with tokens: somebody else may have them, or they can be had with another attempt. */
  const refusedWith = Effect.fnUntraced(function*(
    error: RequestError,
    spent: string,
    refused: string | undefined,
    attempt: number
  ): Effect.fn.Return<Usable, CredentialsError> {
    const isLost = error._tag === "OutcomeUnknown"
    if (isLost) doubtful = spent
    const { refreshToken, usable } = yield* look(refused)
    if (usable !== undefined) return usable
    const isOther = refreshToken !== spent
    if (attempt === 1 && (isOther || isLost || error._tag === "TransportFailure")) {
      const pause = isOther ? 0 : yield* Retry.pause(0, undefined)
      return yield* Effect.delay(renew(refused, 2), pause ?? 0)
    }
    if (!OAuth2.isTokenRefused(error)) return yield* withoutDoubt(error)
    const reason = doubtful === spent ? "lost" : "refused"
    useless = { refreshToken: spent, error: loginRequired(reason, error.detail ?? error.title) }
    return yield* useless.error
  })

  /** Makes tokens durable, unless those of somebody else are there: then these are used. */
  const save = (
    { account, spent }: NonNullable<typeof unsaved>,
    refused: string | undefined
  ): Effect.Effect<Usable, CredentialsError> => {
    const attempt = Effect.gen(function*() {
      const there = yield* look(refused)
      if (there.refreshToken !== spent) {
        return there.usable ?? { account: there.account, until: -Infinity }
      }
      yield* write(account)
      unsaved = undefined
      last = account
      return { account, until: account.oauth2 === undefined ? Infinity : dueAt(account.oauth2) }
    })
    return rewritePauses.reduce<Effect.Effect<Usable, CredentialsError>>(
      (attempts, pause) => Effect.catchTag(attempts, "TokenStoreFailure", () => Effect.delay(attempt, pause)),
      attempt
    )
  }

  /** An app without its secret is completed where the program has it. */
  const appOf = ({ app = given }: Account): App | undefined =>
    app?.clientSecret === undefined && app?.clientId === given?.clientId ? given : app

  return {
    settle,
    find: (refused) => Effect.map(look(refused), ({ usable }) => usable),
    flush: Effect.suspend(() =>
      unsaved === undefined ? Effect.void : Effect.scoped(Effect.andThen(lock, Effect.asVoid(save(unsaved, undefined))))
    ),
    isUnsaved: () => unsaved !== undefined,
    isOut: () => isOut,
    last: () => last
  }
}

const isDamage = ({ fault }: TokenStoreFailure): boolean => fault === "damaged"

/** The error of a renewal as calls have it: that one is in doubt is not for them to clear up. */
const withoutDoubt = (error: RequestError): CredentialsError => {
  switch (error._tag) {
    case "OutcomeUnknown": {
      const { cause, operation, reason } = error
      return cause instanceof ServerFailure || cause instanceof UnexpectedStatus
        ? cause
        : new TransportFailure({ operation, phase: "unknown", reason, cause })
    }
    case "UndecodableResponse":
      return new TransportFailure({ operation: error.operation, phase: "unknown", reason: error.reason })
    default:
      return error
  }
}
