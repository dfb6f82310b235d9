/** The settings of a Promise client on any platform, their check and their Layers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as EffectLogger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import { closestMatch } from "leven"
import * as Credentials from "../auth/Credentials.ts"
import * as Client from "../client/Client.ts"
import * as Telemetry from "../client/Telemetry.ts"
import { InvalidSettings } from "../errors/Errors.ts"
import * as RateLimit from "../rate-limit/RateLimit.ts"
import type { RateLimitStore } from "../rate-limit/RateLimitStore.ts"
import * as Callback from "../runtime/Callback.ts"
import { Logging } from "../runtime/Logging.ts"
import type { Form } from "../schema/Definition.ts"
import type { WireName } from "../schema/WireName.ts"
import * as SpendSettings from "../spend/SpendSettings.ts"
import type { SpendStore } from "../spend/SpendStore.ts"
import type { Journal } from "../storage/Journal.ts"
import * as Wire from "../wire/Wire.ts"
import * as Spending from "./internal/spending.ts"
import { checkForm } from "./ReturnType.ts"

/** The settings that clients have on every platform. */
export interface Settings<F extends Form = "response">
  extends Omit<Client.Settings, "wire">, Credentials.Settings, SpendSettings.Settings
{
  /** The field names of the service: `neutral` (`posts`, the default) or `x` (`tweets`). Programs are the same with both. */
  readonly wire?: WireName | undefined
  /**
   * The return type of operations: `response` (the default), `dictionary` (the body as a plain object) or `raw` (the HTTP
   * response).
   */
  readonly returnType?: F | undefined
  /** Waits when a rate limit is reached instead of failing with `RateLimited`. Default false. */
  readonly waitOnRateLimit?: boolean | undefined
  /** The longest total wait of a call for rate limits, in milliseconds. Default 20 minutes. */
  readonly maxWait?: number | undefined
  /** Called with every announced rate limit and at the start of every wait. Errors of the callback are ignored. */
  readonly onRateLimit?: ((change: RateLimit.Change) => void) | undefined
  /**
   * Logs retries (debug), waits (info), an unavailable rate limit store and responses with omitted parts (warn), for example
   * `console`. Without a logger, warnings become process warnings on Node and go to the console elsewhere; nothing else is logged.
   */
  readonly logger?: Logger | undefined
}

/** A logger. */
export type Logger = Readonly<Record<"debug" | "info" | "warn" | "error", (...line: Array<unknown>) => void>>

/** The services of a platform for a client. */
export interface Host {
  readonly http: Layer.Layer<HttpClient>
  /** The rate limit store of `waitOnRateLimit`. */
  readonly store: Layer.Layer<RateLimitStore, InvalidSettings>
  /** The spend store. Default: memory of the client. */
  readonly spendStore?: Layer.Layer<SpendStore, InvalidSettings> | undefined
  /** The journal of uploads and threads. */
  readonly journal: Layer.Layer<Journal, InvalidSettings>
  /** The credentials of the client, which may be refreshed at the service. */
  readonly credentials: (
    service: Pick<Client.Settings, "allowInsecureHttp" | "baseUrl" | "maxBodySize" | "userAgent" | "wire">
  ) => Layer.Layer<Credentials.Credentials, InvalidSettings, HttpClient>
  /** Receives warnings if there is no logger. */
  readonly warn: (warning: string) => void
}

/** The services of operations, uploads and threads, from checked settings. */
export const layer = (settings: Settings<Form>, host: Host): Layer.Layer<Client.Client | Journal, InvalidSettings> => {
  const { allowInsecureHttp, baseUrl, maxBodySize, userAgent } = settings
  return Layer.unwrap(
    Effect.map(
      wireOf(settings),
      (wire) =>
        Layer.mergeAll(Client.layer({ ...settings, wire }), host.journal, layerHook(settings)).pipe(
          Layer.provide([
            Layer.provide(host.credentials({ allowInsecureHttp, baseUrl, maxBodySize, userAgent, wire }), host.http),
            Telemetry.layer,
            Spending.isCounted(settings) ? Spending.layer(settings, host.spendStore) : Layer.empty,
            host.http,
            settings.waitOnRateLimit === true
              ? RateLimit.layerWait({ maxWait: settings.maxWait }).pipe(Layer.provide(host.store))
              : RateLimit.layerFail
          ]),
          Layer.provide(layerLogger(settings, host))
        )
    )
  )
}

