/** The client on Node: its settings, from values or from the environment, and its Layers. */
import "@postwire/core/runtime/SupportedNode"
import * as Credentials from "@postwire/core/auth/Credentials"
import type { Client } from "@postwire/core/client/Client"
import { environmentVariable, InvalidSettings, StorageFailure } from "@postwire/core/errors/Errors"
import * as AccountSettings from "@postwire/core/promise/AccountSettings"
import type * as Composites from "@postwire/core/promise/Composites"
import * as OwnJournal from "@postwire/core/promise/Journal"
import * as Shared from "@postwire/core/promise/Settings"
import * as OwnTokenStore from "@postwire/core/promise/TokenStore"
import type { InputOf } from "@postwire/core/promise/Workflows"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import type { Form } from "@postwire/core/schema/Definition"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Journal from "@postwire/core/storage/Journal"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import { Spill } from "@postwire/core/streams/Spill"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type { Dispatcher } from "undici"
import * as FileJournal from "./FileJournal.ts"
import * as FileSource from "./FileSource.ts"
import * as FileSpill from "./FileSpill.ts"
import * as FileTokenStore from "./FileTokenStore.ts"
import { checkStore, isAddress, isFolder } from "./internal/places.ts"
import * as RedisConnection from "./internal/redisConnection.ts"
import * as NodeCrypto from "./NodeCrypto.ts"
import * as RedisRateLimitStore from "./RedisRateLimitStore.ts"
import * as RedisSpendStore from "./RedisSpendStore.ts"
import * as RedisStreamLog from "./RedisStreamLog.ts"
import * as RedisTokenStore from "./RedisTokenStore.ts"
import * as SqliteRateLimitStore from "./SqliteRateLimitStore.ts"
import * as SqliteSpendStore from "./SqliteSpendStore.ts"
import * as UndiciHttpClient from "./UndiciHttpClient.ts"

export { type Logger, wireOf } from "@postwire/core/promise/Settings"

/** Every setting of a client. */
export interface Settings<F extends Form = "response"> extends Shared.Settings<F>, AccountSettings.AccountSettings {
  /**
   * The store through which `waitOnRateLimit` shares rate limits: the path of an SQLite file, for processes of one machine, or a
   * `redis://` or `rediss://` address, which needs the package `@redis/client`. A path names its folder (`./limits`) or ends in
   * `.db` or `.sqlite`. Default: this client's memory.
   */
  readonly rateLimitStore?: string | undefined
  /**
   * The store of spending, shared by all clients that name it: the path of an SQLite file, for processes of one machine, or a
   * `redis://` or `rediss://` address, which needs the package `@redis/client`. A path names its folder (`./spend`) or ends in
   * `.db` or `.sqlite`. Default: this client's memory.
   */
  readonly spendStore?: string | undefined
  /**
   * The log through which processes share a stream (`client.streamPosts.shared`): a `redis://` or `rediss://` address, which needs
   * the package `@redis/client`, or `memory` for this client only. A client on the Layer of `@postwire/cluster/PostgresStreamLog`
   * shares it through PostgreSQL. Default: none.
   */
  readonly streamLog?: string | undefined
  /**
   * The store of the `account`: a folder by its path (`./accounts`), a `redis://` or `rediss://` address, which needs the package
   * `@redis/client`, or your own store. Default: the folder of `postwire login`, `~/.config/postwire/accounts`.
   */
  readonly tokenStore?: string | OwnTokenStore.TokenStore | undefined
  /**
   * The journal of uploads with `resume` and threads: a folder, or your own journal. Default: the user's folder for state,
   * `~/.local/state/postwire`.
   */
  readonly journal?: string | OwnJournal.Journal | undefined
  /**
   * The address of a proxy for all requests, or `environment` to use `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
   * Default: none.
   */
  readonly proxy?: string | undefined
  /** Certificates (PEM) of authorities that are trusted instead of Node's own. */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** The sender of requests: the session of another client, or an Undici dispatcher. It is not closed with the client. */
  readonly dispatcher?: Pick<Dispatcher, "dispatch"> | undefined
}

