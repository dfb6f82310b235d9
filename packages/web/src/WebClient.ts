/** The client on `fetch`: its settings and their Layer. */
import * as Credentials from "@postwire/core/auth/Credentials"
import type { Client } from "@postwire/core/client/Client"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as OwnJournal from "@postwire/core/promise/Journal"
import * as Shared from "@postwire/core/promise/Settings"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import type { Form } from "@postwire/core/schema/Definition"
import * as Journal from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as FetchHttpClient from "./FetchHttpClient.ts"

export type { Logger } from "@postwire/core/promise/Settings"

/** Every setting of a client. */
export interface Settings<F extends Form = "response"> extends Shared.Settings<F> {
  /**
   * Sends the requests in place of the global `fetch`: a function like it, or an object with such a method, such as a service
   * binding of Workers (`env.SERVICE`).
   */
  readonly fetch?: FetchHttpClient.Fetch | { readonly fetch: FetchHttpClient.Fetch } | undefined
  /**
   * The journal in which uploads with `resume` and threads record their progress: your own, such as the storage of a page or of a
   * Durable Object. Default: memory of this client.
   */
  readonly journal?: OwnJournal.Journal | undefined
}

/** The services of operations, uploads and threads. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client | Journal.Journal, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(check(settings), () => Shared.layer(settings, hostOf(settings, () => Credentials.layer(settings))))
  )

/** The services of the platform for a client with these credentials. */
export const hostOf = (settings: Settings<Form>, credentials: Shared.Host["credentials"]): Shared.Host => ({
  http: layerHttp(settings),
  store: RateLimitStore.layerMemory,
  journal: layerJournal(settings),
  credentials,
  // Platforms show warnings here.
  // oxlint-disable-next-line no-console
  warn: (warning) => console.warn(warning)
})

const layerJournal = ({ journal }: Settings<Form>): Layer.Layer<Journal.Journal> =>
  journal === undefined
    ? Journal.layerMemory
    : Layer.sync(Journal.Journal, () => OwnJournal.toEffect(journal))

/** The HttpClient of settings. */
export const layerHttp = (settings: Pick<Settings, "fetch">): Layer.Layer<HttpClient> =>
  FetchHttpClient.layer(fetchOf(settings))

/** Calls a binding as a method, since it fails without its `this`. */
const fetchOf = ({ fetch: given }: Pick<Settings, "fetch">): FetchHttpClient.Fetch | undefined =>
  given === undefined || typeof given === "function" ? given : (url, init) => given.fetch(url, init)

/** The settings that only this client has. */
const own = /*#__PURE__*/ Object.keys(
  { fetch: true, journal: true } satisfies {
    readonly [K in Exclude<keyof Settings<Form>, keyof Shared.Settings<Form>>]-?: true
  }
)

/** Checks all settings. Rejects unknown settings except `others`. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>,
  others: ReadonlyArray<string> = []
): Effect.fn.Return<void, InvalidSettings> {
  yield* Shared.check(settings, [...own, ...others])
  const { fetch: given, journal } = settings
  if (given !== undefined && typeof given !== "function" && typeof given?.fetch !== "function") {
    return yield* new InvalidSettings({ setting: "fetch", rule: "must be a function, or have the method fetch" })
  }
  if (journal !== undefined && !OwnJournal.isJournal(journal)) {
    return yield* new InvalidSettings({ setting: "journal", rule: "must have the methods read, write and lock" })
  }
})