/** The field names that a setting selects. */
export const wireOf = ({ wire = "neutral" }: Pick<Settings, "wire">): Effect.Effect<Wire.Wire, InvalidSettings> =>
  Object.hasOwn(Wire.named, wire)
    ? Effect.succeed(Wire.named[wire])
    : Effect.fail(new InvalidSettings({ setting: "wire", rule: `must be one of ${Wire.names.join(", ")}` }))

const layerHook = ({ onRateLimit }: Settings<Form>): Layer.Layer<never> =>
  onRateLimit === undefined ? Layer.empty : Layer.effectDiscard(Effect.acquireRelease(
    Effect.map(RateLimit.RateLimit, ({ listen }) => listen(onRateLimit)),
    (stop) => Effect.sync(stop)
  ))

/** The destination of log lines that settings select. */
export const layerLogger = (
  { logger }: Pick<Settings, "logger">,
  { warn }: Pick<Host, "warn">
): Layer.Layer<never> =>
  Layer.succeed(
    Logging,
    logger === undefined
      ? Effect.provideService(EffectLogger.CurrentLoggers, new Set([warningsTo(warn)]))
      : Effect.provideContext(
        Context.make(EffectLogger.CurrentLoggers, new Set([loggerOf(logger)])).pipe(
          Context.add(References.MinimumLogLevel, "Debug")
        )
      )
  )

const warningsTo = (warn: Host["warn"]) =>
  EffectLogger.make(({ logLevel, message }) => {
    if (LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")) warn(String(message))
  })

const loggerOf = (logger: Logger) =>
  EffectLogger.make(({ logLevel, message }) => {
    const level = (["Error", "Warn", "Info"] as const).find((level) => LogLevel.isGreaterThanOrEqualTo(logLevel, level))
    // Called as a method, since a logger may need its `this`.
    Callback.call(() => logger[methods[level ?? "Debug"]](...(Array.isArray(message) ? message : [message])))
  })

const methods = { Debug: "debug", Info: "info", Warn: "warn", Error: "error" } as const

const levels = Object.values(methods)

/** The names of the settings on every platform. */
export const names: ReadonlyArray<string> = /*#__PURE__*/ Object.keys(
  {
    accessLevel: true,
    accessToken: true,
    accessTokenSecret: true,
    allowInsecureHttp: true,
    appBearerToken: true,
    appOwner: true,
    baseUrl: true,
    bearerToken: true,
    checks: true,
    consumerKey: true,
    consumerSecret: true,
    logger: true,
    maxBodySize: true,
    maxWait: true,
    onRateLimit: true,
    onRequest: true,
    onSpend: true,
    prices: true,
    recordContent: true,
    retries: true,
    returnType: true,
    spendLimit: true,
    timeout: true,
    userAgent: true,
    verify: true,
    waitOnRateLimit: true,
    wire: true
  } satisfies { readonly [K in keyof Settings<Form>]-?: true }
)

/** The setting closest to a misspelt one, regardless of case and underscores. */
const nearest = (setting: string, names: ReadonlyArray<string>): string | undefined => {
  const spelled = names.map((name) => name.toLowerCase())
  const match = closestMatch(setting.toLowerCase().replaceAll("_", ""), spelled, { maxDistance: 2 })
  return match === undefined ? undefined : names[spelled.indexOf(match)]
}

/** Checks all settings. Rejects settings that neither all platforms nor this platform has. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>,
  ofPlatform: ReadonlyArray<string>
): Effect.fn.Return<void, InvalidSettings> {
  const given: unknown = settings
  if (!Predicate.isObject(given)) {
    return yield* new InvalidSettings({ setting: "settings", rule: "must be an object" })
  }
  // A misspelt setting must not be ignored.
  const known = [...names, ...ofPlatform]
  for (const setting of Object.keys(settings)) {
    if (known.includes(setting)) continue
    return yield* Credentials.unknownSetting(setting, nearest(setting, known))
  }
  yield* checkForm(settings.returnType ?? "response")
  yield* Client.check({ ...settings, wire: yield* wireOf(settings) })
  yield* Credentials.check(settings)
  yield* Client.checkFlag("waitOnRateLimit", settings.waitOnRateLimit)
  yield* RateLimit.checkMaxWait({ maxWait: settings.maxWait })
  yield* SpendSettings.check(settings)
  const { logger, onRateLimit } = settings
  if (onRateLimit !== undefined && typeof onRateLimit !== "function") {
    return yield* new InvalidSettings({ setting: "onRateLimit", rule: "must be a function" })
  }
  if (logger !== undefined && levels.some((level) => typeof logger?.[level] !== "function")) {
    return yield* new InvalidSettings({ setting: "logger", rule: `must have the methods ${levels.join(", ")}` })
  }
})