/** An upload's input: a file by its path or its `file:` URL, bytes, a Blob, or a stream with its size. */
export type Input = string | URL | Composites.Input

/** Converts an upload's input to one of core. */
export const inputOf: InputOf<Input> = (input) =>
  typeof input === "string" || input instanceof URL ? FileSource.file(input) : input

/** The services of operations, uploads, threads and streams, from settings. */
export const layer = (settings: Settings<Form>): Layer.Layer<Client | Journal.Journal, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(check(settings), () =>
      Layer.mergeAll(
        layerSpill(),
        layerStreamLog(settings),
        Layer.provide(
          Shared.layer(settings, {
            http: layerTransport(settings),
            store: layerStore(settings),
            spendStore: settings.spendStore === undefined ? undefined : layerSpendStore(settings),
            journal: layerJournal(settings),
            credentials: (service) => AccountSettings.layer(settings, service, layerTokenStore(settings)),
            warn: (warning) => process.emitWarning(warning, "PostwireWarning")
          }),
          NodeCrypto.layer
        )
      ))
  )

// Few programs need it: it is made on demand.
const layerSpill = () => Layer.succeed(Spill, { open: Effect.suspend(() => FileSpill.make().open) })

const layerTransport = (settings: Settings<Form>) =>
  UndiciHttpClient.layer(
    settings.dispatcher === undefined ? agentOptionsOf(settings) : { dispatcher: settings.dispatcher }
  )

/** The HTTP client of settings. Fails if one of them is invalid. */
export const layerHttp = (
  settings: Pick<Settings, "ca" | "dispatcher" | "proxy">
): Layer.Layer<HttpClient, InvalidSettings> =>
  Layer.unwrap(Effect.map(checkTransport(settings), () => layerTransport(settings)))

/** The connections of settings. A given dispatcher limits the time for connecting itself. */
export const agentOptionsOf = ({ ca, proxy, timeout }: Settings<Form>): UndiciHttpClient.AgentOptions => ({
  connectTimeout: typeof timeout === "object" ? timeout.connect : undefined,
  proxy,
  ca
})

/** The rate limit store of settings. Fails if it cannot be used on this machine. */
export const layerStore = (
  { rateLimitStore: store }: Pick<Settings, "rateLimitStore">
): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  store === undefined
    ? RateLimitStore.layerMemory
    : isAddress(store)
    ? RedisRateLimitStore.layerUrl({ url: store })
    : SqliteRateLimitStore.layer({ path: store })

/** The spend store of settings. Fails if it cannot be used on this machine. */
export const layerSpendStore = (
  { spendStore: store }: Pick<Settings, "spendStore">
): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  store === undefined
    ? SpendStore.layerMemory
    : isAddress(store)
    ? RedisSpendStore.layerUrl({ url: store })
    : SqliteSpendStore.layer({ path: store })

/** The stream log of settings, if they have one. */
export const layerStreamLog = (
  { streamLog: log }: Pick<Settings, "streamLog">
): Layer.Layer<never, InvalidSettings> =>
  log === undefined
    ? Layer.empty
    : log === "memory"
    ? StreamLog.layerMemory
    : RedisStreamLog.layerUrl({ url: log })

/**
 * The token store of settings: a folder, a `redis://` or `rediss://` address, the program's own store, or by default the user's
 * folder. Fails if it cannot be used on this machine.
 */
export const layerTokenStore = (
  { tokenStore: place }: Pick<Settings, "tokenStore">
): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(checkTokenStore(place), () =>
      OwnTokenStore.isTokenStore(place)
        ? Layer.sync(TokenStore.TokenStore, () => OwnTokenStore.toEffect(place))
        : place !== undefined && isAddress(place)
        ? RedisTokenStore.layerUrl({ url: place })
        : FileTokenStore.layer({ folder: place }))
  )

