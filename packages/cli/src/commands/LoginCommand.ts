/** `postwire login`: signs a user in, and saves the tokens as an account. */
import * as Account from "@postwire/core/accounts/Account"
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import * as Client from "@postwire/core/client/Client"
import { getMe } from "@postwire/core/operations/Users"
import type { Scope } from "@postwire/core/schema/Scopes"
import * as NodeClient from "@postwire/node/NodeClient"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Accounts from "../connection/Accounts.ts"
import * as AccountView from "../connection/AccountView.ts"
import * as Connection from "../connection/Connection.ts"
import * as Variables from "../connection/Variables.ts"
import * as Redirect from "../login/Redirect.ts"
import * as RequestedScopes from "../login/RequestedScopes.ts"
import * as SaveAccount from "../login/SaveAccount.ts"
import * as SignIn from "../login/SignIn.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const flags = {
  name: Argument.String("name").pipe(
    Argument.withDescription("Name of the account (default: the username)"),
    Argument.optional
  ),
  operations: Args.text(
    "for",
    "Request the scopes of these operations, or of mcp:read or mcp:write (default: all that the client can use)",
    "OPERATION,..."
  ),
  scopes: Args.text("scopes", "Request these scopes, such as bookmark.read", "SCOPE,..."),
  headless: Args.toggle("headless", "Use a browser elsewhere, and paste its last address"),
  pin: Args.toggle("pin", "Sign in with OAuth 1.0a and a PIN; added to what the account has"),
  clientId: Args.text("client-id", "The app (default: POSTWIRE_CLIENT_ID, else that of the account)", "ID"),
  redirect: Args.text(
    "redirect",
    "A redirect address of the app, exactly (default: http://localhost:8080/callback)",
    "ADDRESS"
  ),
  replace: Args.toggle("replace", "Replace the account, even if it belongs to another user"),
  json: Report.json,
  wire: Connection.wire,
  tokenStore: Accounts.storeFlag,
  credentials: Variables.flag
}

