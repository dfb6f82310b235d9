/**
 * Refreshes the tokens of an account: reads its record, and requests new tokens when they are due. Of all clients that share a
 * store, one does so at a time.
 *
 * A refresh token can be used once. So new tokens are durable before they are used, and are kept in memory while no store accepts
 * them.
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
  type StorageFailure,
  TransportFailure,
  UnexpectedStatus
} from "../../errors/Errors.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import type { Account, App, OAuth2Tokens } from "../Account.ts"
import * as OAuth2 from "../OAuth2.ts"

/** The storage of an account's record. */
export interface Keeping {
  /** The name of the account; empty if it is in no store. */
  readonly name: string
  readonly read: Effect.Effect<Option.Option<Account>, StorageFailure>
  /** When it ends, the record is durable. */
  readonly write: (account: Account) => Effect.Effect<void, StorageFailure>
  /** Fails if the record cannot be written. Runs before a refresh token is spent. */
  readonly probe: (account: Account) => Effect.Effect<void, StorageFailure>
  readonly lock: Effect.Effect<void, StorageFailure, Scope.Scope>
}

/** The errors of a token request with checked settings. */
export type RequestError = Exclude<OAuth2.RequestError, { readonly _tag: "InvalidSettings" }>

/** The environment of token refreshes. */
export interface Environment {
  readonly keeping: Keeping
  /** The service of the client. */
  readonly baseUrl: string
  /** Supplies the app's secret if the record has none. */
  readonly app: App | undefined
  /** Sends one request. */
  readonly refresh: (
    request: Pick<OAuth2.Refresh, "app" | "refreshToken" | "scopes">
  ) => Effect.Effect<OAuth2Tokens, RequestError>
}

/** An account with valid tokens, and the wall clock time until which the record need not be read again. */
export interface Usable {
  readonly account: Account
  readonly until: number
}

/** The record of an account; `usable` unless its tokens have to be refreshed. */
interface Found {
  readonly account: Account
  readonly refreshToken: string
  readonly usable: Usable | undefined
}

/** Milliseconds before their expiry at which tokens are refreshed, unless half of their life is later. */
const marginMillis = 60_000

/** The age of a check of the lock at which it is repeated, in milliseconds: half of the default lease. */
const checkMillis = 5_000

/** A store that always takes so long is trusted after this many checks. */
const maxChecks = 3

/** Pauses between attempts to write tokens, in milliseconds. */
const rewritePauses = [100, 400]

/** A secret as text; empty without one. */
export const plain = (secret: Redacted.Redacted | undefined): string =>
  secret === undefined ? "" : Redacted.value(secret)

/** Tokens without a refresh token are used until the service refuses them. */
const dueAt = ({ expiresAt, refreshToken, renewedAt }: OAuth2Tokens): number =>
  refreshToken === undefined ? Infinity : expiresAt - Math.min(marginMillis, Math.max(0, expiresAt - renewedAt) / 2)

/**
 * Tokens that no store has accepted yet, and the refresh token that was spent on them. They are dropped after another sign-in, and
 * when the account is removed.
 */
interface Unsaved {
  readonly account: Account
  readonly spent: string
}

/** The token refreshes of one client, for one fiber at a time. */
export class TokenRefresh {
  readonly #environment: Environment
  /** The record as last read or written. */
  last: Account | undefined
  /** A refresh token is being spent, or the tokens that it brought are being written. */
  isSent = false
  #unsaved: Unsaved | undefined
  /** A refresh token that may have been spent: the response was lost. */
  #doubtful: string | undefined
  /** A dead refresh token. */
  #dead: { readonly refreshToken: string; readonly error: LoginRequired } | undefined

  constructor(environment: Environment) {
    this.#environment = environment
  }

  get isUnsaved(): boolean {
    return this.#unsaved !== undefined
  }