/** Checks the location of accounts without showing it: it may contain a password. */
export const checkTokenStore = (place: Settings["tokenStore"]): Effect.Effect<void, InvalidSettings> => {
  const invalid = (rule: string) => Effect.fail(new InvalidSettings({ setting: "tokenStore", rule }))
  if (place === undefined || OwnTokenStore.isTokenStore(place)) return Effect.void
  if (typeof place !== "string" || place === "") {
    return invalid("must be the path of a folder, an address, or an object with the methods read, write and lock")
  }
  if (isAddress(place)) return Effect.asVoid(RedisConnection.checkUrl(place, "tokenStore"))
  if (place.startsWith("~")) return invalid("begins with ~, which only a shell replaces: write the whole path")
  return isFolder(place)
    ? Effect.void
    : invalid("may be a folder or a host: an address begins with redis://, a path has a slash (./accounts)")
}

/** The journal of settings. Problems with a folder fail the operations that use it. */
export const layerJournal = (
  { journal: place }: Pick<Settings, "journal">
): Layer.Layer<Journal.Journal, InvalidSettings> =>
  Layer.unwrap(
    Effect.map(checkJournal(place), () =>
      OwnJournal.isJournal(place)
        ? Layer.sync(Journal.Journal, () => OwnJournal.toEffect(place))
        : place === undefined
        ? Layer.sync(Journal.Journal, ownJournal)
        : FileJournal.layer({ folder: place }))
  )

/**
 * The journal of this user. Its folder is resolved on demand: most clients do not need it, and a user without a home can have a
 * client.
 */
const ownJournal = (): Journal.Entries => {
  let found: Journal.Entries | undefined
  const own = (action: StorageFailure["action"]) =>
    Effect.suspend(() =>
      found !== undefined ? Effect.succeed(found) : Effect.mapBoth(FileJournal.ownFolder, {
        onSuccess: (folder) => found ??= FileJournal.make(folder),
        onFailure: ({ rule, setting: place }) =>
          new StorageFailure({ kind: "journal", place, action, fault: "unavailable", detail: `it ${rule}` })
      })
    )
  return {
    read: (key) => Effect.flatMap(own("read"), ({ read }) => read(key)),
    write: (key, text) => Effect.flatMap(own("write"), ({ write }) => write(key, text)),
    lock: (key) => Effect.flatMap(own("lock"), ({ lock }) => lock(key)),
    describe: (key) => found === undefined ? `journal (key ${key})` : found.describe(key)
  }
}

const checkJournal = (place: Settings["journal"]): Effect.Effect<void, InvalidSettings> => {
  const invalid = (rule: string) => Effect.fail(new InvalidSettings({ setting: "journal", rule }))
  if (place === undefined || OwnJournal.isJournal(place)) return Effect.void
  if (typeof place !== "string" || place === "") {
    return invalid("must be the path of a folder, or an object with the methods read, write and lock")
  }
  return place.startsWith("~")
    ? invalid("begins with ~, which only a shell replaces: write the whole path")
    : Effect.void
}

const checkTransport = ({ ca, dispatcher, proxy }: Settings<Form>): Effect.Effect<void, InvalidSettings> => {
  const invalid = (setting: string, rule: string) => Effect.fail(new InvalidSettings({ setting, rule }))
  if (proxy !== undefined && proxy !== "environment" && !isProxy(proxy)) {
    // The value is not shown: it may contain a password.
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
  return Effect.void
}

const isProxy = (proxy: string): boolean =>
  typeof proxy === "string" && URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)

/** The settings that exist only on Node. */
const own = Object.keys(
  {
    ca: true,
    dispatcher: true,
    journal: true,
    proxy: true,
    rateLimitStore: true,
    spendStore: true,
    streamLog: true,
    tokenStore: true
  } satisfies {
    readonly [K in Exclude<keyof Settings<Form>, keyof (Shared.Settings<Form> & AccountSettings.AccountSettings)>]-?:
      true
  }
)

