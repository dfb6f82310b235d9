/** The client on Node: settings as a whole, from values or from the environment, and the Layers that they make. */
import * as Client from "@postwire/core/Client"
import * as Credentials from "@postwire/core/Credentials"
import { environmentVariable, InvalidSettings } from "@postwire/core/Errors"
import type { Form } from "@postwire/core/Operation"
import * as RateLimit from "@postwire/core/RateLimit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Dispatcher } from "undici"
import * as NodeCrypto from "./NodeCrypto.ts"
import * as UndiciHttpClient from "./UndiciHttpClient.ts"

/** Every setting of a client. */
export interface Settings<F extends Form = "response"> extends Client.Settings, Credentials.Settings {
  /**
   * The form in which operations return their results: `response` (the default), `dictionary` (the body as a plain
   * object) or `raw` (the HTTP response).
   */
  readonly returnType?: F | undefined
  /** Waits when a rate limit is reached instead of failing with `RateLimited`. Default false. */
  readonly waitOnRateLimit?: boolean | undefined
  /** The longest single wait for a rate limit in milliseconds. Default 20 minutes. */
  readonly maxWait?: number | undefined
  /** The Undici dispatcher that sends the requests (a proxy agent, a shared pool). It is not closed with the client. */
  readonly dispatcher?: Pick<Dispatcher, "dispatch"> | undefined
}

/** Everything that operations need, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client.Client, InvalidSettings> =>
  Client.layer(settings).pipe(
    Layer.provide([
      Credentials.layer(settings),
      NodeCrypto.layer,
      UndiciHttpClient.layer(settings.dispatcher === undefined ? {} : { dispatcher: settings.dispatcher }),
      settings.waitOnRateLimit === true ? RateLimit.layerWait({ maxWait: settings.maxWait }) : RateLimit.layerFail
    ])
  )

const forms: ReadonlyArray<Form> = ["response", "dictionary", "raw"]

/** Throws `InvalidSettings` when a setting breaks a rule. */
export const assertValid = (settings: Settings<Form>): void => {
  if (!forms.includes(settings.returnType ?? "response")) {
    throw new InvalidSettings({ setting: "returnType", rule: `must be one of ${forms.join(", ")}` })
  }
  Effect.runSync(Effect.all([Client.check(settings), Credentials.check(settings)]))
}

/** The settings that the environment holds: `POSTWIRE_BASE_URL`, `POSTWIRE_WIRE`, `POSTWIRE_BEARER_TOKEN` and so on. */
export const fromEnvironment = (
  environment: Readonly<Record<string, string | undefined>> = process.env
): Omit<Settings, "returnType"> =>
  Object.fromEntries(
    ["baseUrl", "wire", ...Credentials.names]
      .map((name) => [name, environment[environmentVariable(name)]] as const)
      .filter(([, value]) => value !== undefined && value !== "")
  )
