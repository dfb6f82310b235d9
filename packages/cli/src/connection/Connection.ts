/** The credentials of a command: an account, or those in the environment or a private file. */
import * as AccountCredentials from "@postwire/core/accounts/AccountCredentials"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { environmentVariable, type InvalidSettings, type StorageFailure } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { Logging } from "@postwire/core/runtime/Logging"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Spend from "@postwire/core/spend/Spend"
import type { Journal } from "@postwire/core/storage/Journal"
import { TokenStore } from "@postwire/core/storage/TokenStore"
import { names } from "@postwire/core/wire/Wire"
import * as NodeClient from "@postwire/node/NodeClient"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as Accounts from "./Accounts.ts"
import { isLoopback } from "./Loopback.ts"
import * as SpendAccount from "./SpendAccount.ts"
import * as Spending from "./Spending.ts"
import * as Variables from "./Variables.ts"

/** `--wire`, which overrides the environment. */
export const wire = Flag.Literals("wire", names).pipe(
  Args.optional("The service's field names (default: POSTWIRE_WIRE, else neutral)")
)

export const flags = { account: Accounts.flag, tokenStore: Accounts.storeFlag, credentials: Variables.flag }

/** Their values, `--max-spend` of commands that have it, the usual limits, and the longest wait for a rate limit, in milliseconds. */
export type Flags = Command.Command.Config.Infer<typeof flags> & {
  readonly maxSpend?: Option.Option<number>
  readonly usualLimits?: SpendAccount.Usual
  readonly maxWait?: number
}

/** The identity of a command. */
export interface Speaker {
  /** The variables with the settings of the account or the credentials. */
  readonly variables: Variables.Variables
  /** The account; `None` with other credentials, or without any. */
  readonly account: Option.Option<Accounts.Chosen>
  /** True to sign with OAuth 1.0a where an operation accepts both that and a bearer token. */
  readonly userAuth: boolean
  /** The secret of the app, with which the service signs deliveries of events. */
  readonly consumerSecret: Redacted.Redacted | undefined
  /** Opens the store of accounts. */
  readonly store: Effect.Effect<Accounts.Place, InvalidSettings | StorageFailure>
}

/** Resolves the identity of a command. The account's base URL applies if no other is set. */
export const speaker = Effect.fnUntraced(function*(
  { account: flag, credentials, tokenStore }: Flags
): Effect.fn.Return<Speaker, Accounts.AccountsError, FileSystem.FileSystem | Scope.Scope> {
  const places = yield* Variables.places(credentials)
  const variables = Variables.all(places)
  const store = yield* Effect.cached(Scope.provide(Accounts.open(tokenStore, variables), yield* Effect.scope))
  const account = yield* Accounts.choose(flag, places, store)
  const secret = Variables.valueOf(variables, environmentVariable("consumerSecret"))
  const consumerSecret = secret === undefined ? undefined : Redacted.make(secret)
  if (Option.isNone(account)) {
    const userAuth = Credentials.signing
      .every((name) => Variables.valueOf(variables, environmentVariable(name)) !== undefined)
    return { variables: { ...variables, [Accounts.variable]: undefined }, account, userAuth, consumerSecret, store }
  }
  const { name } = account.value
  const { baseUrl, oauth1 } = yield* Accounts.existing(yield* store, name)
  return {
    userAuth: oauth1 !== undefined,
    consumerSecret: oauth1?.consumerSecret ?? consumerSecret,
    variables: {
      ...variables,
      [Accounts.variable]: name,
      POSTWIRE_BASE_URL: Variables.valueOf(variables, "POSTWIRE_BASE_URL") ?? baseUrl
    },
    account,
    store
  }
})

/**
 * Provides a command with the client for its flags and environment. Waits for exhausted rate limits are shown; errors name the
 * place of the credentials.
 */
export const provide =
  (flags: Flags, wire: Option.Option<WireName> = Option.none()) => <A, E, R>(command: Effect.Effect<A, E, R>) =>
    use(flags, wire, () => command)