/** Checks all settings. Unknown settings are refused, unless they are among `others`. */
export const check = Effect.fnUntraced(function*(
  settings: Settings<Form>,
  others: ReadonlyArray<string> = []
): Effect.fn.Return<void, InvalidSettings> {
  yield* Effect.mapError(
    Shared.check(settings, [...AccountSettings.names, ...own, ...others]),
    withoutService(settings)
  )
  yield* AccountSettings.check(settings)
  yield* checkStore("rateLimitStore", settings.rateLimitStore, "./limits")
  yield* checkStore("spendStore", settings.spendStore, "./spend")
  if (settings.streamLog !== undefined && settings.streamLog !== "memory") {
    yield* RedisConnection.checkUrl(settings.streamLog, "streamLog")
  }
  yield* checkTokenStore(settings.tokenStore)
  yield* checkJournal(settings.journal)
  yield* checkTransport(settings)
})

/** The reason why an account does not name its service. */
const withoutService = (settings: Settings<Form>) => (error: InvalidSettings): InvalidSettings =>
  error.setting !== "baseUrl" || typeof settings.account !== "string" || settings.baseUrl
    ? error
    : new InvalidSettings({
      setting: "account",
      rule: "is in no folder that names its service",
      advice: `Sign in with postwire login ${settings.account}, or pass baseUrl.`
    })

/** The settings of which one excludes all others of the environment. */
const credentials: ReadonlyArray<string> = [...Credentials.names, "account", "oauth2"]

/**
 * Completes settings from the environment, and from the account that they name: its service, if the account is in a folder.
 * Settings that are given take precedence. Credentials are not mixed: if one is given, even as `undefined`, none is read from the
 * environment.
 */
export const complete = <S extends object>(given: S): S & Pick<Settings, "baseUrl" | "wire"> => {
  if (!Predicate.isObject(given)) return given
  const excluded = [
    ...Object.keys(given).some((name) => credentials.includes(name)) ? credentials : [],
    ..."clientId" in given ? ["clientSecret"] : []
  ]
  const gaps = Object.entries(fromEnvironment()).filter(([name]) =>
    !excluded.includes(name) && (!(name in given) || given[name] === undefined)
  )
  const settings: S & Pick<Settings, "account" | "baseUrl" | "tokenStore" | "wire"> = gaps.length === 0
    ? given
    : { ...given, ...Object.fromEntries(gaps) }
  const { account, tokenStore } = settings
  const isKept = tokenStore === undefined || (typeof tokenStore === "string" && isFolder(tokenStore))
  if (typeof account !== "string" || !isKept || settings.baseUrl !== undefined) return settings
  const baseUrl = FileTokenStore.serviceOf(account, tokenStore)
  if (baseUrl === undefined) return settings
  const wire = settings.wire ?? Wire.names.find((name) => Wire.named[name].baseUrl === baseUrl)
  return { ...settings, baseUrl, wire }
}

/**
 * The settings of the environment, each in the variable of its name, such as `POSTWIRE_BEARER_TOKEN`. `POSTWIRE_REDIS_URL` is the
 * address of a `rateLimitStore`, with or without `redis://`. If `POSTWIRE_ACCOUNT` names an account, other credentials are ignored.
 */
export const fromEnvironment = (
  environment: Readonly<Record<string, string | undefined>> = process.env
): Omit<Settings, "journal" | "oauth2" | "returnType" | "tokenStore"> & {
  readonly journal?: string | undefined
  readonly tokenStore?: string | undefined
} => {
  const redis = environment["POSTWIRE_REDIS_URL"]
  const valuesOf = (names: ReadonlyArray<string>) =>
    names.map((name) => [name, environment[environmentVariable(name)]] as const)
  return Object.fromEntries(
    [
      ...valuesOf([
        "baseUrl",
        "wire",
        "clientId",
        "clientSecret",
        "tokenStore",
        "spendStore",
        "streamLog",
        "journal",
        "account"
      ]),
      ...(environment["POSTWIRE_ACCOUNT"] ? [] : valuesOf(Credentials.names)),
      // Never a path: the variable is an address.
      ["rateLimitStore", redis === undefined || redis === "" || isAddress(redis) ? redis : `redis://${redis}`] as const
    ].filter(([, value]) => value !== undefined && value !== "")
  )
}
