/**
 * The clients of a worker, by the name of their credentials. Exports know the name only; what it stands for is in the
 * environment of the worker, or in whatever ConfigProvider is installed, and stays there: for `research` the variables
 * `POSTWIRE_RESEARCH_BEARER_TOKEN` and so on, for `default` those without a name.
 */
import * as ClientConfig from "@postwire/core/ClientConfig"
import { environmentVariable, InvalidSettings } from "@postwire/core/Errors"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"

/** The name of credentials that have none. */
export const unnamed = "default"

/** Checks the name of credentials: what follows a letter can be letters, digits and underscores, 32 in all at most. */
export const checkName = (name: string): Effect.Effect<string, InvalidSettings> =>
  /^[a-z][a-z0-9_]{0,31}$/i.test(name)
    ? Effect.succeed(name)
    : Effect.fail(
      new InvalidSettings({
        setting: "credentials",
        rule: "must be the name under which workers keep them: a letter, then letters, digits and underscores"
      })
    )

/** The variable that holds a setting of a name: of `lab`, `bearerToken` is in `POSTWIRE_LAB_BEARER_TOKEN`. */
export const variableOf = (name: string, setting: string): string => inName(name, environmentVariable(setting))

const inName = (name: string, variable: string): string =>
  name === unnamed ? variable : variable.replace(/^POSTWIRE_/, `POSTWIRE_${name.toUpperCase()}_`)

const layerNamed = (name: string) =>
  Layer.unwrap(
    Effect.map(ConfigProvider.ConfigProvider, (provider) =>
      // Fresh: the same layer is built once, and each name has other settings.
      Layer.fresh(ClientConfig.layer).pipe(
        Layer.provide([NodeCrypto.layer, ConfigProvider.layer(forName(provider, name))])
      ))
  )

/** Where the settings of a name are. The address of the service, and its wire, may be those of all names. */
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

/** The clients. All share the rate-limit policy in force, and one pool of connections. */
export class Clients extends LayerMap.Service<Clients>()("@postwire/cluster/Clients", {
  lookup: layerNamed,
  idleTimeToLive: "5 minutes",
  dependencies: [UndiciHttpClient.layer()]
}) {}
