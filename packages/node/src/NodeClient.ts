/** The client on Node: settings as a whole, from values or from the environment, and the Layers that they make. */
import * as AnomalyMetrics from "@postwire/core/AnomalyMetrics"
import * as Client from "@postwire/core/Client"
import * as Credentials from "@postwire/core/Credentials"
import type { Form } from "@postwire/core/Definition"
import { environmentVariable, InvalidSettings } from "@postwire/core/Errors"
import * as Hook from "@postwire/core/Hook"
import { Logging } from "@postwire/core/Logging"
import * as RateLimit from "@postwire/core/RateLimit"
import * as RateLimitStore from "@postwire/core/RateLimitStore"
import * as RetryMetrics from "@postwire/core/RetryMetrics"
import * as Wire from "@postwire/core/Wire"
import type { Wire as WireName } from "@postwire/core/WireNames"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EffectLogger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import { closestMatch } from "leven"
import type { Dispatcher } from "undici"
import * as NodeCrypto from "./NodeCrypto.ts"
import { checkForm } from "./PromiseClient.ts"
import * as RedisRateLimitStore from "./RedisRateLimitStore.ts"
import * as SqliteRateLimitStore from "./SqliteRateLimitStore.ts"
import * as UndiciHttpClient from "./UndiciHttpClient.ts"

/** Every setting of a client. */
export interface Settings<F extends Form = "response"> extends Omit<Client.Settings, "wire">, Credentials.Settings {
  /** The words that the service uses: `neutral` (`posts`, the default) or `x` (`tweets`). User code is the same on both. */
  readonly wire?: WireName | undefined
  /**
   * The form in which operations return their results: `response` (the default), `dictionary` (the body as a plain
   * object) or `raw` (the HTTP response).
   */
  readonly returnType?: F | undefined
  /** Waits when a rate limit is reached instead of failing with `RateLimited`. Default false. */
  readonly waitOnRateLimit?: boolean | undefined
  /** The longest that a call may wait for a rate limit in all, in milliseconds. Default 20 minutes. */
  readonly maxWait?: number | undefined
  /**
   * What `waitOnRateLimit` shares its budgets through: the path of an SQLite file, for processes of one machine, or a
   * `redis://` or `rediss://` address, which needs the package `@redis/client`. Default: this client's memory.
   */
  readonly rateLimitStore?: string | undefined
  /** Called with every announced budget and every wait, as it begins. What it throws or rejects with is ignored. */
  readonly onRateLimit?: ((change: RateLimit.Change) => void) | undefined
  /**
   * Where the client says what it does: retries (debug), waits (info), a store of rate limits that is away and answers
   * of which a part was left out (warn). Such as
   * `console`. Without one, warnings become warnings of the process and the rest is not said.
   */
  readonly logger?: Logger | undefined
  /**
   * The address of a proxy for all requests, or `environment` to take it from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
   * Default: none.
   */
  readonly proxy?: string | undefined
  /** Certificates (PEM) of authorities that are trusted instead of those that come with Node. */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** What sends the requests: the session of another client, or an Undici dispatcher. It is not closed with the client. */
  readonly dispatcher?: Pick<Dispatcher, "dispatch"> | undefined
}

/** What takes lines of a log. */
export type Logger = Readonly<Record<"debug" | "info" | "warn" | "error", (...line: Array<unknown>) => void>>

/** Everything that operations need, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client.Client, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(Effect.flatMap(check(settings), () => wireOf(settings)), (wire) =>
      Layer.merge(Client.layer({ ...settings, wire }), layerHook(settings)).pipe(
        Layer.provide([
          Credentials.layer(settings),
          RetryMetrics.layer,
          AnomalyMetrics.layer,
          UndiciHttpClient.layer(
            settings.dispatcher === undefined ? agentOptionsOf(settings) : { dispatcher: settings.dispatcher }
          ),
          settings.waitOnRateLimit === true
            ? RateLimit.layerWait({ maxWait: settings.maxWait }).pipe(Layer.provide(layerStore(settings)))
            : RateLimit.layerFail
        ]),
        Layer.provide([NodeCrypto.layer, layerLogger(settings)])
      ))
  )

/** The words that a setting names. */
export const wireOf = ({ wire = "neutral" }: Pick<Settings, "wire">): Effect.Effect<Wire.Wire, InvalidSettings> =>
  Object.hasOwn(Wire.named, wire)
    ? Effect.succeed(Wire.named[wire])
    : Effect.fail(new InvalidSettings({ setting: "wire", rule: `must be one of ${Wire.names.join(", ")}` }))

/** The connections that the settings ask for. A given dispatcher limits the time for connecting itself. */
export const agentOptionsOf = ({ ca, proxy, timeout }: Settings<Form>): UndiciHttpClient.AgentOptions => ({
  connectTimeout: typeof timeout === "object" ? timeout.connect : undefined,
  proxy,
  ca
})

const isAddress = (store: string): boolean => store.includes("://")

const layerStore = ({ rateLimitStore: store }: Settings<Form>) =>
  store === undefined
    ? RateLimitStore.layerMemory
    : isAddress(store)
    ? RedisRateLimitStore.layerUrl({ url: store })
    : SqliteRateLimitStore.layer({ path: store })

