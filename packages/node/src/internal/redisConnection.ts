/** A connection to Redis that is made when it is needed, and given up when nothing comes back. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import type * as RedisClient from "@redis/client"
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Script } from "./redisScripts.ts"

/** So long a connection and a step may take; then the store counts as gone. A busy machine is slow too. */
const connectTimeoutMillis = 5_000
const stepTimeoutMillis = 2_000
/** A connection on which nothing has come for so long is dropped. */
const idleTimeoutMillis = 30_000

/** Redis did not do a step. What Effect's `RedisError` says, without the Schema that it is. */
export interface RedisFailed extends Pick<Redis.RedisError, "_tag" | "cause"> {}

class NotDone extends Data.TaggedError("RedisError")<{ readonly cause: unknown }> implements RedisFailed {}

/** Runs scripts. */
export interface Evaluator {
  readonly eval: <Params extends ReadonlyArray<unknown>, Result>(
    script: Script<Params, Result>
  ) => (...params: Params) => Effect.Effect<Result, RedisFailed>
  /** Connects, when there is no connection. */
  readonly connected: Effect.Effect<unknown, RedisFailed | Cause.TimeoutError>
  /** Nothing comes back any more. */
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
 * Where `@redis/client` is installed, if it is: beside this package or, once that is in a bundle, beside the program. Never in the
 * working directory, whose packages may be anybody's. Not imported by name, which bundlers would take into the program or fail
 * for want of it.
 */
const find = (): string | undefined => {
  const { createRequire } = modules()
  // In a bundle this module may not know its address.
  const here: string | undefined = import.meta.url
  for (const from of [here, process.argv[1]]) {
    try {
      if (from !== undefined) return createRequire(from).resolve("@redis/client")
    } catch {
      // There may be one from elsewhere.
    }
  }
  return undefined
}

/** Checks an address without showing it: it may hold a password. */
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

/** What a setting of this name leads to. */
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

/** What any `Redis` service of Effect does. */
export const ofService = (redis: Redis.Redis["Service"]): Evaluator => ({
  eval: <Params extends ReadonlyArray<unknown>, Result>({ lua, numberOfKeys, params }: Script<Params, Result>) =>
    redis.eval(Redis.script(params, { lua, numberOfKeys }).withReturnType<Result>()),
  connected: Effect.void,
  giveUp: Effect.void
})

/** One step, which may take so long; then nothing is expected of the connection any more. */
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

/** Why there is no answer, in words of Redis or of the system. */
export interface StepFailed {
  readonly reason: string
}

/**
 * Connects when there is something to send, and again when the connection is gone. Nothing goes on in the background, so
 * that a program ends without closing its client. `path` is where `@redis/client` is.
 */
const connection = (url: string, path: string) => {
  const connect = async (open: Open): Promise<Client> => {
    // As late as this, for it is some hundred files.
    const { createClient }: typeof RedisClient = modules().createRequire(path)(path)
    const client: Client = createClient({
      url,
      disableOfflineQueue: true,
      // A connection on which nothing comes back is dropped, like one that is idle.
      socket: { connectTimeout: connectTimeoutMillis, socketTimeout: idleTimeoutMillis, reconnectStrategy: false }
    })
    const lose = () => {
      if (open.client === client) drop(open)
    }
    client.on("error", lose).on("end", lose)
    if (open.isClosed) throw new Error("the store is closed")
    open.client = client
    await client.connect()
    // What waits for an answer has a timer, which keeps the program going.
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
