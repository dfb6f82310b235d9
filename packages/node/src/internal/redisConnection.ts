/** A connection to Redis, opened on demand and dropped when Redis does not respond. */
import { InvalidSettings, type StorageFault } from "@postwire/core/errors/Errors"
import { StorageUnavailable } from "@postwire/core/storage/Storage"
import type * as RedisClient from "@redis/client"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Script } from "./redisScripts.ts"

/** Time limits for connecting and for a step, generous because a busy machine is slow. Then the store counts as unavailable. */
const connectTimeoutMillis = 5_000
const stepTimeoutMillis = 2_000
/** A connection that receives nothing for this time is dropped. */
const idleTimeoutMillis = 30_000

/** Runs scripts with a time limit, and drops a connection that does not respond. */
export type Evaluate = <Params extends ReadonlyArray<unknown>, Result>(
  script: Script<Params, Result>
) => (...params: Params) => Effect.Effect<Result, StorageUnavailable>

/** Settings of a store with its own connection. */
export interface Options {
  /** `redis://[[user]:[password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string | Redacted.Redacted
}

/** A store on any `Redis` service of Effect. */
export const layer = <I, S>(
  tag: Context.Key<I, S>,
  make: (evaluate: Evaluate) => S
): Layer.Layer<I, never, Redis.Redis> =>
  Layer.effect(
    tag,
    Effect.map(Redis.Redis, (redis) =>
      make(<Params extends ReadonlyArray<unknown>, Result>({ lua, numberOfKeys, params }: Script<Params, Result>) => {
        const run = redis.eval(Redis.script(params, { lua, numberOfKeys }).withReturnType<Result>())
        return (...values: Params) =>
          limited(Effect.mapError(run(...values), ({ cause }) => failedBy(cause)))
      }))
  )

/** A store with its own connection, closed with the scope. */
export const layerUrl = <I, S>(
  tag: Context.Key<I, S>,
  { url }: Options,
  setting: string,
  make: (evaluate: Evaluate) => S
): Layer.Layer<I, InvalidSettings> => Layer.effect(tag, Effect.map(connectionOf(url, setting), make))

const limited = <A>(
  effect: Effect.Effect<A, StorageUnavailable>,
  millis = stepTimeoutMillis,
  giveUp = Effect.void
): Effect.Effect<A, StorageUnavailable> =>
  Effect.timeoutOrElse(effect, {
    duration: millis,
    orElse: () => Effect.andThen(giveUp, Effect.fail(new StorageUnavailable({ reason: "Redis takes too long" })))
  })

const failedBy = (cause: unknown): StorageUnavailable => {
  const reason = cause instanceof Error
    ? cause.message.replace(/\.? script: \w+, on @user_script.*$/s, "").slice(0, 200)
    : "Redis failed"
  // The code may be anywhere in the error of a script.
  return new StorageUnavailable({ reason, fault: faults.find(([code]) => reason.includes(code))?.[1] })
}

const faults: ReadonlyArray<readonly [code: string, fault: StorageFault]> = [
  ["OOM", "full"],
  ["READONLY", "forbidden"],
  ["NOAUTH", "forbidden"],
  ["WRONGPASS", "forbidden"],
  ["NOPERM", "forbidden"],
  ["WRONGTYPE", "damaged"]
]

type Client = ReturnType<typeof RedisClient.createClient>

// Not imported: programs that are bundled often have a `createRequire` of their own before everything.
const modules = () => process.getBuiltinModule("node:module")

/**
 * The path of `@redis/client`, if it is installed: beside this package or, once that is bundled, beside the program. Never in the
 * working directory, whose packages are not trusted. Not imported by name: bundlers would include it, or fail if it is missing.
 */
const find = (): string | undefined => {
  const { createRequire } = modules()
  // In a bundle, this module may have no URL.
  const here: string | undefined = import.meta.url
  for (const from of [here, process.argv[1]]) {
    try {
      if (from !== undefined) return createRequire(from).resolve("@redis/client")
    } catch {
      // It may be found from elsewhere.
    }
  }
  return undefined
}

/** Checks an address without showing it: it may contain a password. */
export const checkUrl = (
  given: string | Redacted.Redacted,
  setting: string
): Effect.Effect<string, InvalidSettings> => {
  const url = Redacted.isRedacted(given) ? Redacted.value(given) : given
  return URL.canParse(url) && isServer(new URL(url)) ? Effect.succeed(url) : Effect.fail(
    new InvalidSettings({ setting, rule: "must be an address such as redis://host:6379/0, or rediss:// for TLS" })
  )
}

const isServer = ({ hostname, pathname, protocol }: URL): boolean =>
  /^rediss?:$/.test(protocol) && /\w|:/.test(hostname) && /^\/?\d*$/.test(pathname)

/** The connection of a setting. */
export const connectionOf = (
  given: string | Redacted.Redacted,
  setting: string
): Effect.Effect<Evaluate, InvalidSettings, Scope.Scope> =>
  Effect.flatMap(checkUrl(given, setting), (url) => {
    const path = find()
    return path === undefined
      ? Effect.fail(
        new InvalidSettings({
          setting,
          rule: "in Redis needs the package @redis/client, which is not installed: npm install @redis/client"
        })
      )
      : Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => new Connection(url, path)),
          (connection) => Effect.sync(() => connection.close())
        ),
        ({ evaluate }) => evaluate
      )
  })

