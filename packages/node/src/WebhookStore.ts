/**
 * Storages of the events that a webhook has acknowledged, for the `store` of `@postwire/core/events/Webhook`.
 *
 * @stability experimental
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import type { Storage } from "@postwire/core/storage/Storage"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as RedisConnection from "./internal/redisConnection.ts"
import * as RedisStorage from "./internal/redisStorage.ts"
import * as SqliteStorage from "./internal/sqliteStorage.ts"

/**
 * Opens an SQLite file, which processes of one machine share, until the scope ends. Fails when it cannot be opened. A machine that
 * loses its power may lose the last events, but not the file.
 */
export const sqlite = (options: { readonly path: string }): Effect.Effect<Storage, InvalidSettings, Scope.Scope> =>
  SqliteStorage.make({ path: options.path, synchronous: "NORMAL", setting: "store" })

/**
 * Opens a connection to Redis, which several machines share, until the scope ends. Fails when the address is invalid or the package
 * `@redis/client` is not installed, but not when the server does not respond.
 */
export const redis = (options: RedisConnection.Options): Effect.Effect<Storage, InvalidSettings, Scope.Scope> =>
  Effect.map(RedisConnection.connectionOf(options.url, "store"), RedisStorage.make)