const layerHook = ({ onRateLimit }: Settings<Form>): Layer.Layer<never> =>
  onRateLimit === undefined ? Layer.empty : Layer.effectDiscard(Effect.acquireRelease(
    Effect.map(RateLimit.RateLimit, ({ listen }) => listen(onRateLimit)),
    (stop) => Effect.sync(stop)
  ))

const layerLogger = ({ logger }: Settings<Form>): Layer.Layer<never> =>
  Layer.succeed(
    Logging,
    logger === undefined
      ? Effect.provideService(EffectLogger.CurrentLoggers, new Set([warnings]))
      : Effect.provideContext(
        Context.make(EffectLogger.CurrentLoggers, new Set([loggerOf(logger)])).pipe(
          Context.add(References.MinimumLogLevel, "Debug")
        )
      )
  )

const warnings = EffectLogger.make(({ logLevel, message }) => {
  if (LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")) process.emitWarning(String(message), "PostwireWarning")
})

const loggerOf = (logger: Logger) =>
  EffectLogger.make(({ logLevel, message }) => {
    const level = LogLevel.isGreaterThanOrEqualTo(logLevel, "Error")
      ? "error"
      : LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")
      ? "warn"
      : LogLevel.isGreaterThanOrEqualTo(logLevel, "Info")
      ? "info"
      : "debug"
    // As a method, for a logger may need its `this`.
    Hook.tell(() => logger[level](...(Array.isArray(message) ? message : [message])))
  })

const checkTransport = ({ ca, dispatcher, logger, proxy }: Settings<Form>): Effect.Effect<void, InvalidSettings> => {
  const invalid = (setting: string, rule: string) => Effect.fail(new InvalidSettings({ setting, rule }))
  if (proxy !== undefined && proxy !== "environment" && !isProxy(proxy)) {
    // Its value is not shown: it may hold a password.
    return invalid("proxy", "must be an http: or https: address, or \"environment\"")
  }
  if (ca !== undefined && !(Array.isArray(ca) ? ca : [ca]).every((pem) => /-----BEGIN CERTIFICATE-----/.test(pem))) {
    return invalid("ca", "must be one or more certificates in PEM form")
  }
  if (dispatcher !== undefined) {
    if (typeof dispatcher?.dispatch !== "function") return invalid("dispatcher", "must be a session or a dispatcher")
    if (proxy !== undefined) return invalid("proxy", "is for the dispatcher that was given to know")
    if (ca !== undefined) return invalid("ca", "is for the dispatcher that was given to know")
  }
  return logger !== undefined && levels.some((level) => typeof logger?.[level] !== "function")
    ? invalid("logger", `must have the methods ${levels.join(", ")}`)
    : Effect.void
}

const levels = ["debug", "info", "warn", "error"] as const

const isProxy = (proxy: string): boolean =>
  typeof proxy === "string" && URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)

const checkLimits = Effect.fnUntraced(function*(settings: Settings<Form>) {
  const { onRateLimit, rateLimitStore: store } = settings
  yield* Client.checkFlag("waitOnRateLimit", settings.waitOnRateLimit)
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

/** Every setting, so that a misspelt one is not taken for none. */
const known: { readonly [K in keyof Settings<Form>]-?: true } = {
  accessLevel: true,
  accessToken: true,
  accessTokenSecret: true,
  allowInsecureHttp: true,
  baseUrl: true,
  bearerToken: true,
  ca: true,
  checks: true,
  consumerKey: true,
  consumerSecret: true,
  dispatcher: true,
  logger: true,
  maxBodySize: true,
  maxWait: true,
  onRateLimit: true,
  onRequest: true,
  proxy: true,
  rateLimitStore: true,
  recordContent: true,
  retries: true,
  returnType: true,
  timeout: true,
  userAgent: true,
  verify: true,
  waitOnRateLimit: true,
  wire: true
}

/** The setting that a misspelt one is near to, however its words are put together. */
const nearest = (setting: string): string | undefined => {
  const names = Object.keys(known)
  const spelled = names.map((name) => name.toLowerCase())
  const match = closestMatch(setting.toLowerCase().replaceAll("_", ""), spelled, { maxDistance: 2 })
  return match === undefined ? undefined : names[spelled.indexOf(match)]
}

/** Checks settings as a whole. What is no setting is refused, unless it is one of `others`. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>,
  others: ReadonlyArray<string> = []
): Effect.fn.Return<void, InvalidSettings> {
  const given: unknown = settings
  if (!Predicate.isObject(given)) {
    return yield* new InvalidSettings({ setting: "settings", rule: "must be an object" })
  }
  for (const setting of Object.keys(settings)) {
    if (Object.hasOwn(known, setting) || others.includes(setting)) continue
    const meant = nearest(setting)
    return yield* new InvalidSettings({
      setting,
      rule: meant === undefined ? "is not a setting" : `is not a setting (did you mean ${meant}?)`
    })
  }
  yield* checkForm(settings.returnType ?? "response")
  yield* Client.check({ ...settings, wire: yield* wireOf(settings) })
  yield* Credentials.check(settings)
  yield* checkLimits(settings)
  yield* checkTransport(settings)
})

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
