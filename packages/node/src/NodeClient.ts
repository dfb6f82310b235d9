/** The client on Node: settings as a whole, from values or from the environment, and the Layers that they make. */
import * as Client from "@postwire/core/Client"
import * as Credentials from "@postwire/core/Credentials"
import { environmentVariable, InvalidSettings } from "@postwire/core/Errors"
import type { Form } from "@postwire/core/Operation"
import * as RateLimit from "@postwire/core/RateLimit"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type { Dispatcher } from "undici"
import * as NodeCrypto from "./NodeCrypto.ts"
import * as RedisRateLimitStore from "./RedisRateLimitStore.ts"
import * as SqliteRateLimitStore from "./SqliteRateLimitStore.ts"
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
  /**
   * What `waitOnRateLimit` shares its budgets through: the path of an SQLite file, for processes of one machine, or a
   * `redis://` or `rediss://` address, which needs the package `@redis/client`. Default: this client's memory.
   */
  readonly rateLimitStore?: string | undefined
  /** Called with every announced budget and every wait, as it begins. What it throws is ignored. */
  readonly onRateLimit?: ((change: RateLimit.Change) => void) | undefined
  /** The Undici dispatcher that sends the requests (a proxy agent, a shared pool). It is not closed with the client. */
  readonly dispatcher?: Dispatcher | undefined
}

/**
 * Everything that operations need, from settings. Nothing is logged, except that warnings become warnings of the process.
 */
export const layer = (settings: Settings<Form>): Layer.Layer<Client.Client, InvalidSettings> =>
  Layer.mergeAll(Client.layer(settings), layerHook(settings), layerWarnings).pipe(
    Layer.provide([
      Credentials.layer(settings),
      NodeCrypto.layer,
      UndiciHttpClient.layer(settings.dispatcher === undefined ? {} : { dispatcher: settings.dispatcher }),
      settings.waitOnRateLimit === true
        ? RateLimit.layerWait({ maxWait: settings.maxWait }).pipe(Layer.provide(layerStore(settings)))
        : RateLimit.layerFail
    ])
  )

const isAddress = (store: string): boolean => store.includes("://")

const layerStore = ({ rateLimitStore: store }: Settings<Form>) =>
  store === undefined
    ? RateLimitStore.layerMemory
    : isAddress(store)
    ? RedisRateLimitStore.layerUrl({ url: store })
    : SqliteRateLimitStore.layer({ path: store })

const layerHook = ({ onRateLimit }: Settings<Form>): Layer.Layer<never> =>
  onRateLimit === undefined ? Layer.empty : Layer.effectDiscard(Effect.acquireRelease(
    Effect.map(RateLimit.RateLimit, ({ listen }) =>
      listen((change) => {
        try {
          onRateLimit(change)
        } catch {
          // It must not decide whether a call succeeds.
        }
      })),
    (stop) => Effect.sync(stop)
  ))

const layerWarnings: Layer.Layer<never> = Logger.layer([
  Logger.make(({ logLevel, message }) => {
    if (LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")) process.emitWarning(String(message), "PostwireWarning")
  })
])

const checkLimits = Effect.fnUntraced(function*(settings: Settings<Form>) {
  const { onRateLimit, rateLimitStore: store } = settings
  yield* RateLimit.checkMaxWait({ maxWait: settings.maxWait })
  if (onRateLimit !== undefined && typeof onRateLimit !== "function") {
    return yield* new InvalidSettings({ setting: "onRateLimit", rule: "must be a function" })
  }
  if (store === undefined) return
  if (typeof store !== "string" || store === "") {
    return yield* new InvalidSettings({ setting: "rateLimitStore", rule: "must be the path of a file or an address" })
  }
  if (isAddress(store)) yield* RedisRateLimitStore.checkUrl(store)
})

const forms: ReadonlyArray<Form> = ["response", "dictionary", "raw"]

/** Throws `InvalidSettings` when a setting breaks a rule. */
export const assertValid = (settings: Settings<Form>): void => {
  if (!forms.includes(settings.returnType ?? "response")) {
    throw new InvalidSettings({ setting: "returnType", rule: `must be one of ${forms.join(", ")}` })
  }
  Effect.runSync(Effect.all([Client.check(settings), Credentials.check(settings), checkLimits(settings)]))
}

/** The settings that the environment holds, each in the variable of its name, such as `POSTWIRE_BEARER_TOKEN`. */
export const fromEnvironment = (
  environment: Readonly<Record<string, string | undefined>> = process.env
): Omit<Settings, "returnType"> =>
  Object.fromEntries(
    [
      ...["baseUrl", "wire", ...Credentials.names].map((name) => [name, environmentVariable(name)] as const),
      ["rateLimitStore", "POSTWIRE_REDIS_URL"] as const
    ]
      .map(([name, variable]) => [name, environment[variable]] as const)
      .filter(([, value]) => value !== undefined && value !== "")
  )
