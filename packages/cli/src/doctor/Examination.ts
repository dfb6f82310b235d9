/** All checks of doctor. They only read. */
import * as AccountCredentials from "@postwire/core/accounts/AccountCredentials"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { minimum } from "@postwire/core/runtime/SupportedNode"
import { TokenStore } from "@postwire/core/storage/TokenStore"
import * as Wire from "@postwire/core/wire/Wire"
import * as NodeClient from "@postwire/node/NodeClient"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpClient, transform } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Accounts from "./Accounts.ts"
import { type Check, faulty, result } from "./Check.ts"
import { appBearer, bearer, user } from "./Credentials.ts"
import { fieldNamesCheck, probe } from "./FieldNames.ts"
import { rateLimitChecks } from "./RateLimits.ts"
import { clockChecks, reach, type Seen } from "./Service.ts"

/** Runs all checks, with at most ten requests and one or two per account, none of which counts towards the post cap. */
export const examine = Effect.fnUntraced(function*(
  variables: Readonly<Record<string, string | undefined>>,
  node: string,
  /** The file of `--credentials`. */
  file?: string,
  /** The accounts, and variables with credentials that may be unused because of them. */
  accounts?: Accounts.Known & { readonly variables: ReadonlyArray<string> }
) {
  const place = file === undefined ? "" : ` in ${file}`
  const checks: Array<Check> = [nodeCheck(node)]
  const settings = NodeClient.fromEnvironment(variables)
  const checked = yield* Effect.result(
    Effect.flatMap(NodeClient.wireOf(settings), (wire) => Client.check({ ...settings, wire }))
  )
  const values = yield* Effect.result(Credentials.check(settings))
  const chosen = accounts === undefined ? Option.none() : accounts.chosen
  if (accounts !== undefined) checks.push(...yield* Accounts.speakerCheck(accounts, accounts.variables))
  if (values._tag === "Failure") {
    const { rule, setting } = values.failure
    const name = environmentVariable(setting)
    checks.push(result("credentials", "bad", `${name} ${rule}`, `Correct ${name}${place}.`))
  }
  if (checked._tag === "Failure") {
    const { advice, finding } = faulty("settings", "bad", checked.failure)
    checks.push(result("settings", "bad", finding, advice.replace(/\.$/, `${place}.`)))
  }
  if (values._tag === "Failure" || checked._tag === "Failure") return checks

  const seen: Array<Seen> = []
  const recorded = Layer.effect(
    HttpClient,
    Effect.map(HttpClient, (http) =>
      transform(http, (exchange) =>
        Effect.gen(function*() {
          const begun = yield* Clock.currentTimeMillis
          const response = yield* exchange
          const { date, "x-access-level": rights } = response.headers
          seen.push({ date, rights, begun, ended: yield* Clock.currentTimeMillis })
          return response
        })))
  ).pipe(Layer.provide(UndiciHttpClient.layer({ connectTimeout: 10_000 })))
  const { baseUrl, wire } = checked.success
  const credentials = accounts === undefined || Option.isNone(accounts.chosen)
    ? Credentials.layer(settings)
    : AccountCredentials.layer({ baseUrl, wire, account: accounts.chosen.value.name }).pipe(
      Layer.provide([recorded, Layer.succeed(TokenStore, accounts.store)])
    )
  yield* Effect.gen(function*() {
    const connection = yield* reach(baseUrl, wire.name)
    checks.push(...connection.checks)
    const isBearer = values.success.bearerToken !== undefined || Option.isSome(chosen)
    if (connection.isThere && wire.elsewhere !== undefined && isBearer) {
      const other = wire.elsewhere.name
      const there = Client.layer({ ...settings, wire: Wire.named[other] }).pipe(
        Layer.provide([credentials, NodeCrypto.layer, recorded, RateLimit.layerFail])
      )
      const others = yield* probe.pipe(Effect.provide(there), Effect.catchTag("InvalidSettings", Effect.die))
      checks.push(fieldNamesCheck(wire.name, other, yield* probe, others))
    }
    const isOAuth1 = Credentials.signing.every((name) => values.success[name] !== undefined)
    const ofAccounts = accounts === undefined
      ? []
      : yield* Accounts.accountChecks(accounts, { baseUrl, wire, http: recorded, isThere: connection.isThere })
    const isOwn = Option.isNone(chosen)
    const ofBearer = isOwn ? yield* bearer(values.success, connection.isThere, place) : []
    const ofApp = isOwn ? yield* appBearer(values.success, connection.isThere, place) : []
    const ofUser = isOwn ? yield* user(values.success, connection.isThere, place, () => seen.at(-1)?.rights) : []
    if (connection.isThere) {
      const isRefused = isOAuth1 && ofUser.some(({ status }) => status !== "ok")
      checks.push(...clockChecks(seen, isRefused))
    }
    checks.push(...ofBearer, ...ofApp, ...ofUser, ...ofAccounts)
    if (isOwn && !isOAuth1 && ofApp.length === 0 && values.success.bearerToken === undefined) {
      checks.push(result(
        "credentials",
        "bad",
        "No credential is complete",
        file === undefined
          ? `Sign in with postwire login, set ${environmentVariable("bearerToken")}, or name a file with --credentials.`
          : `Set ${environmentVariable("bearerToken")}${place}.`
      ))
    }
    if (connection.isThere) checks.push(...rateLimitChecks(yield* RateLimit.snapshot, yield* Clock.currentTimeMillis))
  }).pipe(
    Effect.provide(
      Client.layer({ ...settings, wire }).pipe(
        Layer.provide(credentials),
        Layer.provide(NodeCrypto.layer),
        Layer.provideMerge([recorded, RateLimit.layerFail])
      )
    )
  )
  return checks
})

/** The version of Node. An unsupported one is refused before any command runs. */
const nodeCheck = (version: string): Check =>
  result("node", "ok", `Node ${version}`, `${minimum} or newer is required.`, { version })