/** As `provide`, for a command that needs the identity. */
export const use = <A, E, R>(
  flags: Flags,
  wire: Option.Option<WireName>,
  command: (speaker: Speaker) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const { credentials } = flags
    const file = Option.isSome(credentials) ? yield* Variables.read(credentials.value) : {}
    const speaking = yield* speaker(flags)
    return yield* command(speaking).pipe(
      Effect.provide(layer(speaking, wire, flags)),
      ErrorReport.within({
        account: Option.getOrUndefined(Option.map(speaking.account, ({ name }) => name)),
        credentials: Option.getOrUndefined(Option.map(credentials, (path) => ({ path, names: Object.keys(file) })))
      })
    )
  }).pipe(Effect.scoped)

/** The journal of uploads and threads. */
export const layerJournal = (variables: Variables.Variables): Layer.Layer<Journal, InvalidSettings> =>
  NodeClient.layerJournal(NodeClient.fromEnvironment(variables))

const layer = (
  { account, store, variables }: Speaker,
  wire: Option.Option<WireName>,
  { maxSpend = Option.none(), maxWait, usualLimits }: Pick<Flags, "maxSpend" | "maxWait" | "usualLimits">
): Layer.Layer<Client.Client | Spend.Total, InvalidSettings | StorageFailure> =>
  Layer.unwrap(Effect.gen(function*() {
    const settings = { ...NodeClient.fromEnvironment(variables), ...Option.isSome(wire) && { wire: wire.value } }
    const service = { baseUrl: settings.baseUrl, wire: yield* NodeClient.wireOf(settings) }
    const http = UndiciHttpClient.layer()
    const credentials = Option.isNone(account)
      ? Credentials.layer(settings)
      : AccountCredentials.layer({ ...service, account: account.value.name, app: Accounts.appIn(variables) }).pipe(
        Layer.provide([http, Layer.effect(TokenStore, store)])
      )
    const rateLimit = RateLimit.layerWait({ maxWait }).pipe(Layer.provide(NodeClient.layerStore(settings)))
    const speak = yield* Report.speaker
    const isLocal = isLoopback(URL.parse(settings.baseUrl ?? "")?.hostname ?? "")
    const { unknown } = yield* SpendAccount.pricesOf(variables)
    const spending = Layer.succeed(Spending.IsLocal, isLocal).pipe(
      Layer.merge(Layer.succeed(Spending.UnknownPrice, unknown))
    )
    return Layer.mergeAll(Client.layer(service), layerWaits(speak), spending).pipe(
      Layer.provide([
        credentials,
        NodeCrypto.layer,
        http,
        rateLimit,
        SpendAccount.layer(variables, maxSpend, usualLimits)
      ]),
      Layer.provideMerge(Spend.layerTotal),
      Layer.provide(layerLogger(speak))
    )
  }))

type Speak = ReturnType<typeof Report.speak>

const layerWaits = (speak: Speak): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.acquireRelease(
    Effect.map(RateLimit.RateLimit, ({ listen }) =>
      listen((change) => {
        const waits = waiting(change)
        if (waits !== undefined) speak(waits)
      })),
    (stop) => Effect.sync(stop)
  ))

/** Warnings only: waits are shown as notices. */
const layerLogger = (speak: Speak): Layer.Layer<never> => {
  const logger = Logger.make(({ logLevel, message }) => {
    if (LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")) {
      speak((Array.isArray(message) ? message : [message]).join(" "))
    }
  })
  return Layer.succeed(Logging, Effect.provideService(Logger.CurrentLoggers, new Set([logger])))
}

/** Shorter waits are not shown, in milliseconds. */
const noteworthy = 5_000

const because: Readonly<Record<RateLimit.Waiting["reason"], string>> = {
  window: "its rate limit is exhausted",
  refusal: "the service requested a pause",
  pace: "one request per second is allowed",
  "in flight": "requests in flight may use the rest of its rate limit",
  turn: "calls of other processes came first"
}

/** The notice of a long wait: how long, until when, and why. Each wait is shown once, when it starts. */
const waiting = (change: RateLimit.Change): string | undefined =>
  change._tag === "Waiting" && change.millis >= noteworthy
    ? `${change.operation} waits ${Text.duration(change.millis / 1000)}, until ${Text.clock(change.until.getTime())}: ${
      because[change.reason]
    }.`
    : undefined
