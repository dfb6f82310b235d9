/** Checks the accounts: whether they work, their permissions, and which one is used. */
import * as Account from "@postwire/core/accounts/Account"
import * as AccountCredentials from "@postwire/core/accounts/AccountCredentials"
import * as Client from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { type Store, TokenStore } from "@postwire/core/storage/TokenStore"
import type * as Wire from "@postwire/core/wire/Wire"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Chosen } from "../connection/Accounts.ts"
import * as AccountView from "../connection/AccountView.ts"
import * as RequestedScopes from "../login/RequestedScopes.ts"
import { statementOf } from "../terminal/ErrorReport.ts"
import { type Check, faulty, result } from "./Check.ts"
import { ofMe } from "./Credentials.ts"
import { rateLimitChecks } from "./RateLimits.ts"

export interface Known {
  readonly store: Store
  readonly chosen: Option.Option<Chosen>
}

interface Service {
  readonly baseUrl: string
  readonly wire: Wire.Wire
  readonly http: Layer.Layer<HttpClient>
  readonly isThere: boolean
}

/** Shows the account or the credentials in use. `others` are variables with credentials. */
export const speakerCheck = Effect.fnUntraced(function*(
  { chosen, store }: Known,
  others: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<Check>> {
  if (Option.isSome(chosen)) {
    const { because, name } = chosen.value
    return [
      result(
        "credentials",
        "ok",
        `Commands use account "${name}": ${because === "default" ? "it is the default" : `as ${because} says`}`,
        others.length === 0
          ? "--account NAME, or POSTWIRE_ACCOUNT, chooses another."
          : `${others.join(", ")} from the environment ${others.length === 1 ? "is" : "are"} not used.`,
        { account: name, because }
      )
    ]
  }
  const [first] = others
  const names = yield* Effect.orElseSucceed(store.names, () => [])
  return first === undefined || names.length === 0
    ? []
    : [
      result(
        "credentials",
        "info",
        `Commands use ${first} from the environment, and no account`,
        "--account NAME, or POSTWIRE_ACCOUNT, chooses one.",
        { variables: others }
      )
    ]
})

/** Checks every account: whether it works, its expiry, permissions and rate limits. Expired tokens are refreshed. */
export const accountChecks = Effect.fnUntraced(function*(
  { chosen, store }: Known,
  service: Service
): Effect.fn.Return<ReadonlyArray<Check>> {
  const names = yield* Effect.result(store.names)
  if (names._tag === "Failure") return [unreadable(Option.isSome(chosen), names.failure)]
  const checks = yield* Effect.forEach(names.success, (name) => {
    const isUsed = Option.exists(chosen, (account) => account.name === name)
    return Effect.catch(
      checksOf(store, name, isUsed, service),
      (error) => Effect.succeed([unreadable(isUsed, error)])
    )
  })
  return checks.flat()
})

const unreadable = (isUsed: boolean, error: Error): Check => faulty("account", isUsed ? "bad" : "warning", error)

const checksOf = Effect.fnUntraced(function*(store: Store, name: string, isUsed: boolean, service: Service) {
  const before = Option.getOrThrow(yield* Account.read(store, name))
  const isElsewhere = before.baseUrl !== service.baseUrl
  const { problem, usages } = isElsewhere || !service.isThere ? untried : yield* tried(store, name, before, service)
  // The token may have been refreshed.
  const account = Option.getOrElse(yield* Account.read(store, name), () => before)
  const view = AccountView.make(name, account, isUsed)
  const now = yield* Clock.currentTimeMillis
  const lacking = account.oauth2 === undefined ? [] : RequestedScopes.missingFor(account.oauth2.scopes)
  const check = (status: Check["status"], found: ReadonlyArray<string>, advice: string): ReadonlyArray<Check> => [
    result(
      "account",
      status,
      [`${name} is ${AccountView.userOf(view)} with ${view.kinds.join(" and ")}`, ...found].join("; "),
      advice,
      { ...view, lacking: lacking.map(({ name }) => name) }
    ),
    ...rateLimitChecks(usages, now, name)
  ]
  const times = view.expiresAt === undefined
    ? ["it does not expire"]
    : [`expires ${AccountView.expiryOf(view, now)}, refreshed ${AccountView.renewedOf(view, now)}`]
  if (isElsewhere) return check("info", [`it is for ${before.baseUrl}, so it was not tried`], "It is used only there.")
  if (!service.isThere) return check("info", [...times, "not tried"], "Run doctor again when the service responds.")
  if (problem !== undefined) {
    return check(isUsed ? "bad" : "warning", [`it does not work: ${problem}`], `Sign in again: postwire login ${name}`)
  }
  return lacking.length === 0
    ? check("ok", ["it works", ...times], "All scopes that the client can use were granted.")
    : check(
      "ok",
      ["it works", ...times],
      `It cannot call ${listed(lacking.map(({ name }) => name))}; postwire login ${name} --for ${
        lacking[0]?.name
      } adds that.`
    )
})

/** The most operations named. */
const shown = 4

const listed = (names: ReadonlyArray<string>): string =>
  names.length <= shown ? names.join(", ") : `${names.slice(0, shown).join(", ")} and ${names.length - shown} more`

/** The problem, without the account and the advice, which are shown beside it. */
const reasonOf = (error: AnyError): string =>
  error._tag === "LoginRequired"
    ? statementOf(error).replace(/^Account "[^"]*" has to sign in again: /, "")
    : error.message

interface Tried {
  /** The reason why it cannot be used, from the service. */
  readonly problem: string | undefined
  readonly usages: ReadonlyArray<RateLimit.Usage>
}

const untried: Tried = { problem: undefined, usages: [] }

const tried = (store: Store, name: string, account: Account.Account, { baseUrl, http, wire }: Service) =>
  Effect.gen(function*() {
    const kinds = [...account.oauth2 === undefined ? [] : [false], ...account.oauth1 === undefined ? [] : [true]]
    let problem: string | undefined
    for (const userAuth of kinds) {
      const me = yield* ofMe(userAuth)
      if (me._tag === "Success") continue
      problem = reasonOf(me.failure)
      break
    }
    return { problem, usages: yield* RateLimit.snapshot }
  }).pipe(
    Effect.provide(
      Client.layer({ baseUrl, wire }).pipe(
        Layer.provide([
          AccountCredentials.layer({ baseUrl, wire, account: name }).pipe(
            Layer.provide([http, Layer.succeed(TokenStore, store)])
          ),
          NodeCrypto.layer,
          http
        ]),
        // Separate, so that each account's rate limits can be distinguished.
        Layer.provideMerge(Layer.fresh(RateLimit.layerFail))
      )
    ),
    Effect.catchTag(
      "InvalidSettings",
      ({ message }): Effect.Effect<Tried> => Effect.succeed({ problem: message, usages: [] })
    )
  )