  /** Returns the stored tokens, or refreshes them when they are due or when the service refused their access token. */
  settle(refused: string | undefined): Effect.Effect<Usable, CredentialsError> {
    return Effect.gen({ self: this }, function*() {
      const { refreshToken, usable } = yield* this.#look(refused)
      if (usable !== undefined) return usable
      if (this.#dead?.refreshToken === refreshToken) return yield* this.#dead.error
      return yield* Effect.scoped(Effect.andThen(this.#environment.keeping.lock, this.#refresh(refused, 1)))
    })
  }

  /** Returns the stored tokens unless they are due or refused, without a request. */
  find(refused: string | undefined): Effect.Effect<Usable | undefined, CredentialsError> {
    return Effect.map(this.#look(refused), ({ usable }) => usable)
  }

  /** Writes tokens that could not be written before. */
  get flush(): Effect.Effect<void, CredentialsError> {
    return Effect.suspend(() =>
      this.#unsaved === undefined
        ? Effect.void
        : Effect.scoped(
          Effect.andThen(this.#environment.keeping.lock, Effect.asVoid(this.#save(this.#unsaved, undefined)))
        )
    )
  }

  /** Reads the record; it is usable unless its tokens have to be refreshed. Unsaved tokens take precedence. */
  #look(refused: string | undefined): Effect.Effect<Found, CredentialsError> {
    return Effect.gen({ self: this }, function*() {
      const unsaved = this.#unsaved
      const found = yield* Effect.result(this.#environment.keeping.read)
      // A failed write may have torn the record: only these tokens are left of it.
      if (unsaved !== undefined && Result.isFailure(found) && isDamage(found.failure)) {
        return { account: unsaved.account, refreshToken: unsaved.spent, usable: undefined }
      }
      const read = Option.getOrUndefined(yield* Effect.fromResult(found))
      this.last = this.#unsaved = undefined
      const account = this.last = yield* this.#check(read)
      const refreshToken = plain(account.oauth2?.refreshToken)
      if (unsaved?.spent === refreshToken) {
        this.#unsaved = unsaved
        return { account, refreshToken, usable: undefined }
      }
      const { oauth2 } = account
      if (oauth2 === undefined) return { account, refreshToken, usable: { account, until: Infinity } }
      const until = dueAt(oauth2)
      const isGood = plain(oauth2.accessToken) !== refused && (yield* Clock.currentTimeMillis) < until
      return { account, refreshToken, usable: isGood ? { account, until } : undefined }
    })
  }

  /** Checks that a record has tokens of this service. */
  #check(account: Account | undefined): Effect.Effect<Account, LoginRequired> {
    const { baseUrl } = this.#environment
    if (account === undefined) return Effect.fail(this.#loginRequired("absent"))
    if (account.baseUrl !== baseUrl) {
      return Effect.fail(this.#loginRequired("absent", `it is an account of ${account.baseUrl}, not of ${baseUrl}`))
    }
    return account.oauth2 === undefined && account.oauth1 === undefined
      ? Effect.fail(this.#loginRequired("absent"))
      : Effect.succeed(account)
  }

  /** Refreshes the tokens under the lock, unless another process has. */
  #refresh(refused: string | undefined, attempt: number): Effect.Effect<Usable, CredentialsError> {
    const { app: given, keeping, refresh } = this.#environment
    return Effect.gen({ self: this }, function*() {
      const { account, refreshToken, usable } = yield* this.#look(refused)
      if (usable !== undefined) return usable
      if (this.#unsaved !== undefined) return yield* this.#save(this.#unsaved, refused)
      const { oauth2: tokens } = account
      const app = withSecret(account.app, given)
      if (tokens?.refreshToken === undefined || app === undefined) return yield* this.#loginRequired("not renewable")
      yield* lately(keeping.probe(account))
      this.isSent = true
      const response = yield* Effect.result(refresh({ app, refreshToken: tokens.refreshToken, scopes: tokens.scopes }))
      if (Result.isFailure(response)) return yield* this.#failed(response.failure, refreshToken, refused, attempt)
      this.#doubtful = undefined
      this.#unsaved = { account: { ...account, oauth2: response.success }, spent: refreshToken }
      return yield* this.#save(this.#unsaved, refused)
    }).pipe(
      Effect.ensuring(Effect.sync(() => {
        this.isSent = false
      }))
    )
  }

  /** Handles a request without tokens: another process may have refreshed, or a second attempt may help. */
  #failed(
    error: RequestError,
    spent: string,
    refused: string | undefined,
    attempt: number
  ): Effect.Effect<Usable, CredentialsError> {
    return Effect.gen({ self: this }, function*() {
      const isLost = error._tag === "OutcomeUnknown"
      if (isLost) this.#doubtful = spent
      const { refreshToken, usable } = yield* this.#look(refused)
      if (usable !== undefined) return usable
      const isOther = refreshToken !== spent
      if (attempt === 1 && (isOther || isLost || error._tag === "TransportFailure")) {
        const pause = isOther ? 0 : yield* Retry.pause(0, undefined)
        return yield* Effect.delay(this.#refresh(refused, 2), pause ?? 0)
      }
      if (!OAuth2.isTokenRefused(error)) return yield* withoutDoubt(error)
      const reason = this.#doubtful === spent ? "lost" : "refused"
      this.#dead = { refreshToken: spent, error: this.#loginRequired(reason, error.detail ?? error.title) }
      return yield* this.#dead.error
    })
  }

  /** Makes tokens durable. If the store has other tokens by now, those are used instead. */
  #save(
    { account, spent }: Unsaved,
    refused: string | undefined
  ): Effect.Effect<Usable, CredentialsError> {
    const attempt = Effect.gen({ self: this }, function*() {
      const there = yield* this.#look(refused)
      if (there.refreshToken !== spent) return there.usable ?? { account: there.account, until: -Infinity }
      yield* this.#environment.keeping.write(account)
      this.#unsaved = undefined
      this.last = account
      return { account, until: account.oauth2 === undefined ? Infinity : dueAt(account.oauth2) }
    })
    return rewritePauses.reduce<Effect.Effect<Usable, CredentialsError>>(
      (attempts, pause) => Effect.catchTag(attempts, "StorageFailure", () => Effect.delay(attempt, pause)),
      attempt
    )
  }

  #loginRequired(reason: LoginRequired["reason"], detail?: string): LoginRequired {
    return new LoginRequired({ account: this.#environment.keeping.name, reason, detail })
  }
}

/** Repeats a check that ended long after it began: a process that stood still may have lost the lock meanwhile. */
const lately = <E>(check: Effect.Effect<void, E>): Effect.Effect<void, E> =>
  Effect.gen(function*() {
    for (let attempt = 1; attempt <= maxChecks; attempt++) {
      const begun = yield* Monotonic.millis
      yield* check
      if ((yield* Monotonic.millis) - begun < checkMillis) return
    }
  })

/** The app of a record, with the secret that the program has for it. */
const withSecret = (app: App | undefined, given: App | undefined): App | undefined =>
  app === undefined || app.clientSecret === undefined && app.clientId === given?.clientId ? given : app

const isDamage = ({ fault }: StorageFailure): boolean => fault === "damaged"

/** The error of a refresh for callers, who cannot resolve an unknown outcome. */
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
