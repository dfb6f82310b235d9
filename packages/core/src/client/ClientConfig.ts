/**
 * The client and its credentials from the environment, or from the installed ConfigProvider. It is a module of its own because a
 * program in a browser has other sources for its settings.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Credentials from "../auth/Credentials.ts"
import type { InvalidSettings } from "../errors/Errors.ts"
import * as Wire from "../wire/Wire.ts"
import * as Client from "./Client.ts"
import * as Telemetry from "./Telemetry.ts"

/** The service's URL and names: `POSTWIRE_BASE_URL` and `POSTWIRE_WIRE` (a name of `Wire.named`), each optional. */
export const settings: Config.Config<Client.Settings> = /*#__PURE__*/ Config.map(
  /*#__PURE__*/ Config.all({
    baseUrl: /*#__PURE__*/ Config.option(/*#__PURE__*/ Config.String("POSTWIRE_BASE_URL")),
    wire: /*#__PURE__*/ Config.option(/*#__PURE__*/ Config.Literals([...Wire.names, ""], "POSTWIRE_WIRE"))
  }),
  ({ baseUrl, wire }) => {
    const name = Option.getOrUndefined(wire)
    // An empty variable counts as absent.
    return { baseUrl: Option.getOrUndefined(baseUrl) || undefined, wire: name ? Wire.named[name] : undefined }
  }
)

const secret = (name: string) => Config.option(Config.Redacted(name))

/** The credentials: `POSTWIRE_BEARER_TOKEN`, `POSTWIRE_CONSUMER_KEY`, ... each optional. */
export const credentials: Config.Config<Credentials.Settings> = /*#__PURE__*/ Config.map(
  /*#__PURE__*/ Config.all({
    bearerToken: /*#__PURE__*/ secret("POSTWIRE_BEARER_TOKEN"),
    appBearerToken: /*#__PURE__*/ secret("POSTWIRE_APP_BEARER_TOKEN"),
    consumerKey: /*#__PURE__*/ secret("POSTWIRE_CONSUMER_KEY"),
    consumerSecret: /*#__PURE__*/ secret("POSTWIRE_CONSUMER_SECRET"),
    accessToken: /*#__PURE__*/ secret("POSTWIRE_ACCESS_TOKEN"),
    accessTokenSecret: /*#__PURE__*/ secret("POSTWIRE_ACCESS_TOKEN_SECRET")
  }),
  (all) => Object.fromEntries(Object.entries(all).map(([name, value]) => [name, Option.getOrUndefined(value)]))
)

/** The credentials as a Layer, for a client whose other settings come from elsewhere. */
export const layerCredentials: Layer.Layer<Credentials.Credentials, InvalidSettings | Config.ConfigError> =
  /*#__PURE__*/ Layer.unwrap(
    /*#__PURE__*/ Effect.gen(function*() {
      return Credentials.layer(yield* credentials)
    })
  )

/** The client with its credentials, and with `Telemetry`. */
export const layer: Layer.Layer<Client.Client, InvalidSettings | Config.ConfigError, HttpClient> = /*#__PURE__*/ Layer
  .unwrap(
    /*#__PURE__*/ Effect.gen(function*() {
      return Client.layer(yield* settings)
    })
  ).pipe(/*#__PURE__*/ Layer.provide([layerCredentials, Telemetry.layer]))