/**
 * Connects when there is something to send, and again after the connection was lost. Nothing runs in the background, so that a
 * program ends without closing its client.
 */
class Connection {
  readonly #url: string
  /** The path of `@redis/client`. */
  readonly #path: string
  #client: Client | undefined
  #connecting: Promise<Client> | undefined
  #isReady = false
  #isClosed = false

  constructor(url: string, path: string) {
    this.#url = url
    this.#path = path
  }

  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  readonly evaluate: Evaluate = <Params extends ReadonlyArray<unknown>, Result>(
    { lua, numberOfKeys, params }: Script<Params, Result>
  ) => {
    const sha = process.getBuiltinModule("node:crypto").createHash("sha1").update(lua).digest("hex")
    const giveUp = Effect.sync(() => this.#drop())
    const connected = Effect.suspend(() =>
      this.#isReady ? Effect.void : limited(promised(() => this.#connected()), connectTimeoutMillis, giveUp)
    )
    return (...values: Params) => {
      const run = promised(() => {
        const keys = typeof numberOfKeys === "number" ? numberOfKeys : numberOfKeys(...values)
        return this.#send<Result>(lua, sha, [String(keys), ...params(...values).map(String)])
      })
      return Effect.andThen(connected, limited(run, stepTimeoutMillis, giveUp))
    }
  }

  async #send<A>(lua: string, sha: string, rest: ReadonlyArray<string>): Promise<A> {
    const client = await this.#connected()
    try {
      return await client.sendCommand<A>(["EVALSHA", sha, ...rest])
    } catch (cause) {
      if (cause instanceof Error && cause.message.startsWith("NOSCRIPT")) {
        return await client.sendCommand<A>(["EVAL", lua, ...rest])
      }
      throw cause
    }
  }

  #connected(): Promise<Client> {
    if (this.#connecting !== undefined) return this.#connecting
    const connecting = this.#connect().then(
      (client) => {
        this.#isReady = this.#connecting === connecting
        return client
      },
      (cause) => {
        if (this.#connecting === connecting) this.#drop()
        throw cause
      }
    )
    this.#connecting = connecting
    return connecting
  }

  async #connect(): Promise<Client> {
    // Loaded late: it is some hundred files.
    const { createClient }: typeof RedisClient = modules().createRequire(this.#path)(this.#path)
    const client: Client = createClient({
      url: this.#url,
      disableOfflineQueue: true,
      // An unresponsive connection is dropped, like an idle one.
      socket: { connectTimeout: connectTimeoutMillis, socketTimeout: idleTimeoutMillis, reconnectStrategy: false }
    })
    const lose = () => {
      if (this.#client === client) this.#drop()
    }
    client.on("error", lose).on("end", lose)
    if (this.#isClosed) throw new Error("the store is closed")
    this.#client = client
    await client.connect()
    // A pending step has a timer, which keeps the program running.
    client.unref()
    return client
  }

  #drop(): void {
    const client = this.#client
    this.#client = undefined
    this.#connecting = undefined
    this.#isReady = false
    if (client?.isOpen === true) client.destroy()
  }
}

const promised = <A>(run: () => Promise<A>): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({ try: run, catch: failedBy })
