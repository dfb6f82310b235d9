/**
 * The Promise client on `fetch` for users who signed in: it refreshes their tokens. The client without accounts is a tenth smaller.
 *
 * ```ts
 * import { createClient } from "@postwire/web/AccountClient"
 *
 * const client = createClient({ baseUrl: "https://api.x.com", wire: "x", account: "ada", tokenStore })
 * ```
 */
import type { Client } from "@postwire/core/client/Client"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as AccountSettings from "@postwire/core/promise/AccountSettings"
import { build } from "@postwire/core/promise/PromiseClient"
import { formOf } from "@postwire/core/promise/ReturnType"
import * as Shared from "@postwire/core/promise/Settings"
import * as OwnTokenStore from "@postwire/core/promise/TokenStore"
import type { Form } from "@postwire/core/schema/Definition"
import type { Journal } from "@postwire/core/storage/Journal"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PostwireClient } from "./index.ts"
import * as PromiseClient from "./PromiseClient.ts"
import * as WebClient from "./WebClient.ts"

export type { OAuth2Settings, Tokens } from "@postwire/core/promise/AccountSettings"
export type { TokenStore } from "@postwire/core/promise/TokenStore"
export type { Scope } from "@postwire/core/schema/Scopes"

/** Every setting of a client that can act for users who signed in. */
export interface Settings<F extends Form = "response"> extends WebClient.Settings<F>, AccountSettings.AccountSettings {
  /** The store of the `account`: your own, such as the storage of a Durable Object. */
  readonly tokenStore?: OwnTokenStore.TokenStore | undefined
}

/** The token store of the settings. */
export const layerTokenStore = (
  { tokenStore }: Pick<Settings, "tokenStore">
): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.effect(
    TokenStore.TokenStore,
    OwnTokenStore.isTokenStore(tokenStore)
      ? Effect.sync(() => OwnTokenStore.toEffect(tokenStore))
      : Effect.fail(
        new InvalidSettings({
          setting: "tokenStore",
          rule: "must have the methods read, write and lock: it is where the account is kept"
        })
      )
  )

/** The services of operations, uploads and threads. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client | Journal, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(WebClient.check(settings, [...AccountSettings.names, "tokenStore"]), () =>
      Shared.layer(
        settings,
        WebClient.hostOf(settings, (service) => AccountSettings.layer(settings, service, layerTokenStore(settings)))
      ))
  )

/** Makes a client from settings. Throws `InvalidSettings` if a setting is invalid; connects at the first call. */
export const createClient = <F extends Form = "response">(
  settings: Settings<F> & PromiseClient.Chosen<F>
): PostwireClient<F> => {
  const { end, services } = build(layer(settings), createClient)
  return PromiseClient.of(services, formOf(settings), end, PromiseClient.withEffect(services))
}
