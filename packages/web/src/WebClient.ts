/** The client on `fetch`: settings as a whole, and the Layer that they make. */
import type { Client } from "@postwire/core/Client"
import * as Credentials from "@postwire/core/Credentials"
import type { Form } from "@postwire/core/Definition"
import { InvalidSettings } from "@postwire/core/Errors"
import * as Shared from "@postwire/core/promises/Settings"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
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
}

/** Everything that operations need, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(check(settings), () => Shared.layer(settings, hostOf(settings, () => Credentials.layer(settings))))
  )

/** What the platform has for a client with these credentials. */
export const hostOf = (settings: Settings<Form>, credentials: Shared.Host["credentials"]): Shared.Host => ({
  http: layerHttp(settings),
  store: RateLimitStore.layerMemory,
  credentials,
  // Where the platform has its warnings.
  // oxlint-disable-next-line no-console
  warn: (warning) => console.warn(warning)
})

/** What sends the requests of settings. */
export const layerHttp = (settings: Pick<Settings, "fetch">): Layer.Layer<HttpClient> =>
  FetchHttpClient.layer(fetchOf(settings))

/** A binding refuses to be called without itself. */
const fetchOf = ({ fetch: given }: Pick<Settings, "fetch">): FetchHttpClient.Fetch | undefined =>
  given === undefined || typeof given === "function" ? given : (url, init) => given.fetch(url, init)

/** The settings that only this client has. */
const own = /*#__PURE__*/ Object.keys(
  { fetch: true } satisfies {
    readonly [K in Exclude<keyof Settings<Form>, keyof Shared.Settings<Form>>]-?: true
  }
)

/** Checks settings as a whole. What is no setting is refused, unless it is one of `others`. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>,
  others: ReadonlyArray<string> = []
): Effect.fn.Return<void, InvalidSettings> {
  yield* Shared.check(settings, [...own, ...others])
  const { fetch: given } = settings
  if (given === undefined || typeof given === "function" || typeof given?.fetch === "function") return
  return yield* new InvalidSettings({ setting: "fetch", rule: "must be a function, or have the method fetch" })
})
