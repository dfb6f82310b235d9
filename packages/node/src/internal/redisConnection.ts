/** A connection to Redis, opened on demand and dropped when Redis does not respond. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import type * as RedisClient from "@redis/client"
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Script } from "./redisScripts.ts"

/** Time limits for connecting and for a step, generous because a busy machine is slow. Then the store counts as unavailable. */
const connectTimeoutMillis = 5_000
const stepTimeoutMillis = 2_000
/** A connection that receives nothing for this time is dropped. */
const idleTimeoutMillis = 30_000

/** A step failed. Has the fields of Effect's `RedisError`, without its schema. */
export interface RedisFailed extends Pick<Redis.RedisError, "_tag" | "cause"> {}

class NotDone extends Data.TaggedError("RedisError")<{ readonly cause: unknown }> implements RedisFailed {}

/** Runs scripts. */
export interface Evaluator {
  readonly eval: <Params extends ReadonlyArray<unknown>, Result>(
    script: Script<Params, Result>
  ) => (...params: Params) => Effect.Effect<Result, RedisFailed>
  /** Connects if there is no connection. */
  readonly connected: Effect.Effect<unknown, RedisFailed | Cause.TimeoutError>
  /** Drops a connection that no longer responds. */
  readonly giveUp: Effect.Effect<void>
}

type Client = ReturnType<typeof RedisClient.createClient>

interface Open {
  client: Client | undefined
  connecting: Promise<Client> | undefined
  isReady: boolean
  isClosed: boolean
}

const drop = (open: Open): void => {
  const { client } = open
  open.client = undefined
  open.connecting = undefined
  open.isReady = false
  if (client?.isOpen === true) client.destroy()
}

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
): Effect.Effect<Evaluator, InvalidSettings, Scope.Scope> =>
  Effect.flatMap(checkUrl(given, setting), (url) => {
    const path = find()
    return path === undefined
      ? Effect.fail(
        new InvalidSettings({
          setting,
          rule: "in Redis needs the package @redis/client, which is not installed: npm install @redis/client"
        })
      )
      : connection(url, path)
  })

/** The scripts of any `Redis` service of Effect. */
export const ofService = (redis: Redis.Redis["Service"]): Evaluator => ({
  eval: <Params extends ReadonlyArray<unknown>, Result>({ lua, numberOfKeys, params }: Script<Params, Result>) =>
    redis.eval(Redis.script(params, { lua, numberOfKeys }).withReturnType<Result>()),
  connected: Effect.void,
  giveUp: Effect.void
})

/** Runs a step with a time limit, after which the connection is dropped. */
export const step = <A>(redis: Evaluator, effect: Effect.Effect<A, RedisFailed>): Effect.Effect<A, StepFailed> =>
  Effect.andThen(redis.connected, Effect.timeout(effect, stepTimeoutMillis)).pipe(
    Effect.tapError((error) => error._tag === "TimeoutError" ? redis.giveUp : Effect.void),
    Effect.mapError((error) => ({
      reason: error._tag === "TimeoutError"
        ? "Redis takes too long"
        : error.cause instanceof Error
        ? error.cause.message.replace(/\.? script: \w+, on @user_script.*$/s, "").slice(0, 200)
        : "Redis failed"
    }))
  )

/** The failure of a step, in the words of Redis or of the system. */
export interface StepFailed {
  readonly reason: string
}

/**
 * Connects when there is something to send, and again after the connection was lost. Nothing runs in the background, so that a
 * program ends without closing its client. `path` is the path of `@redis/client`.
 */
const connection = (url: string, path: string) => {
  const connect = async (open: Open): Promise<Client> => {
    // Loaded late: it is some hundred files.
    const { createClient }: typeof RedisClient = modules().createRequire(path)(path)
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      // An unresponsive connection is dropped, like an idle one.
      socket: { connectTimeout: connectTimeoutMillis, socketTimeout: idleTimeoutMillis, reconnectStrategy: false }
    })
    const lose = () => {
      if (open.client === client) drop(open)
    }
    client.on("error", lose).on("end", lose)
    if (open.isClosed) throw new Error("the store is closed")
    open.client = client
    await client.connect()
    // A pending step has a timer, which keeps the program running.
    client.unref()
    return client
  }
  return Effect.map(
    Effect.acquireRelease(
      Effect.sync((): Open => ({ client: undefined, connecting: undefined, isReady: false, isClosed: false })),
      (open) =>
        Effect.sync(() => {
          open.isClosed = true
          drop(open)
        })
    ),
    (open): Evaluator => {
      const connected = (): Promise<Client> => {
        if (open.connecting !== undefined) return open.connecting
        const connecting = connect(open).then(
          (client) => {
            open.isReady = open.connecting === connecting
            return client
          },
          (cause) => {
            if (open.connecting === connecting) drop(open)
            throw cause
          }
        )
        open.connecting = connecting
        return connecting
      }
      const evaluate = async <A>(lua: string, sha: string, rest: ReadonlyArray<string>): Promise<A> => {
        const client = await connected()
        try {
          return await client.sendCommand<A>(["EVALSHA", sha, ...rest])
        } catch (cause) {
          if (cause instanceof Error && cause.message.startsWith("NOSCRIPT")) {
            return await client.sendCommand<A>(["EVAL", lua, ...rest])
          }
          throw cause
        }
      }
      const catching = (cause: unknown) => new NotDone({ cause })
      return {
        giveUp: Effect.sync(() => drop(open)),
        connected: Effect.suspend(() =>
          open.isReady
            ? Effect.void
            : Effect.timeout(Effect.tryPromise({ try: connected, catch: catching }), connectTimeoutMillis)
        ),
        eval: <Params extends ReadonlyArray<unknown>, Result>(
          { lua, numberOfKeys, params }: Script<Params, Result>
        ) => {
          const sha = process.getBuiltinModule("node:crypto").createHash("sha1").update(lua).digest("hex")
          return (...values: Params): Effect.Effect<Result, RedisFailed> =>
            Effect.tryPromise({
              try: () => {
                const keys = typeof numberOfKeys === "number" ? numberOfKeys : numberOfKeys(...values)
                return evaluate<Result>(lua, sha, [String(keys), ...params(...values).map(String)])
              },
              catch: catching
            })
        }
      }
    }
  )
}
