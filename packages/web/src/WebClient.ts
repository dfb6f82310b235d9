/** The client on `fetch`: settings as a whole, and the Layer that they make. */
import type { Client } from "@postwire/core/Client"
import type { Form } from "@postwire/core/Definition"
import { InvalidSettings } from "@postwire/core/Errors"
import * as Shared from "@postwire/core/promises/Settings"
import * as OwnTokenStore from "@postwire/core/promises/TokenStore"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as TokenStore from "@postwire/core/TokenStore"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as FetchHttpClient from "./FetchHttpClient.ts"

export type { Logger } from "@postwire/core/promises/Settings"

/** Every setting of a client. */
export interface Settings<F extends Form = "response"> extends Shared.Settings<F> {
  /**
   * What sends the requests instead of the `fetch` of the platform: a function like it, or what has such a method, as the
   * binding of a service in Workers (`env.SERVICE`).
   */
  readonly fetch?: FetchHttpClient.Fetch | { readonly fetch: FetchHttpClient.Fetch } | undefined
  /** Where the `account` is kept: a store of your own, such as the storage of a Durable Object. */
  readonly tokenStore?: OwnTokenStore.TokenStore | undefined
}

/** Everything that operations need, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(check(settings), () =>
      Shared.layer(settings, {
        http: layerHttp(settings),
        store: RateLimitStore.layerMemory,
        accounts: layerTokenStore(settings),
        // Where the platform has its warnings.
        // oxlint-disable-next-line no-console
        warn: (warning) => console.warn(warning)
      }))
  )

/** What sends the requests of settings. */
export const layerHttp = (settings: Pick<Settings, "fetch">): Layer.Layer<HttpClient> =>
  FetchHttpClient.layer(fetchOf(settings))

/** Where the settings keep accounts. */
export const layerTokenStore = (
  { tokenStore }: Pick<Settings, "tokenStore">
): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.effect(
    TokenStore.TokenStore,
    tokenStore === undefined
      ? Effect.fail(new InvalidSettings({ setting: "tokenStore", rule: "is missing: it is where the account is kept" }))
      : Effect.sync(() => OwnTokenStore.toEffect(tokenStore))
  )

/** A binding refuses to be called without itself. */
const fetchOf = ({ fetch: given }: Pick<Settings, "fetch">): FetchHttpClient.Fetch | undefined =>
  given === undefined || typeof given === "function" ? given : (url, init) => given.fetch(url, init)

/** The settings that only this client has. */
const own = /*#__PURE__*/ Object.keys(
  { fetch: true, tokenStore: true } satisfies {
    readonly [K in Exclude<keyof Settings<Form>, keyof Shared.Settings<Form>>]-?: true
  }
)

/** Checks settings as a whole. What is no setting is refused. */
export const check = Effect.fnUntraced(function*(settings: Settings<Form>): Effect.fn.Return<void, InvalidSettings> {
  yield* Shared.check(settings, own)
  const { fetch: given, tokenStore } = settings
  if (tokenStore !== undefined && !OwnTokenStore.isTokenStore(tokenStore)) {
    return yield* new InvalidSettings({ setting: "tokenStore", rule: "must have the methods read, write and lock" })
  }
  if (given === undefined || typeof given === "function" || typeof given?.fetch === "function") return
  return yield* new InvalidSettings({ setting: "fetch", rule: "must be a function, or have the method fetch" })
})
