/**
 * The clients of a worker, by the name of their credentials. Exports contain only the name. It is an account if the store of the
 * worker has one of that name. Otherwise the credentials are in the environment of the worker, or in the installed ConfigProvider,
 * and stay there: for `research` in the variables `POSTWIRE_RESEARCH_BEARER_TOKEN` and so on, for `default` in those without a
 * name.
 */
import * as Account from "@postwire/core/accounts/Account"
import * as AccountCredentials from "@postwire/core/accounts/AccountCredentials"
import * as Client from "@postwire/core/client/Client"
import * as ClientConfig from "@postwire/core/client/ClientConfig"
import * as Telemetry from "@postwire/core/client/Telemetry"
import { environmentVariable, InvalidSettings } from "@postwire/core/errors/Errors"
import { TokenStore } from "@postwire/core/storage/TokenStore"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Option from "effect/Option"

/** The name of unnamed credentials. */
export const unnamed = "default"

/** Checks the name of credentials, by the rule for accounts. */
export const checkName = (name: string): Effect.Effect<string, InvalidSettings> =>
  Effect.mapError(
    Account.checkName(name),
    ({ rule }) =>
      new InvalidSettings({
        setting: "credentials",
        rule: `must be the name under which workers keep them: it ${rule}`
      })
  )

/** The variable of a setting of a name: `bearerToken` of `lab` is in `POSTWIRE_LAB_BEARER_TOKEN`. */
export const variableOf = (name: string, setting: string): string => inName(name, environmentVariable(setting))

const inName = (name: string, variable: string): string =>
  name === unnamed ? variable : variable.replace(/^POSTWIRE_/, `POSTWIRE_${name.toUpperCase()}_`)

/** The client of a name. */
export const layerNamed = (name: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const account = yield* Account.read(yield* TokenStore, name)
    const provider = forName(yield* ConfigProvider.ConfigProvider, name)
    // Fresh, since each name has its own settings.
    const client = Option.isSome(account) ? layerAccount(name, account.value.baseUrl) : Layer.fresh(ClientConfig.layer)
    return Layer.provide(client, [NodeCrypto.layer, ConfigProvider.layer(provider)])
  }))

/** The client of an account, with the address of its service unless the environment has one. */
const layerAccount = (name: string, baseUrl: string) =>
  Layer.unwrap(Effect.map(ClientConfig.settings, (settings) => {
    const service = { ...settings, baseUrl: settings.baseUrl ?? baseUrl }
    return Layer.provide(Client.layer(service), [
      AccountCredentials.layer({ ...service, account: name }),
      Telemetry.layer
    ])
  }))

/** The provider of the settings of a name. The address of the service and its dialect may be common to all names. */
const forName = (provider: ConfigProvider.ConfigProvider, name: string): ConfigProvider.ConfigProvider => {
  if (name === unnamed) return provider
  const own = ConfigProvider.mapInput(
    provider,
    (path) => path.map((segment) => typeof segment === "string" ? inName(name, segment) : segment)
  )
  return ConfigProvider.make((path) =>
    Effect.flatMap(
      own.load(path),
      (node) =>
        node === undefined && (path[0] === "POSTWIRE_BASE_URL" || path[0] === "POSTWIRE_WIRE")
          ? provider.load(path)
          : Effect.succeed(node)
    )
  )
}

/** The clients. All share the current rate limit policy, and one pool of connections. */
export class Clients extends LayerMap.Service<Clients>()("@postwire/cluster/Clients", {
  lookup: layerNamed,
  idleTimeToLive: "5 minutes",
  dependencies: [UndiciHttpClient.layer()]
}) {}
