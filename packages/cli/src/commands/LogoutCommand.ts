/** `postwire logout`: revokes the grant of an account, and removes the account. */
import type { Account } from "@postwire/core/accounts/Account"
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import * as NodeClient from "@postwire/node/NodeClient"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Accounts from "../connection/Accounts.ts"
import * as AccountView from "../connection/AccountView.ts"
import * as Variables from "../connection/Variables.ts"
import * as SaveAccount from "../login/SaveAccount.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "logout",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the account (default: POSTWIRE_ACCOUNT, else the default account)"),
      Argument.optional
    ),
    force: Args.toggle("force", "Remove the account here, even if the service cannot revoke it"),
    tokenStore: Accounts.storeFlag,
    credentials: Variables.flag
  },
  Effect.fnUntraced(function*({ credentials, force, name: given, tokenStore }) {
    const variables = Variables.all(yield* Variables.places(credentials))
    const store = yield* Accounts.open(tokenStore, variables)
    const named = Option.orElse(given, () => Option.fromUndefinedOr(Variables.valueOf(variables, Accounts.variable)))
    const name = Option.isSome(named) ? named : yield* Accounts.defaultOf(store)
    if (Option.isNone(name)) {
      return yield* ErrorReport.refuse("No account to sign out of", "Name one: postwire accounts lists them.")
    }
    const find = readable(store, name.value)
    yield* find
    const account = yield* Effect.scoped(Effect.gen(function*() {
      // A concurrent refresh would restore the account.
      yield* store.lock(name.value)
      const account = yield* find
      yield* revoke(account, variables).pipe(
        Effect.catch((error) =>
          force
            ? Report.insist(`The grant could not be revoked: ${error.message}`)
            : ErrorReport.refuse(
              `Account "${name.value}" is kept, since its grant could not be revoked: ${
                ErrorReport.statementOf(error)
              }`,
              "Try again later, or remove it only here with --force; the grant stays valid at the service."
            )
        )
      )
      yield* store.write(name.value, undefined)
      return account
    }))
    const who = account === undefined ? "" : `${AccountView.userOf(account)} is signed out. `
    yield* Report.lines(`${who}The account "${name.value}" is removed.`)
  }, Effect.scoped)
).pipe(
  Args.help(
    "Sign out of an account: revoke its grant at the service, then remove it.",
    lines.logout
  )
)

/** The account, which has to exist; `undefined` if its record is damaged. */
const readable = (store: Accounts.Place, name: string) =>
  Effect.catchTag(
    Accounts.existing(store, name),
    "StorageFailure",
    (error) => error.fault === "damaged" ? Effect.undefined : error
  )

/** Revokes the grant of an account. A token that the service refuses is invalid already. */
const revoke = Effect.fnUntraced(function*(account: Account | undefined, variables: Variables.Variables) {
  if (account === undefined) return yield* ErrorReport.refuse("its record is damaged")
  const { app, baseUrl, oauth1, oauth2 } = account
  const { wire: name } = NodeClient.fromEnvironment(variables)
  const settings = { baseUrl, wire: yield* NodeClient.wireOf({ wire: name }) }
  const given = Accounts.appIn(variables)
  if (app !== undefined && oauth2 !== undefined) {
    yield* Effect.catchIf(
      OAuth2.revoke({
        ...settings,
        // The secret must be that of the same app.
        app: app.clientSecret === undefined && app.clientId === given?.clientId ? given : app,
        ...SaveAccount.revocable(oauth2)
      }),
      OAuth2.isTokenRefused,
      () => Effect.void
    )
  }
  if (oauth1 !== undefined) {
    yield* Effect.catchIf(
      OAuth1Login.invalidate({ ...settings, tokens: oauth1 }),
      OAuth1Login.isTokenRefused,
      () => Effect.void
    )
  }
}, Effect.provide(UndiciHttpClient.layer({ connectTimeout: 10_000 })))
