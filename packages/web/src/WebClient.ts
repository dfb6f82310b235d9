/** The client on `fetch`: settings as a whole, and the Layer that they make. */
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
   * What sends the requests instead of the `fetch` of the platform: a function like it, or what has such a method, as the
   * binding of a service in Workers (`env.SERVICE`).
   */
  readonly fetch?: FetchHttpClient.Fetch | { readonly fetch: FetchHttpClient.Fetch } | undefined
  /**
   * Where uploads with `resume` and threads note how far they have come: a journal of your own, such as the storage of a page or
   * of a Durable Object. Default: this client's memory.
   */
  readonly journal?: OwnJournal.Journal | undefined
}

/** Everything that operations, uploads and threads need, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client | Journal.Journal, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(check(settings), () => Shared.layer(settings, hostOf(settings, () => Credentials.layer(settings))))
  )

/** What the platform has for a client with these credentials. */
export const hostOf = (settings: Settings<Form>, credentials: Shared.Host["credentials"]): Shared.Host => ({
  http: layerHttp(settings),
  store: RateLimitStore.layerMemory,
  journal: layerJournal(settings),
  credentials,
  // Where the platform has its warnings.
  // oxlint-disable-next-line no-console
  warn: (warning) => console.warn(warning)
})

const layerJournal = ({ journal }: Settings<Form>): Layer.Layer<Journal.Journal> =>
  journal === undefined
    ? Journal.layerMemory
    : Layer.sync(Journal.Journal, () => OwnJournal.toEffect(journal))

/** What sends the requests of settings. */
export const layerHttp = (settings: Pick<Settings, "fetch">): Layer.Layer<HttpClient> =>
  FetchHttpClient.layer(fetchOf(settings))

/** A binding refuses to be called without itself. */
const fetchOf = ({ fetch: given }: Pick<Settings, "fetch">): FetchHttpClient.Fetch | undefined =>
  given === undefined || typeof given === "function" ? given : (url, init) => given.fetch(url, init)

/** The settings that only this client has. */
const own = /*#__PURE__*/ Object.keys(
  { fetch: true, journal: true } satisfies {
    readonly [K in Exclude<keyof Settings<Form>, keyof Shared.Settings<Form>>]-?: true
  }
)

/** Checks settings as a whole. What is no setting is refused, unless it is one of `others`. */
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
