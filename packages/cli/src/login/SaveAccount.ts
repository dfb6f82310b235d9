/** Saves a sign-in as an account. */
import * as Account from "@postwire/core/accounts/Account"
import type { Store } from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Accounts from "../connection/Accounts.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"

export interface SignedIn extends Pick<Account.Account, "app" | "baseUrl" | "oauth1" | "oauth2"> {
  readonly user: NonNullable<Account.Account["user"]>
}

/** The account with a name; `None` if it is damaged, since a login replaces it. */
export const before = (store: Store, name: string) =>
  Effect.catchIf(
    Account.read(store, name),
    (error) => error.fault === "damaged",
    () => Effect.succeedNone
  )

/** The token whose revocation ends the whole grant. */
export const revocable = ({ accessToken, refreshToken }: Account.OAuth2Tokens) => ({
  token: refreshToken ?? accessToken,
  kind: refreshToken && "refresh_token" as const
})

/** A grant: the effect that finds its user, and the one that revokes it. */
export interface Grant<E, R, R2> {
  readonly signedIn: Effect.Effect<SignedIn, E, R>
  readonly revoke: Effect.Effect<unknown, unknown, R2>
}

/**
 * Saves a grant as an account, or revokes it if that fails or is interrupted; returns the name and the record of the account. The
 * record keeps tokens of the other kind if they belong to the same user.
 */
export const save = Effect.fnUntraced(function*<E, R, R2>(
  store: Accounts.Place,
  given: Option.Option<string>,
  grant: Grant<E, R, R2>,
  isReplaced: boolean
) {
  const { account, current, name, others, signedIn } = yield* Effect.scoped(
    // A login that is interrupted during the write keeps the account: revoking its grant would leave an account without access.
    Effect.uninterruptibleMask((restore) =>
      restore(Effect.flatMap(grant.signedIn, (signedIn) => prepare(store, given, signedIn, isReplaced))).pipe(
        Effect.tap(({ account, name }) => Account.write(store, name, account)),
        Effect.onError(() => Effect.ignore(grant.revoke))
      )
    )
  )
  yield* noteEndedLogins(store, others, signedIn)
  // If this fails, the first account is still the default while it is the only one.
  yield* Effect.ignore(Accounts.makeDefault(store, Option.getOrElse(current, () => name)))
  return { name, account }
})

/** Locks the account; returns its name and new record, and the names of the other accounts. */
const prepare = Effect.fnUntraced(function*(
  store: Accounts.Place,
  given: Option.Option<string>,
  signedIn: SignedIn,
  isReplaced: boolean
) {
  const { user } = signedIn
  const name = Option.getOrElse(given, () => user.username)
  const isOther = (record: Account.Account) =>
    record.baseUrl !== signedIn.baseUrl || record.user !== undefined && record.user.id !== user.id
  // Asked before the lock is taken, so that other processes do not wait for the user.
  const seen = yield* before(store, name)
  if (Option.isSome(seen) && isOther(seen.value) && !isReplaced) {
    const [has, came] = [whoOf(seen.value, signedIn.baseUrl), whoOf(signedIn, seen.value.baseUrl)]
    if (!(yield* Prompt.confirm(`Account "${name}" is ${has}. Replace it with ${came}?`))) {
      return yield* ErrorReport.refuse(
        `Account "${name}" is ${has}, and ${came} signed in`,
        "Pass another name, or --replace to assign it to the user who signed in. The new grant was revoked."
      )
    }
  }
  const names = yield* store.names
  const current = names.length === 0 ? Option.none() : yield* Accounts.defaultOf(store)
  yield* store.lock(name)
  const there = Option.filter(yield* before(store, name), (record) => !isOther(record))
  const account: Account.Account = { ...Option.getOrUndefined(there), version: 1, ...signedIn }
  return { account, current, name, others: names.filter((other) => other !== name), signedIn }
})

/** Notes that the service ends an earlier login of the same user and app, even if it is in another account. */
const noteEndedLogins = Effect.fnUntraced(function*(store: Store, others: ReadonlyArray<string>, signedIn: SignedIn) {
  if (signedIn.oauth2 === undefined) return
  for (const other of others) {
    const there = yield* Effect.orElseSucceed(Account.read(store, other), () => Option.none<Account.Account>())
    if (
      Option.exists(
        there,
        ({ app, baseUrl, oauth2, user }) =>
          oauth2 !== undefined && app?.clientId === signedIn.app?.clientId && baseUrl === signedIn.baseUrl &&
          user?.id === signedIn.user.id
      )
    ) {
      yield* Report.say(
        `Account "${other}" is the same user with the same app: the service ends its login.`,
        `One account is enough; postwire logout ${other} removes it.`
      )
    }
  }
})

const whoOf = ({ baseUrl, user }: Pick<Account.Account, "baseUrl" | "user">, other: string): string =>
  `${user === undefined ? "another user" : `@${user.username}`}${baseUrl === other ? "" : ` of ${baseUrl}`}`