export const command = Command.make("login", flags, (given) => run(given)).pipe(
  Args.help(
    "Sign a user in with OAuth 2.0 and save the tokens as an account, which is refreshed automatically. The app's secret is read " +
      "from POSTWIRE_CLIENT_SECRET or the file of --credentials.",
    lines.login,
    {
      "postwire login": "In the browser of this machine, with all scopes",
      "postwire login ada --for createPost,getBookmarks": "For these operations only",
      "postwire login ada --headless": "On a machine without a browser"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  yield* ErrorReport.oneOf({ "--headless": flags.headless, "--pin": flags.pin })
  const name = yield* Effect.transposeOption(Option.map(flags.name, Account.checkName))
  const places = yield* Variables.places(flags.credentials)
  const variables = Variables.all(places)
  const store = yield* Accounts.open(flags.tokenStore, variables)
  const before = Option.flatten(
    yield* Effect.transposeOption(Option.map(name, (name) => SaveAccount.before(store, name)))
  )
  const settings = yield* settingsOf(flags, variables, before)
  const login: Login = { flags, name, variables, store, before, settings }
  const { account, name: kept } = yield* (flags.pin ? withPin(login) : withOAuth2(login)).pipe(
    Effect.provide(UndiciHttpClient.layer({ connectTimeout: 10_000 }))
  )
  const isDefault = Option.contains(yield* Accounts.defaultOf(store), kept)
  const view = AccountView.make(kept, account, isDefault)
  const now = yield* Clock.currentTimeMillis
  yield* Report.print(flags.json, view, () => linesOf(view, now, flags.pin))
  // The user wants to use the account, but something else may take precedence.
  yield* Accounts.noteOtherDefault(kept, places, store)
}, Effect.scoped)

interface Login {
  readonly flags: Flags
  readonly name: Option.Option<string>
  readonly variables: Variables.Variables
  readonly store: Accounts.Place
  readonly before: Option.Option<Account.Account>
  readonly settings: OAuth2.Settings & { readonly baseUrl: string }
}

/** The service: that of the environment, or else of the account. */
const settingsOf = Effect.fnUntraced(function*(
  flags: Flags,
  variables: Variables.Variables,
  before: Login["before"]
) {
  const given = NodeClient.fromEnvironment(variables)
  const wire = yield* NodeClient.wireOf({ wire: Option.getOrElse(flags.wire, () => given.wire) })
  const { baseUrl } = yield* Client.check({
    baseUrl: given.baseUrl ?? Option.getOrUndefined(Option.map(before, ({ baseUrl }) => baseUrl)),
    wire
  })
  return { baseUrl, wire }
})

/** The app to sign in to. A secret belongs to one app only. */
const appOf = ({ before, flags, variables }: Login): Effect.Effect<Account.App, ErrorReport.Failure> => {
  const known = Option.getOrUndefined(Option.flatMapNullishOr(before, ({ app }) => app))
  const clientId = Option.getOrUndefined(flags.clientId) ?? Variables.valueOf(variables, "POSTWIRE_CLIENT_ID") ??
    known?.clientId
  if (clientId === undefined) {
    return ErrorReport.refuse(
      "There is no client id of an app to sign in to",
      "Set POSTWIRE_CLIENT_ID, or pass --client-id: the service's console shows it (postwire sandbox prints one)."
    )
  }
  const secret = Variables.valueOf(variables, "POSTWIRE_CLIENT_SECRET")
  const clientSecret = secret === undefined
    ? known?.clientId === clientId ? known.clientSecret : undefined
    : Redacted.make(secret)
  return Effect.succeed({ clientId, ...clientSecret === undefined ? {} : { clientSecret } })
}

const withOAuth2 = Effect.fnUntraced(function*(login: Login) {
  const { before, flags, name, settings, store, variables } = login
  const granted = Option.match(before, { onNone: () => [], onSome: ({ oauth2 }) => oauth2?.scopes ?? [] })
  const scopes = yield* RequestedScopes.ofFlags(flags, granted)
  const app = yield* appOf(login)
  const redirect = Option.getOrElse(flags.redirect, () => Redirect.usual(settings.baseUrl))
  yield* Redirect.check(redirect, !flags.headless)
  const authorization = yield* OAuth2.authorize({ ...settings, app, redirectUri: redirect, scopes })
  const finish = Effect.fnUntraced(function*(address: string) {
    const code = yield* OAuth2.callback(address, authorization)
    const { verifier } = authorization
    const tokens = yield* OAuth2.exchange({ ...settings, app, code, verifier, redirectUri: redirect, scopes }).pipe(
      Effect.catchTag("BadRequest", (error) => SignIn.codeRefused("code", error))
    )
    const kept = yield* SaveAccount.save(store, name, {
      signedIn: Effect.map(
        userOf(settings, tokens),
        (user) => ({ app, baseUrl: settings.baseUrl, user, oauth2: tokens })
      ),
      revoke: OAuth2.revoke({ ...settings, timeout, app, ...SaveAccount.revocable(tokens) })
    }, flags.replace)
    yield* noteMissingScopes(scopes, tokens.scopes)
    return kept
  })
  return yield* flags.headless
    ? SignIn.byAddress(authorization, redirect, finish)
    : SignIn.byBrowser(authorization, redirect, variables, finish, ({ account }) => AccountView.userOf(account))
})

/** How long a failed command waits for the service, in milliseconds. */
const timeout = 5_000

const userOf = Effect.fnUntraced(function*(settings: Login["settings"], { accessToken }: Account.OAuth2Tokens) {
  const { data } = yield* getMe({ user_auth: false }).pipe(
    Effect.provide(
      NodeClient.layer({ baseUrl: settings.baseUrl, wire: settings.wire?.name, bearerToken: accessToken })
    )
  )
  // A service may omit members that its document promises.
  return !data?.id || !data.username
    ? yield* ErrorReport.refuse("The service did not return the user", "Try again later; nothing was saved.")
    : { id: data.id, username: data.username }
})

const withPin = Effect.fnUntraced(function*(login: Login) {
  const { before, flags, name, settings, store, variables } = login
  const { clientId, operations, redirect, scopes } = flags
  for (const [flag, given] of Object.entries({ "client-id": clientId, for: operations, redirect, scopes })) {
    if (Option.isSome(given)) {
      return yield* ErrorReport.refuse(
        `--pin and --${flag} contradict each other`,
        "OAuth 1.0a has no scopes: the app's permissions are set in the service's console."
      )
    }
  }
  const consumerKey = Variables.valueOf(variables, "POSTWIRE_CONSUMER_KEY")
  const consumerSecret = Variables.valueOf(variables, "POSTWIRE_CONSUMER_SECRET")
  const consumer = consumerKey === undefined && consumerSecret === undefined
    ? Option.getOrElse(Option.flatMapNullishOr(before, ({ oauth1 }) => oauth1), () => ({}))
    : { consumerKey, consumerSecret }
  const { tokens, user } = yield* SignIn.byPin(settings, consumer, variables)
  return yield* SaveAccount.save(store, name, {
    signedIn: Effect.succeed({ baseUrl: settings.baseUrl, user, oauth1: tokens }),
    revoke: OAuth1Login.invalidate({ ...settings, timeout, tokens })
  }, flags.replace)
})

const noteMissingScopes = (asked: ReadonlyArray<Scope>, granted: ReadonlyArray<Scope>) => {
  const missing = asked.filter((scope) => !granted.includes(scope))
  return missing.length === 0 ? Effect.void : Report.say(`The service did not grant ${missing.join(", ")}.`)
}

const linesOf = (view: AccountView.View, now: number, isPin: boolean): ReadonlyArray<string> => {
  const { app, isDefault, isRenewable, name, scopes = [] } = view
  return [
    `${AccountView.userOf(view)} is signed in${isPin ? " with OAuth 1.0a" : ""}. The account is "${name}"${
      isDefault ? ", the default" : ""
    }.`,
    ...isPin ? [] : [
      `  app      ${app}`,
      ...Text.wrap(AccountView.scopesOf(scopes), 80 - 11).map((line, i) =>
        `  ${i === 0 ? "scopes " : "       "}  ${line}`
      ),
      `  expires  ${AccountView.expiryOf(view, now)}${
        isRenewable === true
          ? ", and is refreshed automatically"
          : "; then sign in again (offline.access was not granted)"
      }`
    ]
  ]
}
